import { expect, test } from 'vitest';
import { newExpressionsEnvironment } from './base-environment.ts';
import { dynType } from './check/types.ts';
import { perCallLimit } from './cost/limits.ts';
import { activationOf } from './environment.ts';
import { fromJson } from './json-values.ts';
import { CelError } from './runtime/values.ts';
import { Issues } from './syntax/source.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const environment = newExpressionsEnvironment.extend({ variables: { object: dynType } });
const object = fromJson({
  long: 'a'.repeat(100_000),
  list: Array.from({ length: 10_000 }, (_, i) => i),
  deep: Array.from({ length: 5_000 }).reduce<object>((inner) => ({ inner }), {}),
  ['__proto__']: { polluted: true },
});
const ten = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]';
const nested = (depth: number): string =>
  Array.from({ length: depth }).reduce<string>((inner, _, i) => `${ten}.all(v${i}, ${inner})`, 'true');
const doubled = (times: number): string =>
  Array.from({ length: times }).reduce<string>((inner) => `[${inner}].map(s, s + s)[0]`, 'object.long');

/** Returns the compile or evaluation error of an expression; empty if there is none. */
function errorOf(text: string): string {
  const expression = environment.compile(text);
  if (expression instanceof Issues) return String(expression);
  const { value } = expression.program().evaluate(activationOf({ object }), perCallLimit);
  return value instanceof CelError ? value.message : '';
}

const tooMuch = /actual cost limit exceeded/;
const table: readonly (readonly [name: string, expression: string, error: RegExp])[] = [
  ['nested loops', nested(9), tooMuch],
  ['a list joined with itself', 'object.list.all(a, object.list.all(b, a != b + 1000000))', tooMuch],
  ['strings that double', doubled(30), tooMuch],
  ['growing lists', 'object.list.map(a, object.list).map(b, b + b).map(c, c + c + c)', /^$/],
  ['a backtracking pattern', 'object.long.matches("^(a+)+$b")', /^$|cost limit/],
  ['a pattern with hundreds of states', '(object.long + object.long + object.long).matches("(?i)a{900}b")', /^$/],
  ['a large pattern', '"a".matches("((a{100}){100}){100}")', /./],
  ['deep parentheses', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`, /recursion|limit/],
  ['deeply nested lists', `${'['.repeat(10_000)}1${']'.repeat(10_000)}`, /recursion|limit/],
  ['a long chain of calls', `"a"${'.lowerAscii()'.repeat(20_000)}`, /./],
  ['a long sum', `1${' + 1'.repeat(50_000)}`, /./],
  ['a deeply nested object', 'object.deep == object.deep.inner', /./],
  ['a key from Object.prototype', 'has(object.constructor) || has(object.toString) ? object.constructor : 1', /^$/],
  ['a format with many digits', '"%.999999999f".format([1.0]) + "%999999999d".format([1])', /./],
];

test.each(table)('%s', (_name, expression, error) => {
  const began = threadMilliseconds();
  expect(errorOf(expression)).toMatch(error);
  expect(threadMilliseconds() - began).toBeLessThan(2_000);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
