import { parseSchedule, type ScheduleTimes } from '#apimachinery/runtime/schedule-times';
import type { Clock } from '#apiserver/base/clock';
import type { KeyValueStore } from './key-value-store.ts';

export interface ScheduleOptions {
  /** Name of the time zone, for example `Europe/Berlin`. Default: UTC. */
  readonly timeZone?: string;
  /** Lateness up to which a time that was missed, because no server ran, is still handled, in milliseconds. Default: an hour. */
  readonly catchUpMs?: number;
}

interface ScheduledMethod extends Required<ScheduleOptions> {
  readonly method: string;
  readonly schedule: string;
}

const scheduled = Symbol.for('kubenest.controller.schedules');
const hourMs = 3_600_000;

interface Scheduling {
  [scheduled]: ScheduledMethod[];
}

/**
 * Calls a method of a controller, `(signal) => Promise<void>`, at the times of a cron expression (`0 * * * *`, `@daily`, `@every 90s`). One
 * of several servers calls it, once for each time, also after a restart. Throws for an invalid expression or time zone.
 */
export function Schedule(schedule: string, { timeZone = 'UTC', catchUpMs = hourMs }: ScheduleOptions = {}): MethodDecorator {
  parseSchedule(schedule, timeZone);
  return (target, method) => {
    const inherited = (target as Partial<Scheduling>)[scheduled] ?? [];
    const value = [...inherited, { schedule, timeZone, catchUpMs, method: method as string }];
    Object.defineProperty(target, scheduled, { value, configurable: true });
  };
}

/** True if a controller has scheduled methods. */
export function hasSchedules(controller: object): boolean {
  return ((controller as Partial<Scheduling>)[scheduled] ?? []).length > 0;
}

export interface ScheduleParts {
  readonly clock: Clock;
  readonly store: KeyValueStore;
  /** Reports a call that failed; the next one takes place nevertheless. */
  onError(method: string, error: unknown): void;
}

/** Calls the scheduled methods of a controller until the signal aborts. Resolves when the last call has ended. */
export async function runSchedules(controller: object, parts: ScheduleParts, signal: AbortSignal): Promise<void> {
  const methods = (controller as Partial<Scheduling>)[scheduled] ?? [];
  await Promise.all(methods.map((method) => runSchedule(controller, method, parts, signal)));
}

async function runSchedule(controller: object, scheduling: ScheduledMethod, parts: ScheduleParts, signal: AbortSignal): Promise<void> {
  const { method, schedule, timeZone, catchUpMs } = scheduling;
  const { clock, store, onError } = parts;
  const times = parseSchedule(schedule, timeZone);
  const key = `schedule-${method}`;
  const call = (controller as Readonly<Record<string, (signal: AbortSignal) => Promise<void> | void>>)[method];
  let last = await lastCall(key, method, parts, signal);
  while (!signal.aborted) {
    const due = dueAfter(times, last, { earliest: clock.wallTime() - catchUpMs, now: clock.wallTime() });
    if (due === undefined || !(await reached(due, clock, signal))) return;
    last = due;
    try {
      // Recorded first: a crash within the call does not repeat it.
      await store.set(key, String(due));
      await noticing(Promise.resolve(call?.call(controller, signal)), { times, clock, signal }, () =>
        onError(method, new Error('it still runs at its next time, which waits for its end')),
      );
    } catch (error) {
      onError(method, error);
    }
  }
}

const retryMs = 5_000;
/** First time of a Date. */
const earliestMs = -8.64e15;

/** Returns the time of the last call, or the present one if none is recorded. Failures to read it are repeated. */
async function lastCall(key: string, method: string, { clock, store, onError }: ScheduleParts, signal: AbortSignal): Promise<number> {
  while (!signal.aborted) {
    try {
      const recorded = Number((await store.get(key)) ?? Number.NaN);
      const now = clock.wallTime();
      // People can change the record, and clocks can be wrong when it is made: a later time would end the schedule until then.
      return recorded >= earliestMs && recorded <= now + hourMs ? recorded : now;
    } catch (error) {
      if (signal.aborted) break;
      onError(method, error);
      await reached(clock.wallTime() + retryMs, clock, signal);
    }
  }
  return clock.wallTime();
}

/** Waits for a call. `onLate` is called if it still runs at the next time. */
async function noticing(
  call: Promise<void>,
  { times, clock, signal }: { readonly times: ScheduleTimes; readonly clock: Clock; readonly signal: AbortSignal },
  onLate: () => void,
): Promise<void> {
  const next = times.next(clock.wallTime());
  if (next === undefined) return call;
  const ended = new AbortController();
  void reached(next, clock, AbortSignal.any([signal, ended.signal])).then((isReached) => isReached && onLate());
  await call.finally(() => ended.abort());
}

/**
 * Returns the time of the next call: of several times that were missed since `last`, and not before `earliest`, the latest; undefined if
 * there is none within five years.
 */
function dueAfter(
  times: ScheduleTimes,
  last: number,
  { earliest, now }: { readonly earliest: number; readonly now: number },
): number | undefined {
  let due = times.next(Math.max(last, earliest - 1));
  for (let next = due; next !== undefined && next <= now; next = times.next(next)) due = next;
  return due;
}

/** Longest wait at a time: the wall clock may be set. */
const longestWaitMs = 60_000;

/** Resolves with true at the time, with false if the signal aborts before. */
async function reached(time: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  for (let left = time - clock.wallTime(); left > 0; left = time - clock.wallTime()) {
    if (signal.aborted) return false;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        cancel();
        resolve();
      };
      const cancel = clock.after(Math.min(left, longestWaitMs), done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
  return !signal.aborted;
}
