import { problemsOf } from './report.ts';
import type { PolicyTestResult } from './run-policy-tests.ts';

/** Returns a report in JUnit's XML, with a suite for each document of tests. */
export function junitReport(results: readonly PolicyTestResult[]): string {
  const suites = Map.groupBy(results, ({ file }) => file);
  const lines = [...suites].flatMap(([{ name, file }, own]) => [
    `  <testsuite name="${escaped(name)}" file="${escaped(file)}" ${totals(own)}>`,
    ...own.flatMap((result) => testCase(result, name)),
    '  </testsuite>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="kubenest test" ${totals(results)}>`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(result: PolicyTestResult, suite: string): string[] {
  const { file, test, milliseconds, error } = result;
  const start = `    <testcase name="${escaped(test.name)}" classname="${escaped(suite)}" file="${escaped(file.file)}" line="${test.line}" time="${seconds(milliseconds)}"`;
  const problems = problemsOf(result);
  if (problems.length === 0) return [`${start}/>`];
  const element = error === undefined ? 'failure' : 'error';
  return [
    `${start}>`,
    `      <${element} message="${escaped(problems[0] ?? '')}">${escaped(problems.join('\n'))}</${element}>`,
    '    </testcase>',
  ];
}

function totals(results: readonly PolicyTestResult[]): string {
  const errors = results.filter(({ error }) => error !== undefined).length;
  const failures = results.filter(({ differences }) => differences.length > 0).length;
  const time = seconds(results.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  return `tests="${results.length}" failures="${failures}" errors="${errors}" time="${time}"`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(3);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };

/** Escapes text for XML, and replaces characters that XML does not have. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/(?![\n\t])[\p{Cc}\uFFFE\uFFFF]/gu, '\uFFFD')
    .replaceAll(/[&<>"\n]/g, (character) => entities[character] as string);
}
