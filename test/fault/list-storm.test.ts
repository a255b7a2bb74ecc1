import { expect, it } from 'vitest';
import { runListStorm } from './list-storm.ts';

it('32 clients that list 30 MB at once share its bytes, and hold nobody up for a second', { timeout: 180_000 }, async () => {
  const { violations, dataset, most, getP99Ms } = await runListStorm(10_000, 32);
  expect(violations).toEqual([]);
  expect(most).toBeLessThan(dataset + 300);
  expect(getP99Ms).toBeLessThan(1_000);
});
