import { expect, it } from 'vitest';
import { HeldLists } from './held-lists.ts';

/** Requests room for a list; its name is added to `begun` when it has some. */
function waiter(lists: HeldLists, begun: string[]): (owner: string, name: string, bytes: number) => () => void {
  return (owner, name, bytes) =>
    lists.whenRoom(owner, bytes, () => {
      begun.push(name);
      lists.tryHold(owner, bytes);
    });
}

it('holds lists up to its limit, and a single list of any size', () => {
  const lists = new HeldLists(100);
  const first = lists.tryHold('a', 500);
  expect(first).toBeDefined();
  expect(lists.tryHold('a', 1)).toBeUndefined();
  first?.release();
  const held = [60, 50, 40].map((bytes) => lists.tryHold('a', bytes) !== undefined);
  expect(held).toEqual([true, false, true]);
});

it('starts waiting lists in order when there is room', () => {
  const lists = new HeldLists(100);
  const begun: string[] = [];
  const wait = waiter(lists, begun);
  const [a, b] = [lists.tryHold('a', 50), lists.tryHold('a', 50)];
  wait('a', 'large', 80);
  const giveUp = wait('a', 'gone', 10);
  wait('a', 'small', 20);
  giveUp();
  a?.release();
  expect(begun).toEqual([]);
  b?.release();
  expect(begun).toEqual(['large', 'small']);
});

it('an owner that holds nothing has room beside unread lists of another, up to a bound', () => {
  const lists = new HeldLists(100);
  expect(lists.tryHold('a', 100)).toBeDefined();
  expect([lists.tryHold('a', 1), lists.tryHold('b', 400), lists.tryHold('b', 1), lists.tryHold('c', 301)].map(Boolean)).toEqual([
    false,
    true,
    false,
    false,
  ]);
});

it('serves waiting owners in turn', () => {
  const lists = new HeldLists(100);
  const begun: string[] = [];
  const wait = waiter(lists, begun);
  const [a, b, c] = [lists.tryHold('a', 40), lists.tryHold('b', 40), lists.tryHold('c', 720)];
  wait('a', 'a1', 20);
  wait('a', 'a2', 20);
  wait('b', 'b1', 20);
  c?.release();
  expect(begun).toEqual(['a1']);
  b?.release();
  expect(begun).toEqual(['a1', 'b1', 'a2']);
  a?.release();
});
