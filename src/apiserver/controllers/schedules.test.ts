import { FakeClock } from '#apiserver/base/fake-clock';
import { expect, it } from 'vitest';
import type { KeyValueStore } from './key-value-store.ts';
import { Controller } from './controller.ts';
import { hasSchedules, runSchedules, Schedule } from './schedules.ts';

class MemoryStore implements KeyValueStore {
  readonly values = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.values.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    this.values.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.values.delete(key);
  }
}

const minuteMs = 60_000;

class Reports {
  readonly calls: number[] = [];
  fails = false;

  constructor(readonly clock: FakeClock) {}

  @Schedule('*/10 * * * *', { catchUpMs: 30 * minuteMs })
  async report(): Promise<void> {
    this.calls.push(this.clock.wallTime() / minuteMs);
    if (this.fails) throw new Error('broken');
  }
}

/** The clock begins 1,000 s after 1970, that is 16 minutes 40. */
function start(store = new MemoryStore()): {
  reports: Reports;
  clock: FakeClock;
  errors: unknown[];
  end: () => Promise<void>;
  store: MemoryStore;
} {
  const clock = new FakeClock();
  const reports = new Reports(clock);
  const errors: unknown[] = [];
  const ending = new AbortController();
  const ended = runSchedules(reports, { clock, store, onError: (_, error) => errors.push(error) }, ending.signal);
  return {
    reports,
    clock,
    errors,
    store,
    end: () => {
      ending.abort();
      return ended;
    },
  };
}

it('calls the method at each time, and not at once', async () => {
  const { reports, clock, end } = start();
  await clock.advance(35 * minuteMs);
  expect(reports.calls).toEqual([20, 30, 40, 50]);
  await end();
});

it('continues after a failed call', async () => {
  const { reports, clock, errors, end } = start();
  reports.fails = true;
  await clock.advance(15 * minuteMs);
  expect(reports.calls).toEqual([20, 30]);
  expect(errors).toEqual([new Error('broken'), new Error('broken')]);
  await end();
});

it('does not call again for a time that another server has called for', async () => {
  const store = new MemoryStore();
  store.values.set('schedule-report', String(20 * minuteMs));
  const { reports, clock, end } = start(store);
  await clock.advance(15 * minuteMs);
  expect(reports.calls).toEqual([30]);
  await end();
});

it.each([
  { name: 'makes up for a missed time once', last: -10, called: [16, 20] },
  { name: 'skips times that were missed for too long', last: -24 * 60, called: [16, 20] },
  { name: 'has missed nothing', last: 10, called: [20] },
])('$name', async ({ last, called }) => {
  const store = new MemoryStore();
  store.values.set('schedule-report', String(last * minuteMs));
  const { reports, clock, end } = start(store);
  await clock.advance(5 * minuteMs);
  expect(reports.calls.map(Math.floor)).toEqual(called);
  await end();
});

it('refuses an invalid expression and an unknown time zone', () => {
  expect(() => Schedule('60 * * * *')).toThrow('60');
  expect(() => Schedule('@daily', { timeZone: 'Nowhere/Else' })).toThrow('Nowhere/Else');
});

it('accepts a class that has only schedules as a controller, and reports a call that still runs at its next time', async () => {
  @Controller({ name: 'cleaner' })
  class Cleaner {
    ended = Promise.withResolvers<void>();

    @Schedule('*/10 * * * *')
    cleanUp(): Promise<void> {
      return this.ended.promise;
    }
  }
  const cleaner = new Cleaner();
  expect([hasSchedules(cleaner), hasSchedules({})]).toEqual([true, false]);
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const ending = new AbortController();
  const parts = { clock, store: new MemoryStore(), onError: (_: string, error: unknown) => errors.push(error) };
  const ended = runSchedules(cleaner, parts, ending.signal);
  await clock.advance(5 * minuteMs);
  expect(errors).toEqual([]);
  await clock.advance(30 * minuteMs);
  expect(errors).toEqual([new Error('it still runs at its next time, which waits for its end')]);
  cleaner.ended.resolve();
  ending.abort();
  await ended;
});

it.each(['text', 'Infinity', '-1e300', String(Date.UTC(2099, 0))])(
  'a record other than a past time, as %j, does not end the schedule',
  async (text) => {
    const store = new MemoryStore();
    await store.set('schedule-report', text);
    const { reports, clock, end } = start(store);
    await clock.advance(5 * minuteMs);
    expect(reports.calls).toEqual([20]);
    await end();
  },
);

it('a record that cannot be read at first does not end the schedule', async () => {
  const store = new MemoryStore();
  let failures = 2;
  store.get = async () => {
    if (failures-- > 0) throw new Error('not today');
    return undefined;
  };
  const { reports, clock, errors, end } = start(store);
  await clock.advance(5 * minuteMs);
  expect([reports.calls, errors.map(String)]).toEqual([[20], ['Error: not today', 'Error: not today']]);
  await end();
});
