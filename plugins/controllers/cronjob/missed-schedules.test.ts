import type { CronJob, CronJobSpec, Job } from 'kubenest/types/batch_v1';
import { describe, expect, it } from 'vitest';
import { jobFor, surplusJobs } from './cronjob-sync.ts';
import { missedSchedules, nextScheduleInMs } from './missed-schedules.ts';
import { parseSchedule } from 'kubenest/sdk';

const created = '2026-01-01T10:00:00Z';
const cronJob = (spec: CronJobSpec = {}, lastScheduleTime?: string): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c', namespace: 'n', uid: 'c', creationTimestamp: created },
  spec,
  status: lastScheduleTime ? { lastScheduleTime } : {},
});
const hourly = parseSchedule('0 * * * *', 'UTC');

describe('missedSchedules', () => {
  it.each([
    { name: 'none before the first', of: cronJob(), now: '10:30', recent: undefined, missed: 'none' },
    { name: 'the first', of: cronJob(), now: '11:00', recent: '11:00', missed: 'none' },
    { name: 'the last of some', of: cronJob(), now: '14:30', recent: '14:00', missed: 'few' },
    { name: 'none after the last start', of: cronJob({}, '2026-01-01T14:00:00Z'), now: '14:30', recent: undefined, missed: 'none' },
    { name: 'none before the deadline', of: cronJob({ startingDeadlineSeconds: 60 }), now: '14:30', recent: undefined, missed: 'none' },
  ])('finds $name', ({ of, now, recent, missed }) => {
    const found = missedSchedules(of, hourly, Date.parse(`2026-01-01T${now}:00Z`), true);
    expect([found.recentMs, found.missed]).toEqual([recent && Date.parse(`2026-01-01T${recent}:00Z`), missed]);
  });

  it('counts more than a hundred as many', () => {
    expect(missedSchedules(cronJob(), hourly, Date.parse('2026-01-06T00:00:00Z'), true).missed).toBe('many');
  });

  it('rejects a schedule that never occurs', () => {
    expect(() => missedSchedules(cronJob(), parseSchedule('0 0 31 2 *', 'UTC'), Date.parse(created), true)).toThrow('less than 1 second');
  });
});

it.each([
  { name: 'the first', of: cronJob(), now: '2026-01-01T10:30:00Z', expected: 30 },
  { name: 'the next one after a missed one', of: cronJob(), now: '2026-01-01T14:30:00Z', expected: 30 },
])('waits until $name, and a little longer', ({ of, now, expected }) => {
  expect(nextScheduleInMs(of, hourly, Date.parse(now))).toBe(expected * 60_000 + 100);
});

it('creates a job that is named after its time', () => {
  const jobTemplate = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { parallelism: 2 } };
  expect(jobFor(cronJob({ timeZone: 'Europe/Berlin', jobTemplate }), Date.parse('2026-01-01T11:00:00Z'))).toEqual({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'c-29454420',
      namespace: 'n',
      labels: { a: 'b' },
      annotations: { c: 'd', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T12:00:00+01:00' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'c', controller: true, blockOwnerDeletion: true }],
    },
    spec: { parallelism: 2 },
  });
});

it('deletes the jobs first that started first', () => {
  const job = (name: string, startTime?: string): Job => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    status: startTime ? { startTime } : {},
  });
  const jobs = [job('c'), job('b', created), job('a', created), job('d', '2026-01-01T09:00:00Z')];
  expect(surplusJobs(jobs, 1).map(({ metadata }) => metadata.name)).toEqual(['d', 'a', 'b']);
});
