import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { paceCollections } from './collection-pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const quarter = 250;

it('collects seldom from the first long turn on, and often again two seconds after the last', () => {
  let longTurns = 7;
  const told: string[] = [];
  using pace = paceCollections(() => longTurns, { collectSeldom: () => told.push('seldom'), collectOften: () => told.push('often') });
  expect(pace).toBeDefined();
  vi.advanceTimersByTime(4 * quarter);
  expect(told).toEqual([]);
  for (let i = 0; i < 3; i += 1) {
    longTurns += 1;
    vi.advanceTimersByTime(quarter);
    expect(told).toEqual(['seldom']);
    vi.advanceTimersByTime(6 * quarter);
  }
  vi.advanceTimersByTime(quarter);
  expect(told).toEqual(['seldom']);
  vi.advanceTimersByTime(quarter);
  expect(told).toEqual(['seldom', 'often']);
  vi.advanceTimersByTime(100 * quarter);
  expect(told).toEqual(['seldom', 'often']);
});

it('does nothing any more once it was disposed of', () => {
  let longTurns = 0;
  const told: string[] = [];
  paceCollections(() => longTurns, { collectSeldom: () => told.push('seldom'), collectOften: () => told.push('often') })[Symbol.dispose]();
  longTurns = 1;
  vi.advanceTimersByTime(100 * quarter);
  expect(told).toEqual([]);
});
