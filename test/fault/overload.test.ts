import { expect, it } from 'vitest';
import { runOverload } from './overload.ts';

// Compares two rates, a second apart, on a shared machine.
it('keeps its throughput under tenfold load and recovers immediately', { timeout: 120_000, retry: 2 }, async () => {
  const { violations, refused } = await runOverload(5);
  expect(violations).toEqual([]);
  expect(refused).toBeGreaterThan(1_000);
});
