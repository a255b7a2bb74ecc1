import { hostname } from 'node:os';
import { problemsOf } from './report.ts';
import type { PolicyTestResult } from './run-policy-tests.ts';

/**
 * Returns a report in JUnit's XML, with a suite for each document of tests. It has what both schemas in use permit: junit-10.xsd of Jenkins
 * (which knows neither `file` nor `line` of a test) and JUnit.xsd of Windy Road (which requires the rest). `began` is the begin of the
 * tests.
 */
export function junitReport(results: readonly PolicyTestResult[], began: Date): string {
  const timestamp = began.toISOString().slice(0, 19);
  const suites = Map.groupBy(results, ({ file }) => file);
  const lines = [...suites].flatMap(([{ name, file }, own], id) => [
    `  <testsuite id="${id}" package="${escaped(file)}" name="${escaped(name)}" timestamp="${timestamp}" hostname="${escaped(hostname() || 'localhost')}" ${totals(own)}>`,
    '    <properties>',
    `      <property name="file" value="${escaped(file)}"/>`,
    '    </properties>',
    ...own.flatMap((result) => testCase(result, name)),
    '    <system-out/>',
    '    <system-err/>',
    '  </testsuite>',
  ]);
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...lines, '</testsuites>', ''].join('\n');
}

function testCase(result: PolicyTestResult, suite: string): string[] {
  const { file, test, milliseconds, error } = result;
  const start = `    <testcase name="${escaped(test.name)}" classname="${escaped(suite)}" time="${seconds(milliseconds)}"`;
  const problems = problemsOf(result);
  if (problems.length === 0) return [`${start}/>`];
  const [element, type] = error === undefined ? ['failure', 'difference'] : ['error', 'not played'];
  const text = [`${file.file}:${test.line}`, ...problems].join('\n');
  return [
    `${start}>`,
    `      <${element} type="${type}" message="${escaped(problems[0] ?? '')}">${escaped(text)}</${element}>`,
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
