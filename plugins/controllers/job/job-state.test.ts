import type { Job, JobSpec, JobStatus } from 'kubenest/types/batch_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { backoffMs, nextBackoff } from './backoff.ts';
import { planOf, templateOf } from './job-plan.ts';
import { completionOf, endOf, type JobState, stateOf } from './job-state.ts';
import { matchFailurePolicy } from './policies.ts';
import { track } from './tracking.ts';

const start = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T00:10:00Z');
const job = (spec: JobSpec = {}, status: JobStatus = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', namespace: 'n', uid: 'j' },
  spec: { parallelism: 2, completions: 3, backoffLimit: 1, completionMode: 'NonIndexed', ...spec },
  status: { startTime: start, ...status },
});

interface PodOptions {
  readonly index?: number;
  readonly failures?: number;
  readonly isDeleted?: boolean;
  readonly exitCode?: number;
  readonly conditions?: { type: string; status: string }[];
}

const pod = (name: string, phase: string, { index, failures, isDeleted, exitCode, conditions = [] }: PodOptions = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'n',
    uid: name,
    finalizers: ['batch.kubernetes.io/job-tracking'],
    creationTimestamp: start,
    ...(isDeleted && { deletionTimestamp: start }),
    annotations: {
      ...(index !== undefined && { 'batch.kubernetes.io/job-completion-index': String(index) }),
      ...(failures !== undefined && { 'batch.kubernetes.io/job-index-failure-count': String(failures) }),
    },
  },
  status: {
    phase,
    conditions,
    ...(exitCode !== undefined && { containerStatuses: [{ name: 'c', state: { terminated: { exitCode, finishedAt: start } } }] }),
  },
});
const state = (of: Job, ...pods: Pod[]): JobState => stateOf({ job: of, pods, untracked: new Set(), backoff: undefined, nowMs: now });
const indexed = (spec: JobSpec = {}, status?: JobStatus): Job => job({ completionMode: 'Indexed', ...spec }, status);

describe('endOf', () => {
  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }];
  it.each([
    { name: 'continues below the backoff limit', of: job(), pods: [pod('a', 'Failed')], expected: undefined },
    {
      name: 'fails above the backoff limit',
      of: job(),
      pods: [pod('a', 'Failed'), pod('b', 'Failed')],
      expected: 'FailureTarget BackoffLimitExceeded: Job has reached the specified backoff limit',
    },
    {
      name: 'fails after its deadline',
      of: job({ activeDeadlineSeconds: 600 }),
      pods: [],
      expected: 'FailureTarget DeadlineExceeded: Job was active longer than specified deadline',
    },
    { name: 'has no deadline while it is suspended', of: job({ activeDeadlineSeconds: 1, suspend: true }), pods: [], expected: undefined },
    {
      name: 'fails by its policy',
      of: job({ podFailurePolicy: { rules } }),
      pods: [pod('a', 'Failed', { exitCode: 42 })],
      expected: 'FailureTarget PodFailurePolicy: Container c for pod n/a failed with exit code 42 matching FailJob rule at index 0',
    },
    {
      name: 'stays failed',
      of: job({}, { conditions: [{ type: 'FailureTarget', status: 'True', reason: 'r', message: 'm' }] }),
      pods: [],
      expected: 'Failed r: m',
    },
    {
      name: 'fails with too many failed indexes',
      of: indexed({ backoffLimit: 9, backoffLimitPerIndex: 0, maxFailedIndexes: 1 }),
      pods: [pod('a', 'Failed', { index: 0 }), pod('b', 'Failed', { index: 1 })],
      expected: 'FailureTarget MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
    },
    {
      name: 'fails when all other indexes have succeeded',
      of: indexed({ backoffLimit: 9, backoffLimitPerIndex: 0 }, { completedIndexes: '1,2' }),
      pods: [pod('a', 'Failed', { index: 0 })],
      expected: 'FailureTarget FailedIndexes: Job has failed indexes',
    },
    {
      name: 'retries an index below its limit',
      of: indexed({ backoffLimit: 9, backoffLimitPerIndex: 1 }, { completedIndexes: '1,2' }),
      pods: [pod('a', 'Failed', { index: 0 })],
      expected: undefined,
    },
    {
      name: 'succeeds by its policy',
      of: indexed({ successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] } }),
      pods: [pod('a', 'Succeeded', { index: 1 })],
      expected: 'SuccessCriteriaMet SuccessPolicy: Matched rules at index 0',
    },
  ])('$name', ({ of, pods, expected }) => {
    const end = endOf(state(of, ...pods));
    expect(end && `${end.type} ${end.reason}: ${end.message}`).toBe(expected);
  });
});

it.each([
  { name: 'enough pods have succeeded', of: job({ completions: 1 }), pods: [pod('a', 'Succeeded')], expected: 'CompletionsReached' },
  {
    name: 'a pod has succeeded, without a number',
    of: job({ completions: undefined as unknown as number }),
    pods: [pod('a', 'Succeeded')],
    expected: 'CompletionsReached',
  },
  { name: 'another pod runs', of: job({ completions: 1 }), pods: [pod('a', 'Succeeded'), pod('b', 'Running')], expected: undefined },
  {
    name: 'a succeeded pod is listed already',
    of: job({ completions: 1 }, { uncountedTerminatedPods: { succeeded: ['x'] } }),
    pods: [],
    expected: 'CompletionsReached',
  },
])('completionOf: $name', ({ of, pods, expected }) => {
  expect(completionOf(state(of, ...pods))?.reason).toBe(expected);
});

describe('planOf', () => {
  it.each([
    { name: 'creates up to the parallelism', of: job(), pods: [], expected: { create: 2 } },
    { name: 'creates what remains to complete', of: job({}, { succeeded: 2 }), pods: [], expected: { create: 1 } },
    {
      name: 'deletes pods above the parallelism',
      of: job({ parallelism: 1 }),
      pods: [pod('a', 'Running'), pod('b', 'Pending')],
      expected: { delete: ['b'] },
    },
    { name: 'deletes all pods while suspended', of: job({ suspend: true }), pods: [pod('a', 'Running')], expected: { delete: ['a'] } },
    {
      name: 'creates the missing indexes',
      of: indexed({}, { completedIndexes: '0' }),
      pods: [pod('a', 'Running', { index: 1 })],
      expected: { create: [2] },
    },
    {
      name: 'deletes repeated and invalid indexes',
      of: indexed(),
      pods: [pod('a', 'Running', { index: 1 }), pod('b', 'Pending', { index: 1 }), pod('c', 'Running', { index: 7 })],
      expected: { delete: ['b', 'c'] },
    },
    {
      name: 'replaces deleted pods at once',
      of: job({ parallelism: 1 }),
      pods: [pod('a', 'Running', { isDeleted: true })],
      expected: { create: 1 },
    },
    {
      name: 'waits for the end of deleted pods if the policy requires it',
      of: job({ parallelism: 1, podReplacementPolicy: 'Failed' }),
      pods: [pod('a', 'Running', { isDeleted: true })],
      expected: 'nothing',
    },
    {
      name: 'leaves running pods of a job without a number once one succeeded',
      of: job({ completions: undefined as unknown as number }),
      pods: [pod('a', 'Succeeded'), pod('b', 'Running')],
      expected: 'nothing',
    },
  ])('$name', ({ of, pods, expected }) => {
    const plan = planOf(state(of, ...pods));
    const indexes = plan.kind === 'create' ? plan.indexes : [];
    const created = indexes.every((index) => index === undefined) ? indexes.length : indexes;
    const summary =
      plan.kind === 'create'
        ? { create: created }
        : plan.kind === 'delete'
          ? { delete: plan.pods.map(({ metadata }) => metadata.name) }
          : plan.kind;
    expect(summary).toEqual(expected);
  });

  it('waits after a failure, longer after each one', () => {
    const failed = {
      ...pod('a', 'Failed'),
      status: { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:09:58Z' }] },
    };
    expect(planOf(state(job(), failed))).toEqual({ kind: 'wait', ms: 8_000 });
    const record = nextBackoff({ failures: 2, lastFailureMs: 0 }, [], [failed]);
    expect(backoffMs(record, now)).toBe(38_000);
    expect(backoffMs({ ...record, failures: 30 }, now)).toBe(598_000);
    expect(nextBackoff(record, [pod('b', 'Succeeded')], [])).toEqual({ failures: 0, lastFailureMs: 0 });
  });
});

describe('matchFailurePolicy', () => {
  const rule = (action: string, more: object): { action: string } => ({ action, ...more });
  it.each([
    {
      name: 'ignores an exit code',
      rules: [rule('Ignore', { onExitCodes: { operator: 'In', values: [3] } })],
      expected: { action: 'Ignore', isCounted: false },
    },
    {
      name: 'looks at other containers',
      rules: [rule('Ignore', { onExitCodes: { containerName: 'x', operator: 'In', values: [3] } })],
      expected: { isCounted: true },
    },
    {
      name: 'counts what another rule would ignore',
      rules: [
        rule('Count', { onExitCodes: { operator: 'NotIn', values: [4] } }),
        rule('Ignore', { onExitCodes: { operator: 'In', values: [3] } }),
      ],
      expected: { action: 'Count', isCounted: true },
    },
    {
      name: 'matches conditions',
      rules: [rule('FailJob', { onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] })],
      expected: { action: 'FailJob', isCounted: true, message: 'Pod n/a has condition DisruptionTarget matching FailJob rule at index 0' },
    },
  ])('$name', ({ rules, expected }) => {
    const failed = pod('a', 'Failed', { exitCode: 3, conditions: [{ type: 'DisruptionTarget', status: 'True' }] });
    expect(matchFailurePolicy({ rules }, failed)).toEqual(expected);
  });
});

describe('track', () => {
  it('lists ended pods once and leaves running ones', () => {
    const current = state(
      job({}, { uncountedTerminatedPods: { succeeded: ['a'] } }),
      pod('a', 'Succeeded'),
      pod('b', 'Failed'),
      pod('c', 'Running'),
    );
    const { released, isChanged } = track(current, undefined);
    expect(released.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(isChanged).toBe(true);
    expect(current.status.uncountedTerminatedPods).toEqual({ succeeded: ['a'], failed: ['b'] });
  });

  it('writes the completed indexes instead of pods', () => {
    const current = state(indexed({}, { completedIndexes: '0' }), pod('a', 'Succeeded', { index: 2 }), pod('b', 'Succeeded', { index: 0 }));
    track(current, undefined);
    expect(current.status).toMatchObject({ completedIndexes: '0,2', succeeded: 2, uncountedTerminatedPods: {} });
  });

  it('keeps a failed pod until its replacement has its number of failures', () => {
    const current = state(indexed({ backoffLimitPerIndex: 3 }), pod('a', 'Failed', { index: 1, failures: 0 }));
    expect(track(current, undefined).released).toEqual([]);
  });
});

it('gives the containers of an indexed job their index', () => {
  const template = templateOf(indexed({ template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', value: 'b' }] }] } } }));
  expect(template).toEqual({
    metadata: { finalizers: ['batch.kubernetes.io/job-tracking'] },
    spec: {
      containers: [
        {
          name: 'c',
          env: [
            { name: 'A', value: 'b' },
            {
              name: 'JOB_COMPLETION_INDEX',
              valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" } },
            },
          ],
        },
      ],
    },
  });
});
