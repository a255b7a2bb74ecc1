import { parseTime } from 'kubenest/sdk';
import type { CronJob } from 'kubenest/types/batch_v1';
import type { ScheduleTimes } from 'kubenest/sdk';

/** Missed times above which an event warns. */
const many = 100;
/** Delay that allows for clocks which differ a little. Upstream: nextScheduleDelta. */
const deltaMs = 100;

/** Error of a schedule that never occurs, such as `0 0 31 2 *`. */
export class InvalidSchedule extends Error {
  override readonly name = 'InvalidSchedule';
}

export interface MissedSchedules {
  /** The last schedule, the creation, or the starting deadline: the time after which a job may be due. */
  readonly earliestMs: number;
  /** Most recent time at which a job was due; undefined if none. */
  readonly recentMs: number | undefined;
  /** Rough number of missed times, or `many` above 100. */
  readonly missed: 'none' | 'few' | 'many';
}

/**
 * Returns the most recent time at which a job of the CronJob was due. Throws InvalidSchedule. Upstream:
 * mostRecentScheduleTime of pkg/controller/cronjob/utils.go.
 */
export function missedSchedules(cronJob: CronJob, schedule: ScheduleTimes, nowMs: number, hasDeadline: boolean): MissedSchedules {
  const { metadata, spec, status } = cronJob;
  const began = status?.lastScheduleTime || metadata.creationTimestamp;
  const deadline = hasDeadline ? spec?.startingDeadlineSeconds : undefined;
  const earliestMs = Math.max(began ? parseTime(began) : 0, deadline === undefined ? 0 : nowMs - Number(deadline) * 1_000);
  const first = schedule.next(earliestMs);
  const second = first === undefined ? undefined : schedule.next(first);
  if (first === undefined || second === undefined) throw new InvalidSchedule('time difference between two schedules is less than 1 second');
  if (nowMs < first) return { earliestMs, recentMs: undefined, missed: 'none' };
  if (nowMs < second) return { earliestMs, recentMs: first, missed: 'none' };
  const intervalMs = Math.round((second - first) / 1_000) * 1_000;
  const count = Math.floor((nowMs - first) / intervalMs) + 1;
  let recentMs: number | undefined;
  let next = schedule.next(first + (count - 2) * intervalMs);
  while (next !== undefined && next <= nowMs) {
    recentMs = next;
    next = schedule.next(next);
  }
  return { earliestMs, recentMs, missed: count > many ? 'many' : 'few' };
}

/** Returns the time until the next job is due, in milliseconds. Upstream: nextScheduleTimeDuration. */
export function nextScheduleInMs(cronJob: CronJob, schedule: ScheduleTimes, nowMs: number): number {
  const next = schedule.next(nextAfter(cronJob, schedule, nowMs)) ?? nowMs;
  return Math.max(0, next + deltaMs - nowMs);
}

function nextAfter(cronJob: CronJob, schedule: ScheduleTimes, nowMs: number): number {
  try {
    const { earliestMs, recentMs, missed } = missedSchedules(cronJob, schedule, nowMs, false);
    return recentMs ?? (missed === 'none' ? earliestMs : nowMs);
  } catch {
    return nowMs;
  }
}
