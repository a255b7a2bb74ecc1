import { expect, it } from 'vitest';
import { WaitGroup } from './wait-group.ts';

it('notifies when no operation is left, and when earlier ones have ended', async () => {
  const group = new WaitGroup();
  const events: string[] = [];
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const [first, second] = [group.enter(), group.enter()];
  void group.earlier().then(() => events.push('first generation'));
  const third = group.enter();
  void group.earlier().then(() => events.push('second generation'));
  const fourth = group.enter();
  void group.empty().then(() => events.push('empty'));
  third();
  first();
  await settle();
  expect([group.size, events]).toEqual([2, []]);
  second();
  await settle();
  expect(events).toEqual(['first generation', 'second generation']);
  fourth();
  await settle();
  expect(events).toEqual(['first generation', 'second generation', 'empty']);
  await group.earlier();
});
