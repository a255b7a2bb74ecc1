import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type SysctlOverlap, sysctlOverlaps } from './sysctl-overlaps.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

/** Compares all pairs, as upstream. */
function comparingAll(allowed: readonly string[], forbidden: readonly string[]): SysctlOverlap[] {
  const covers = (pattern: string, other: string): boolean =>
    pattern.endsWith('*') ? other.replace(/\*$/, '').startsWith(pattern.slice(0, -1)) : pattern === other;
  return allowed.flatMap((one, i) =>
    forbidden.flatMap((other, j): SysctlOverlap[] => {
      if (covers(other, one)) return [{ allowed: i, denied: j, narrower: 'allowed' }];
      return covers(one, other) ? [{ allowed: i, denied: j, narrower: 'forbidden' }] : [];
    }),
  );
}

it('finds the same overlaps as comparing all pairs, in the same order', () => {
  const pattern = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 4 }), fc.constantFrom('', '*'))
    .map(([text, end]) => text.join('') + end);
  const patterns = fc.array(pattern, { maxLength: 8 });
  fc.assert(
    fc.property(patterns, patterns, (allowed, forbidden) => {
      expect([...sysctlOverlaps(allowed, forbidden)]).toEqual(comparingAll(allowed, forbidden));
    }),
    { numRuns: 500 },
  );
});

it('compares 100,000 with 100,000 in less than a second', () => {
  const names = (prefix: string) => Array.from({ length: 100_000 }, (_, i) => `${prefix}.s${i}`);
  const began = threadMilliseconds();
  expect([...sysctlOverlaps(names('kernel'), [...names('net'), 'vm.*'])]).toEqual([]);
  expect(threadMilliseconds() - began).toBeLessThan(1_000);
});
