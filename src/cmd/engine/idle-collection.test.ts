import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { collectWhenIdle } from './idle-collection.ts';

const megabyte = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Simulates seconds of [utilization, megabytes at its end]. Returns the seconds after which a collection ran, each of which leaves 40 MB.
 */
function play(seconds: readonly (readonly [utilization: number, megabytes: number])[]): number[] {
  const collected: number[] = [];
  let now = -1;
  let bytes = 0;
  using collection = collectWhenIdle({
    utilization: () => (seconds[now] as readonly [number, number])[0],
    bytes: () => bytes,
    collect() {
      collected.push(now);
      bytes = 40 * megabyte;
    },
  });
  expect(collection).toBeDefined();
  for (const [, megabytes] of seconds) {
    now++;
    bytes = megabytes * megabyte;
    vi.advanceTimersByTime(1000);
  }
  return collected;
}

it.each([
  {
    name: 'once after a burst',
    seconds: [
      [0.9, 100],
      [1, 300],
      [0, 300],
      [0, 41],
      [0, 41],
    ] as const,
    collected: [2],
  },
  {
    name: 'once more after caches have dropped unused entries',
    seconds: [
      [0, 300],
      [0, 41],
      ...Array.from({ length: 80 }, () => [0, 41] as const),
      ...Array.from({ length: 80 }, () => [0, 41] as const),
    ] as const,
    collected: [0, 110],
  },
  {
    name: 'nothing during requests',
    seconds: [
      [0.9, 100],
      [0.2, 300],
      [0.5, 300],
    ] as const,
    collected: [],
  },
  {
    name: 'nothing if the amount is small',
    seconds: [
      [0, 10],
      [0, 15],
    ] as const,
    collected: [],
  },
  {
    name: 'the garbage of a start at once, and that of a load after half a minute of idle time',
    seconds: [
      [0, 60],
      [1, 80],
      ...Array.from({ length: 29 }, () => [0, 80] as const),
      [1, 80],
      ...Array.from({ length: 30 }, () => [0, 80] as const),
      ...Array.from({ length: 40 }, () => [0, 41] as const),
    ] as const,
    collected: [0, 61],
  },
  {
    name: 'again ten seconds after the end of the next burst',
    seconds: [
      [0, 100],
      [0, 41],
      [1, 200],
      ...Array.from({ length: 8 }, () => [0.01, 200] as const),
      [1, 200],
      ...Array.from({ length: 10 }, () => [0.01, 200] as const),
      [0, 41],
    ] as const,
    collected: [0, 21],
  },
  {
    name: 'a large heap once: V8 releases its empty pages',
    seconds: [
      [0, 500],
      [0, 41],
      [0, 41],
    ] as const,
    collected: [0],
  },
])('collects $name', ({ seconds, collected }) => {
  expect(play(seconds)).toEqual(collected);
});

it('stops when it is disposed of', () => {
  const collect = vi.fn();
  collectWhenIdle({ utilization: () => 0, bytes: () => 1e8, collect })?.[Symbol.dispose]();
  vi.advanceTimersByTime(5000);
  expect(collect).not.toHaveBeenCalled();
});

it('collects at once when the start has read a large store', () => {
  let bytes = 600 * megabyte;
  const collected: number[] = [];
  using _ = collectWhenIdle({
    utilization: () => 1,
    bytes: () => bytes,
    collect() {
      collected.push(bytes);
      bytes = 500 * megabyte;
    },
  });
  expect(collected).toEqual([600 * megabyte]);
  vi.advanceTimersByTime(3_000);
  expect(collected).toHaveLength(1);
});
