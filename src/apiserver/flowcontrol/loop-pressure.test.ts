import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LoopPressure } from './loop-pressure.ts';
import { QueueSet } from './queue-set.ts';

let time = 0;
let reliefs = 0;
let pressure: LoopPressure;
beforeEach(() => {
  vi.useFakeTimers();
  [time, reliefs] = [0, 0];
  pressure = new LoopPressure(
    () => {
      reliefs += 1;
    },
    () => time,
  );
});
afterEach(() => void vi.useRealTimers());

/** Runs the next check of the event loop, with the given delay. */
function look(late: number): void {
  time += 10 + late;
  vi.advanceTimersByTime(10);
}

describe('LoopPressure', () => {
  it('does not check while levels have few executing requests', () => {
    pressure.executing(16);
    expect(vi.getTimerCount()).toBe(0);
    pressure.executing(17);
    expect(vi.getTimerCount()).toBe(1);
    look(0);
    look(0);
    expect([vi.getTimerCount(), pressure.most]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  it('lowers the bound while the event loop is delayed, down to a minimum that keeps it busy', () => {
    pressure.executing(200);
    look(26);
    expect(pressure.most).toBe(150);
    for (let i = 0; i < 20; i += 1) {
      pressure.executing(pressure.most);
      look(100);
    }
    expect([pressure.most, reliefs]).toEqual([16, 0]);
  });

  it('raises the bound by one at each check without delay until there is none, then stops checking', () => {
    pressure.executing(40);
    look(26);
    look(15);
    expect([pressure.most, reliefs]).toEqual([30, 0]);
    look(9);
    expect([pressure.most, reliefs]).toEqual([31, 1]);
    for (let i = 0; i < 1_000; i += 1) look(0);
    expect([pressure.most, vi.getTimerCount()]).toEqual([Number.POSITIVE_INFINITY, 0]);
  });
});

describe('a level under pressure', () => {
  const one = { initialSeats: 1, finalSeats: 0, additionalMs: 0 };
  const start = (queues: QueueSet, hand: number[], decide = (): void => {}) => {
    const started = queues.start(hand, one, 'flow', decide);
    return typeof started === 'string' ? started : started.executes;
  };

  it('queues requests and dispatches them when the bound rises', () => {
    const level = new QueueSet({ queuing: { queues: 1, queueLengthLimit: 50 } }, 100, () => time, pressure);
    for (let i = 0; i < 40; i += 1) expect(start(level, [0])).toBe(true);
    look(26);
    let isIn = false;
    expect(start(level, [0], () => (isIn = true))).toBe(false);
    expect(level.stats).toMatchObject({ executing: 40, waiting: 1, limit: 100 });
    for (let i = 0; i < 11; i += 1) look(0);
    level.dispatch();
    expect(isIn).toBe(true);
  });

  it('rejects no more requests than before if it has no queues', () => {
    const level = new QueueSet({ queuing: undefined }, 100, () => time, pressure);
    for (let i = 0; i < 40; i += 1) expect(start(level, [])).toBe(true);
    look(26);
    expect(start(level, [])).toBe(true);
  });
});
