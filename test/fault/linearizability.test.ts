import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from './check-history.ts';
import { random } from './random.ts';
import { checkLinearizability, isLinearizable, type Operation } from './linearizability.ts';

const read = (begin: number, end: number, text: string): Operation => ({
  begin,
  end,
  apply: (state) => (state === text ? state : undefined),
});
const swap = (begin: number, end: number, before: string, after: string): Operation => ({
  begin,
  end,
  apply: (state) => (state === before ? after : undefined),
});
const conflict = (begin: number, end: number, before: string): Operation => ({
  begin,
  end,
  apply: (state) => (state === before ? undefined : state),
});

describe('isLinearizable', () => {
  const good: readonly (readonly [name: string, operations: readonly Operation[]])[] = [
    ['nothing', []],
    ['sequential operations', [swap(0, 1, '', 'a'), read(2, 3, 'a'), swap(4, 5, 'a', ''), read(6, 7, '')]],
    ['a read of either state during a write', [swap(0, 5, '', 'a'), read(1, 2, ''), read(3, 4, 'a')]],
    ['a conflict with a pending write', [swap(0, 1, '', 'a'), swap(2, 9, 'a', 'b'), conflict(3, 4, 'a')]],
    ['an unknown write that happened', [swap(0, Infinity, '', 'a'), read(5, 6, ''), read(7, 8, 'a')]],
    ['an unknown write that did not happen', [swap(0, Infinity, '', 'a'), read(5, 6, ''), swap(7, 8, '', 'b'), read(9, 10, 'b')]],
    ['a chain whose order differs from that of the starts', [swap(0, 9, 'a', 'b'), swap(1, 8, '', 'a'), read(10, 11, 'b')]],
  ];
  it.each(good)('accepts %s', (_, operations) => expect(isLinearizable(operations)).toBe(true));

  const bad: readonly (readonly [name: string, operations: readonly Operation[]])[] = [
    ['a lost write', [swap(0, 1, '', 'a'), read(2, 3, '')]],
    ['a stale read', [swap(0, 1, '', 'a'), swap(2, 3, 'a', 'b'), read(4, 5, 'a')]],
    ['reads that go backwards', [swap(0, 9, '', 'a'), read(1, 2, 'a'), read(3, 4, '')]],
    ['a value that was never written', [read(0, 1, 'ghost')]],
    ['two successful writes of the same state', [swap(0, 5, '', 'a'), swap(1, 6, '', 'b')]],
    ['an unexplained conflict', [swap(0, 1, '', 'a'), conflict(2, 3, 'b'), conflict(4, 5, 'a')]],
    ['an unknown write that is undone', [swap(0, Infinity, '', 'a'), read(1, 2, 'a'), read(3, 4, '')]],
    ['a write that takes effect after a later read', [swap(0, 1, '', 'a'), read(2, 3, 'a'), read(4, 5, 'b'), swap(6, 7, 'a', 'b')]],
  ];
  it.each(bad)('rejects %s', (_, operations) => expect(isLinearizable(operations)).toBe(false));

  it('decides histories of many clients, and detects one modified read', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const next = random(seed);
      const operations = simulated(next, 300);
      expect(isLinearizable(operations), `seed ${seed}`).toBe(true);
      expect(isLinearizable([...operations, read(1_000_000, 1_000_001, 'ghost')]), `seed ${seed}`).toBe(false);
    }
  });
});

/**
 * Simulates a history of a correct store, in which each operation takes effect at a moment within its duration; some
 * outcomes are unknown.
 */
function simulated(next: (below: number) => number, count: number): Operation[] {
  let state = '';
  return Array.from({ length: count }, (_, i) => {
    const moment = (i + 1) * 10;
    const begin = moment - 1 - next(40) + i / 1e6;
    const end = moment + 1 + next(40) + i / 1e6;
    if (next(2) === 0) return read(begin, end, state);
    const before = state;
    state = next(4) === 0 && state !== '' ? '' : String(i);
    return swap(begin, next(10) === 0 ? Infinity : end, before, state);
  });
}

it('derives operations from a history: rejections, unknown outcomes, reads', () => {
  const log = [
    { revision: 2, key: '/r/a', text: 'one', previous: 0 },
    { revision: 3, key: '/r/a', text: 'two', previous: 2 },
  ];
  const history = [
    { type: 'begin', id: 1, verb: 'create', key: '/r/a', expected: 0, text: 'one' },
    { type: 'ack', id: 1, revision: 2 },
    { type: 'begin', id: 2, verb: 'update', key: '/r/a', expected: 2, text: 'two' },
    { type: 'begin', id: 3, verb: 'create', key: '/r/a', expected: 0, text: 'three' },
    { type: 'reject', id: 3, error: 'AlreadyExists' },
    { type: 'readBegin', id: 4, key: '/r/a' },
    { type: 'readEnd', id: 4, revision: 3, text: 'two' },
    { type: 'begin', id: 5, verb: 'update', key: '/r/a', expected: 2, text: 'four' },
    { type: 'reject', id: 5, error: 'Conflict' },
  ] as const;
  expect(checkLinearizability(history, log)).toEqual([]);
  const stale = [...history, { type: 'readBegin', id: 6, key: '/r/a' }, { type: 'readEnd', id: 6, revision: 2, text: 'one' }] as const;
  expect(checkLinearizability(stale, log)).toEqual(['the 6 operations of /r/a are not linearizable']);
  const list = (text: string): HistoryEntry[] => [
    { type: 'listBegin', id: 7 },
    { type: 'listEnd', id: 7, revision: 3, records: text === '' ? [] : [['/r/a', 3, text]] },
  ];
  expect(checkLinearizability([...history, ...list('two')], log)).toEqual([]);
  for (const wrong of ['one', '', 'three'])
    expect(checkLinearizability([...history, ...list(wrong)], log)).toEqual(['the 6 operations of /r/a are not linearizable']);
  // An outcome recorded by the store itself.
  const again = { type: 'begin', id: 8, verb: 'create', key: '/r/a', expected: 0, text: 'five' } as const;
  expect(checkLinearizability([again, { type: 'reject', id: 8, error: 'KeyExistsError' }, ...history], log)).toEqual([
    'the 6 operations of /r/a are not linearizable',
  ]);
});
