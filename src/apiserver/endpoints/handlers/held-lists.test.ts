import { expect, it } from 'vitest';
import { HeldLists } from './held-lists.ts';

it('holds lists up to its limit, and a single list of any size', () => {
  const lists = new HeldLists(100);
  const first = lists.tryHold(500);
  expect(first).toBeDefined();
  expect(lists.tryHold(1)).toBeUndefined();
  first?.();
  expect([lists.tryHold(60), lists.tryHold(50), lists.tryHold(40)].map((release) => release !== undefined)).toEqual([true, false, true]);
});

it('starts waiting lists in order when there is room', () => {
  const lists = new HeldLists(100);
  const begun: string[] = [];
  const wait = (name: string, bytes: number): (() => void) =>
    lists.whenRoom(bytes, () => {
      begun.push(name);
      lists.tryHold(bytes);
    });
  const [a, b] = [lists.tryHold(50), lists.tryHold(50)];
  wait('large', 80);
  const giveUp = wait('gone', 10);
  wait('small', 20);
  giveUp();
  a?.();
  expect(begun).toEqual([]);
  b?.();
  expect(begun).toEqual(['large', 'small']);
});
