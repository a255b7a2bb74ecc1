import { expect, test } from 'vitest';
import { nextGeneration } from './generation.ts';

test.each<[generation: number | bigint | undefined, next: number | bigint]>([
  [undefined, 1],
  [7, 8],
  [-1, 0],
  [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER],
  [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_992n],
  [9_007_199_254_740_993n, 9_007_199_254_740_994n],
  [2n ** 63n - 1n, -(2n ** 63n)],
])('the generation after %s is %s', (generation, next) => {
  expect(nextGeneration(generation as number | undefined)).toBe(next);
});
