import fc from 'fast-check';
import { expect, it } from 'vitest';
import { insertionOrder } from './insertion-order.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

/** Reference implementation: apimachinery/pkg/util/strategicpatch, mergeSortedSlice and normalizeSliceOrder, with Go's insertion sort. */
function sorted(places: readonly (number | undefined)[]): number[] {
  const order = places.map((_, index) => index);
  for (let i = 1; i < order.length; i++) {
    for (let j = i; j > 0; j--) {
      const [before, own] = [places[order[j - 1]!], places[order[j]!]];
      if (own !== undefined && before !== undefined && own >= before) break;
      [order[j - 1], order[j]] = [order[j]!, order[j - 1]!];
    }
  }
  return order;
}

it('equals the sort, with items that have no rank or equal ranks', () => {
  const places = fc.array(fc.option(fc.nat(8), { nil: undefined }), { maxLength: 20 });
  fc.assert(
    fc.property(places, (list) => {
      expect(insertionOrder(list)).toEqual(sorted(list));
    }),
    { numRuns: 5_000 },
  );
});

it('handles many items in linear time', () => {
  const places = Array.from({ length: 100_000 }, (_, index) => (index % 3 === 0 ? undefined : (index * 7_919) % 100_003));
  const began = threadMilliseconds();
  expect(new Set(insertionOrder(places)).size).toBe(100_000);
  expect(threadMilliseconds() - began).toBeLessThan(2_000);
});
