import { expect, it } from 'vitest';
import { fewestViolations } from './fewest-violations.ts';
import { runOverload } from './overload.ts';

it('keeps its throughput under tenfold load and recovers immediately', { timeout: 240_000 }, async () => {
  const { violations, refused } = await fewestViolations(() => runOverload(5));
  expect(violations).toEqual([]);
  expect(refused).toBeGreaterThan(1_000);
});
