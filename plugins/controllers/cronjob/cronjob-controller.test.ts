import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import type { CronJob, CronJobSpec, Job } from 'kubenest/types/batch_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { CronJobController } from './cronjob-controller.ts';
import { cronJobs } from './cronjob-sync.ts';

const collection = 'batch/v1/cronjobs';
const allJobs = 'batch/v1/jobs';
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['cronjob-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const create = (name: string, spec: CronJobSpec): Promise<CronJob> =>
  workloads.create(collection, {
    metadata: { name },
    spec: { jobTemplate: { metadata: { labels: { of: name } }, spec: { template } }, ...spec },
  });
const jobs = (name: string): Promise<Job[]> => workloads.list<Job>(allJobs, `of=${name}`);

it('starts a job, lists it, and notes its end', async () => {
  await create('every', { schedule: '@every 1s', concurrencyPolicy: 'Forbid' });
  await vi.waitFor(async () => expect(await jobs('every')).toHaveLength(1));
  const [job] = await jobs('every');
  const name = job?.metadata.name as string;
  expect(name).toMatch(/^every-\d+$/);
  await vi.waitFor(async () => {
    const { status } = await workloads.get<CronJob>(collection, 'every');
    expect(status?.active?.map((active) => active.name)).toEqual([name]);
  });
  await workloads.patch(collection, 'every', { spec: { suspend: true } });
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const condition = (type: string): object => ({ type, status: 'True', lastProbeTime: now, lastTransitionTime: now });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const ended = { startTime: job?.metadata.creationTimestamp, completionTime: now, succeeded: 1, conditions };
  await workloads.patch(allJobs, name, { status: ended }, 'status');
  await vi.waitFor(async () => {
    const { status } = await workloads.get<CronJob>(collection, 'every');
    expect(status).toEqual({ lastScheduleTime: expect.any(String), lastSuccessfulTime: now });
  });
  await vi.waitFor(async () =>
    expect((await workloads.events('every')).filter((event) => !event.includes('JobAlreadyActive'))).toEqual([
      `Normal SuccessfulCreate: Created job ${name}`,
      `Normal SawCompletedJob: Saw completed job: ${name}, condition: Complete`,
    ]),
  );
});

it('forgets a job that is gone', async () => {
  await create('gone', { schedule: '0 0 1 1 *' });
  const active = [{ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name: 'gone-1', uid: 'x' }];
  await workloads.patch(collection, 'gone', { status: { active } }, 'status');
  await vi.waitFor(async () => expect((await workloads.get<CronJob>(collection, 'gone')).status?.active).toBeUndefined());
  await vi.waitFor(async () => expect(await workloads.events('gone')).toEqual(['Normal MissingJob: Active job went missing: gone-1']));
});

it('reports a schedule that never occurs', async () => {
  await create('never', { schedule: '0 0 31 2 *' });
  await vi.waitFor(async () =>
    expect(await workloads.events('never')).toEqual([
      'Warning InvalidSchedule: invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
    ]),
  );
});

it('waits after a change of the schedule alone, and starts the job that is due after any other change', async () => {
  const clock = new FakeClock();
  const hourMs = 3_600_000;
  await clock.advance(48.5 * hourMs - clock.wallTime());
  const lastScheduleTime = new Date(24 * hourMs).toISOString();
  const cluster = new FakeCluster({
    'cronjobs.batch': [
      partialObject({ metadata: { namespace: 'n', name: 'c', uid: 'c' }, spec: { schedule: '0 0 1 1 *' }, status: { lastScheduleTime } }),
    ],
  });
  const delays: number[] = [];
  const requests = { add: () => {}, addAfter: (_: unknown, delayMs: number) => void delays.push(delayMs) };
  const controller = new CronJobController(cluster, cluster.informers, cluster, clock, requests);
  const stop = new AbortController();
  const running = controller.run(stop.signal);

  await cluster.patch(cronJobs, 'n', 'c', { type: 'merge', patch: { spec: { schedule: '0 * * * *' } } });
  // The next full hour, and upstream's allowance for clocks that differ.
  expect(delays).toEqual([hourMs / 2 + 100]);
  await cluster.patch(cronJobs, 'n', 'c', { type: 'merge', patch: { spec: { concurrencyPolicy: 'Replace' } } });
  expect(delays).toHaveLength(1);
  await controller.reconcile({ namespace: 'n', name: 'c' });
  expect(cluster.all('jobs.batch').map(({ metadata }) => metadata.name)).toEqual([`c-${48 * 60}`]);
  stop.abort();
  await running;
});
