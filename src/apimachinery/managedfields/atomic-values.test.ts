import fc from 'fast-check';
import { expect, it } from 'vitest';
import { metaSchema } from '#apimachinery/meta/schema/schema';
import { exactDeepEqualSteps } from '#apimachinery/runtime/semantic-equality';
import { atOnce, type Steps } from '#apimachinery/runtime/steps';
import { isSameWhole, isSameWholeSteps } from './atomic-values.ts';
import { type Comparison, compare, comparingSteps } from './compare.ts';
import { registry } from './fixtures.ts';
import { formatPath } from './path-element.ts';
import { shapeOf } from './shape.ts';

const selector = shapeOf(metaSchema.struct('meta_v1.LabelSelector'));

const spec = shapeOf(registry.struct('test_v1.Spec'));

const words = fc.constantFrom('', 'a', 'b');
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ weight: 4, arbitrary: value }, fc.constantFrom(null, undefined));
const requirement = fc.record({ key: optional(words), operator: optional(words), values: optional(fc.array(words, { maxLength: 2 })) });
const values = fc.record({
  matchLabels: optional(fc.dictionary(words, words, { maxKeys: 2 })),
  matchExpressions: optional(fc.array(requirement, { maxLength: 2 })),
});
const reading = fc.constantFrom('raw', 'typed');

it('the chunked comparison has the result of the other', () => {
  fc.assert(
    fc.property(values, values, reading, reading, (a, b, left, right) => {
      const readings = { left, right } as const;
      expect(atOnce(isSameWholeSteps(selector, a, b, readings))).toBe(isSameWhole(selector, a, b, readings));
    }),
    {
      numRuns: 3_000,
      examples: [
        [{ matchLabels: {}, matchExpressions: [{ key: 'a' }] }, { matchExpressions: [{ key: 'a', operator: '' }] }, 'typed', 'typed'],
      ] as never,
    },
  );
});

/** Returns the number of times that chunked work yields. */
function yieldsOf(steps: Steps<unknown>): number {
  let yields = 0;
  while (!steps.next().done) yields += 1;
  return yields;
}

const many = Array.from({ length: 20_000 }, (_, i) => `k${i}`);
const wide = (last: string): Record<string, string> => ({ ...Object.fromEntries(many.map((key) => [key, ''])), k19999: last });
const typed = { left: 'typed', right: 'typed' } as const;

it('the comparisons of a write yield within a large atomic value and a large spec', () => {
  const list = (last: string): unknown => ({ matchExpressions: [...many.slice(1), last].map((key) => ({ key, operator: 'Exists' })) });
  expect(yieldsOf(isSameWholeSteps(selector, list('a'), list('b'), typed))).toBeGreaterThan(18);
  const [a, b] = [{ selector: wide('a') }, { selector: wide('b') }];
  let difference: Comparison | undefined;
  const work = (): void => void (difference = compare(spec, a, b, typed));
  expect(yieldsOf(comparingSteps(spec, a, b, typed, work))).toBeGreaterThan(18);
  expect([...difference!.modified].map(formatPath)).toEqual(['.selector']);
  expect(yieldsOf(exactDeepEqualSteps(a, b, registry.struct('test_v1.Spec')))).toBeGreaterThan(18);
});
