import type { Job, JobSpec } from 'kubenest/types/batch_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

const collection = 'batch/v1/jobs';
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  cluster = await startTestCluster({ controllers: ['job-controller'] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const create = (name: string, spec: JobSpec): Promise<Job> =>
  workloads.create(collection, {
    metadata: { name },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }, ...spec },
  });
const label = (name: string): string => `batch.kubernetes.io/job-name=${name}`;
const expectStatus = (name: string, expected: object): Promise<void> =>
  vi.waitFor(async () => expect((await workloads.get<Job>(collection, name)).status).toMatchObject(expected));
const conditions = async (name: string): Promise<string[]> =>
  ((await workloads.get<Job>(collection, name)).status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
const finish = async (name: string, phase: 'Succeeded' | 'Failed', more: object = {}): Promise<void> => {
  for (const pod of await workloads.pods(label(name))) if (pod.status?.phase === 'Pending') await workloads.setPhase(pod, phase, more);
};

it('runs pods to completion and counts each once', async () => {
  await create('done', { parallelism: 2, completions: 3 });
  await expectStatus('done', { active: 2, ready: 0, terminating: 0 });
  await finish('done', 'Succeeded');
  await expectStatus('done', { active: 1, succeeded: 2 });
  await finish('done', 'Succeeded');
  await expectStatus('done', { succeeded: 3, uncountedTerminatedPods: {}, completionTime: expect.any(String) });
  expect(await conditions('done')).toEqual(['SuccessCriteriaMet True CompletionsReached', 'Complete True CompletionsReached']);
  const pods = await workloads.pods(label('done'));
  expect(pods.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined, undefined]);
  await vi.waitFor(async () =>
    expect(await workloads.events('done')).toEqual([
      ...Array.from({ length: 3 }, () => 'Normal SuccessfulCreate: Created pod: done-*'),
      'Normal Completed: Job completed',
    ]),
  );
});

it('gives each pod of an indexed job its index', async () => {
  await create('indexed', { parallelism: 2, completions: 2, completionMode: 'Indexed' });
  await expectStatus('indexed', { active: 2 });
  const pods = await workloads.pods(label('indexed'));
  expect(pods.map(({ metadata, spec }) => [metadata.generateName, spec?.hostname])).toEqual([
    ['indexed-0-', 'indexed-0'],
    ['indexed-1-', 'indexed-1'],
  ]);
  await workloads.setPhase(pods[1]!, 'Succeeded');
  await expectStatus('indexed', { succeeded: 1, completedIndexes: '1', active: 1 });
  await workloads.setPhase(pods[0]!, 'Succeeded');
  await expectStatus('indexed', { succeeded: 2, completedIndexes: '0,1', completionTime: expect.any(String) });
});

it('fails at the backoff limit and deletes the pods that run', async () => {
  await create('failing', { parallelism: 2, completions: 2, backoffLimit: 0 });
  await expectStatus('failing', { active: 2 });
  const [first, second] = await workloads.pods(label('failing'));
  await workloads.setPhase(second!, 'Running');
  await workloads.setPhase(first!, 'Failed');
  await vi.waitFor(async () => expect(await conditions('failing')).toContain('Failed True BackoffLimitExceeded'));
  expect(await conditions('failing')).toEqual(['FailureTarget True BackoffLimitExceeded', 'Failed True BackoffLimitExceeded']);
  await expectStatus('failing', { failed: 2 });
  await vi.waitFor(async () =>
    expect((await workloads.pods(label('failing'))).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]),
  );
  expect(await workloads.events('failing')).toContain('Warning BackoffLimitExceeded: Job has reached the specified backoff limit');
});

it('ignores failures by its policy, and fails by it', async () => {
  await create('policy', {
    backoffLimit: 0,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      ],
    },
  });
  await expectStatus('policy', { active: 1 });
  const [pod] = await workloads.pods(label('policy'));
  await workloads.setPhase(pod!, 'Failed', {
    containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode: 42 } } }],
  });
  await vi.waitFor(async () => expect(await conditions('policy')).toContain('Failed True PodFailurePolicy'));
});

it('deletes the pods of a suspended job and starts again', async () => {
  await create('suspended', { suspend: true });
  await vi.waitFor(async () => expect(await conditions('suspended')).toEqual(['Suspended True JobSuspended']));
  await workloads.patch(collection, 'suspended', { spec: { suspend: false } });
  await expectStatus('suspended', { active: 1, startTime: expect.any(String) });
  await workloads.patch(collection, 'suspended', { spec: { suspend: true } });
  await vi.waitFor(async () => expect(await conditions('suspended')).toEqual(['Suspended True JobSuspended']));
  await vi.waitFor(async () => expect(await workloads.pods(label('suspended'))).toEqual([]));
  await vi.waitFor(async () =>
    expect(await workloads.events('suspended')).toEqual([
      'Normal Suspended: Job suspended',
      'Normal SuccessfulCreate: Created pod: suspended-*',
      'Normal Resumed: Job resumed',
      'Normal SuccessfulDelete: Deleted pod: suspended-*',
    ]),
  );
});

it('removes the finalizers of the pods of a deleted job', async () => {
  await create('deleted', {});
  await expectStatus('deleted', { active: 1 });
  await workloads.remove(collection, 'deleted', { propagationPolicy: 'Background' });
  await vi.waitFor(async () =>
    expect((await workloads.pods(label('deleted'))).map(({ metadata }) => metadata.finalizers)).toEqual([undefined]),
  );
});

it('leaves jobs of other controllers alone', async () => {
  await create('elsewhere', { managedBy: 'example.com/controller' });
  await create('here', {});
  await expectStatus('here', { active: 1 });
  expect(await workloads.pods(label('elsewhere'))).toEqual([]);
});
