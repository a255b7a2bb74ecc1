import type { Job } from 'kubenest/types/batch_v1';
import { startTestCluster } from 'kubenest/testing';
import { expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';
import { timeLeftMs } from './ttl-after-finished-controller.ts';

const end = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T00:00:10Z');
const job = (ttl: number | undefined, type = 'Complete', deletionTimestamp?: string): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', ...(deletionTimestamp && { deletionTimestamp }) },
  spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
  status: { conditions: [{ type, status: 'True', lastTransitionTime: end }] },
});

it.each([
  { name: 'waits', of: job(30), expected: 20_000 },
  { name: 'is due after its time', of: job(5, 'Failed'), expected: -5_000 },
  { name: 'remains without a time', of: job(undefined), expected: undefined },
  { name: 'remains while it runs', of: job(5, 'Suspended'), expected: undefined },
  { name: 'is being deleted', of: job(5, 'Complete', end), expected: undefined },
])('a job $name', ({ of, expected }) => {
  expect(timeLeftMs(of, now)).toBe(expected);
});

it('deletes a job whose time has passed, in the foreground', async () => {
  await using cluster = await startTestCluster({ controllers: ['ttl-after-finished-controller', 'job-controller'] });
  const workloads = new Workloads(cluster);
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
  await workloads.create('batch/v1/jobs', { metadata: { name: 'short' }, spec: { ttlSecondsAfterFinished: 0, template } });
  await workloads.create('batch/v1/jobs', { metadata: { name: 'long' }, spec: { ttlSecondsAfterFinished: 1_000, template } });
  await vi.waitFor(async () => expect(await workloads.pods()).toHaveLength(2));
  for (const pod of await workloads.pods()) await workloads.setPhase(pod, 'Succeeded');
  await vi.waitFor(async () => {
    const jobs = await workloads.list<Job>('batch/v1/jobs');
    expect(jobs.map(({ metadata, status }) => [metadata.name, metadata.finalizers, status?.succeeded])).toEqual([
      ['long', undefined, 1],
      ['short', ['foregroundDeletion'], 1],
    ]);
  });
});
