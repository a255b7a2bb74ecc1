import assert from 'node:assert/strict';
import { mismatches } from '#apimachinery/runtime/partial-match';

/** Throws an AssertionError that lists where an object lacks the expected members (see `mismatches`). */
export function assertMatches(expected: object, actual: unknown, subject = 'the object'): void {
  const found = mismatches(expected, asJson(actual));
  if (found.length === 0) return;
  const message = `${subject} does not match:\n${found.map((line) => `  ${line}`).join('\n')}`;
  assert.fail(new assert.AssertionError({ message, actual: asJson(actual), expected, operator: 'matches' }));
}

/** Throws an AssertionError whose message names what differs. */
export function assertEqual(what: string, actual: object, expected: object): void {
  const [got, wanted] = [actual, expected].map((value) => JSON.stringify(value));
  assert.deepEqual(actual, expected, `${what}: expected ${wanted}, got ${got}`);
}

/** Returns the value without prototypes and undefined members, for comparison. */
export function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
