import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { CachedObject } from './cached-object.ts';
import { type CacheEvent, EventHistory, maxHistory } from './event-history.ts';
import { emptyReader as reader } from './test-fixture.ts';

const freshMs = 75_000;
const event = (revision: number, at: number): CacheEvent => ({
  key: `/pods/${revision}`,
  revision,
  at,
  object: undefined,
  previous: undefined,
});

describe('EventHistory', () => {
  // Upstream: TestDynamicCache.
  const capacities: readonly {
    readonly name: string;
    readonly count: number;
    readonly msBetween: number;
    readonly capacity: number;
    readonly completeAfter: number;
  }[] = [
    { name: 'starts at the minimum', count: 0, msBetween: 1, capacity: 100, completeAfter: 1 },
    { name: 'stays while it is not full', count: 100, msBetween: 1, capacity: 100, completeAfter: 1 },
    { name: 'doubles when it is full of fresh events', count: 101, msBetween: 1, capacity: 200, completeAfter: 1 },
    { name: 'doubles again', count: 401, msBetween: 1, capacity: 800, completeAfter: 1 },
    { name: 'drops the oldest when they are old', count: 150, msBetween: 1_000, capacity: 100, completeAfter: 51 },
    { name: 'has a maximum', count: maxHistory + 10, msBetween: 0, capacity: maxHistory, completeAfter: 11 },
  ];
  it.each(capacities)('$name', ({ count, msBetween, capacity, completeAfter }) => {
    const history = new EventHistory(1, freshMs);
    for (let i = 0; i < count; i++) history.add(event(i + 2, i * msBetween));
    expect(history.capacity).toBe(capacity);
    expect(history.completeAfter).toBe(completeAfter);
    expect(history.size).toBe(Math.min(count, capacity));
  });

  it('halves when most of it is old, and loses no fresh event', () => {
    const history = new EventHistory(1, freshMs);
    for (let i = 0; i < 400; i++) history.add(event(i + 2, i));
    expect(history.capacity).toBe(400);
    history.add(event(402, 200_000));
    expect(history.capacity).toBe(200);
    expect(history.at(history.size - 1).revision).toBe(402);
    expect(history.at(0).revision).toBe(history.completeAfter + 1);
  });

  it('finds the events after a revision, even after the ring buffer has grown past its wrap point', () => {
    const history = new EventHistory(1, freshMs);
    for (let i = 0; i < 150; i++) history.add(event((i + 1) * 10, i * 1_000));
    for (let i = 150; i < 400; i++) history.add(event((i + 1) * 10, 150_000));
    expect(history.capacity).toBeGreaterThan(100);
    for (const [revision, found] of [
      [2_000, 2_010],
      [2_005, 2_010],
      [2_009, 2_010],
      [3_990, 4_000],
    ] as const) {
      expect(history.at(history.indexAfter(revision)).revision).toBe(found);
    }
    expect(history.indexAfter(4_000)).toBe(history.size);
    expect(history.indexAfter(0)).toBe(0);
  });

  const change = (revision: number, at: number, bytes: number): CacheEvent => ({
    ...event(revision, at),
    previous: new CachedObject('/pods/a', revision - 1, 1, Buffer.alloc(bytes), reader),
  });

  it.each([
    { name: 'little old history', count: 1_000, bytes: 100, laterMs: freshMs * 100, size: 1_000 },
    { name: 'much fresh history', count: 1_000, bytes: 10_000, laterMs: freshMs - 1, size: 1_000 },
    { name: '4 MiB of much old history', count: 1_000, bytes: 9_900, laterMs: freshMs, size: 419 },
    { name: 'the last hundred events, whatever their size', count: 1_000, bytes: 100_000, laterMs: freshMs, size: 100 },
  ])('keeps $name', ({ count, bytes, laterMs, size }) => {
    const history = new EventHistory(1, freshMs);
    for (let i = 0; i < count; i++) history.add(change(i + 2, 0, bytes));
    expect(history.isLarge).toBe(count * bytes > 4 * 1024 * 1024);
    history.trim(laterMs);
    expect(history.size).toBe(size);
    expect(history.completeAfter).toBe(count + 1 - size);
    expect(history.capacity).toBeLessThan(Math.max(size * 4, 101));
    expect(history.at(0).revision).toBe(history.completeAfter + 1);
  });
});
