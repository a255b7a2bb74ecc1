import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { paceCollections } from './collection-pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const look = 500;

it('collects rarely during long turns, and frequently again two seconds after the last', () => {
  let wideTurns = 7;
  const calls: string[] = [];
  using pace = paceCollections({ collectSeldom: () => calls.push('seldom'), collectOften: () => calls.push('often') }, () => wideTurns);
  expect(pace).toBeDefined();
  vi.advanceTimersByTime(4 * look);
  wideTurns += 1;
  vi.advanceTimersByTime(look);
  expect(calls).toEqual([]);
  for (let i = 0; i < 3; i += 1) {
    wideTurns += 2;
    vi.advanceTimersByTime(look);
    expect(calls).toEqual(['seldom']);
    vi.advanceTimersByTime(2 * look);
  }
  vi.advanceTimersByTime(look);
  expect(calls).toEqual(['seldom']);
  vi.advanceTimersByTime(look);
  expect(calls).toEqual(['seldom', 'often']);
  vi.advanceTimersByTime(100 * look);
  expect(calls).toEqual(['seldom', 'often']);
});

it('does nothing after disposal', () => {
  let wideTurns = 0;
  const calls: string[] = [];
  paceCollections({ collectSeldom: () => calls.push('seldom'), collectOften: () => calls.push('often') }, () => wideTurns)[
    Symbol.dispose
  ]();
  wideTurns = 100;
  vi.advanceTimersByTime(100 * look);
  expect(calls).toEqual([]);
});
