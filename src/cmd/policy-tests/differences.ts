import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '#apimachinery/patch/create-patch';
import { mismatches } from '#apimachinery/runtime/partial-match';
import type { TraceStep } from '#apiserver/request/request-trace';
import type { PlayedOutcome } from '#cmd/explain/play-request';
import type { ExpectedOutcome, TextPattern } from './policy-test.ts';

/** Returns lines on what differs from the expected outcome; empty if nothing does. */
export function differencesOf(expected: ExpectedOutcome, { verdict, refusedBy, result, trace }: PlayedOutcome): string[] {
  const lines: string[] = [];
  const { status, message, warnings, steps } = trace;
  if (expected.verdict !== verdict)
    lines.push(`verdict: expected ${expected.verdict}, got ${verdict}${message === '' ? '' : ` (${status}: ${message})`}`);
  if (expected.by !== undefined && !refusedBy.includes(expected.by))
    lines.push(`by: expected ${expected.by}, got ${refusedBy.length > 0 ? refusedBy.join(', ') : 'nothing'}`);
  if (expected.code !== undefined && expected.code !== status) lines.push(`code: expected ${expected.code}, got ${status}`);
  if (expected.message && !expected.message.matches(message))
    lines.push(`message: expected ${expected.message.source}, got ${JSON.stringify(message)}`);
  if (expected.warnings) lines.push(...warningDifferences(expected.warnings, warnings));
  if (expected.object && verdict === 'admitted') lines.push(...mismatches(expected.object, result).map((line) => `object: ${line}`));
  for (const [plugin, patch] of expected.patch ?? []) lines.push(...patchDifferences(plugin, patch, steps));
  return lines;
}

/** True for the addition of an empty object. Conversions add `status: {}` and the like, so it counts only if it is expected. */
function isEmpty({ op, value }: JsonPatchOperation): boolean {
  return op === 'add' && isDeepStrictEqual(value, {});
}

function isIn(patch: readonly JsonPatchOperation[], operation: JsonPatchOperation): boolean {
  return patch.some((one) => isDeepStrictEqual(one, operation));
}

function warningDifferences(expected: readonly TextPattern[], warnings: readonly string[]): string[] {
  const left = [...warnings];
  const missing = expected.filter((pattern) => {
    const at = left.findIndex((warning) => pattern.matches(warning));
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [
    ...missing.map(({ source }) => `warnings: expected ${source}, got ${warnings.length > 0 ? 'other ones' : 'none'}`),
    ...left.map((warning) => `warnings: got ${JSON.stringify(warning)}, which is not expected`),
  ];
}

function patchDifferences(plugin: string, expected: readonly JsonPatchOperation[], steps: readonly TraceStep[]): string[] {
  const calls = steps.filter(({ stage, name }) => stage === 'admit' && name === plugin);
  if (calls.length === 0) return [`patch: ${plugin} is not called`];
  const actual = calls.flatMap(({ patch = [] }) => patch).filter((operation) => !isEmpty(operation) || isIn(expected, operation));
  if (isDeepStrictEqual(actual, expected)) return [];
  const lines = (patch: readonly JsonPatchOperation[], sign: string): string[] =>
    patch.map((operation) => `  ${sign} ${JSON.stringify(operation)}`);
  return [`patch of ${plugin} (- expected, + made):`, ...lines(expected, '-'), ...lines(actual, '+')];
}
