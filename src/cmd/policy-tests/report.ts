import { traceText } from '#apiserver/tracing/trace-text';
import type { PolicyTestResult } from './run-policy-tests.ts';

/** True if the outcome of a test is as expected. */
export function hasPassed({ differences, error }: PolicyTestResult): boolean {
  return differences.length === 0 && error === undefined;
}

/** Returns the lines of a result: one for a passed test, and what differs for others. `hasTrace`: with the trace of a failed test. */
export function resultLines(result: PolicyTestResult, hasTrace: boolean): string[] {
  const { file, test, milliseconds, trace } = result;
  if (hasPassed(result)) return [`  ✓ ${test.name} (${milliseconds} ms)`];
  const details = [...problemsOf(result), ...(hasTrace && trace ? traceText(trace).split('\n') : [])];
  return [`  ✗ ${test.name} (${file.file}:${test.line})`, ...details.map((line) => `      ${line}`)];
}

/** Returns what differs, or why the request could not be played. */
export function problemsOf({ differences, error }: PolicyTestResult): readonly string[] {
  return error === undefined ? differences : [`not played: ${error}`];
}

/** Returns the last line: `5 tests: 4 passed, 1 failed (0.9 s)`. */
export function summaryLine(results: readonly PolicyTestResult[]): string {
  const passed = results.filter(hasPassed).length;
  const seconds = (results.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1_000).toFixed(1);
  const failed = results.length - passed;
  return `${results.length} ${results.length === 1 ? 'test' : 'tests'}: ${passed} passed, ${failed} failed (${seconds} s)`;
}
