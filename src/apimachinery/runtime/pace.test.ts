import { expect, it } from 'vitest';
import { immediate, paceOf, yielding } from './pace.ts';
import type { Steps } from './steps.ts';

function* sum(count: number): Steps<number> {
  let total = 0;
  for (let i = 1; i <= count; i += 1) {
    total += i;
    yield;
  }
  return total;
}

it('depends on the size of the object', () => {
  expect(paceOf(1_000)).toBe(immediate);
  expect(paceOf(1_000_000)).toBe(yielding);
});

it('returns the result of immediate work without a promise', () => {
  expect(immediate.run(sum(4))).toBe(10);
  expect(
    immediate.either(
      () => 'whole',
      () => {
        throw new Error('chunked');
      },
    ),
  ).toBe('whole');
  expect(immediate.rest()).toBeUndefined();
});

it('resolves yielding work in a later turn', async () => {
  const order: string[] = [];
  const rested = yielding.rest()?.then(() => order.push('rested'));
  order.push('next');
  await rested;
  expect(order).toEqual(['next', 'rested']);
  expect(await yielding.run(sum(4))).toBe(10);
  expect(
    await yielding.either(
      () => 0,
      () => sum(3),
    ),
  ).toBe(6);
});
