import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from 'kubenest/types/apps_v1';
import { describe, expect, it } from 'vitest';
import { nextProgressCheckMs, rolloutStatus } from './deployment-status.ts';

const start = '2026-01-01T00:00:00Z';
const now = Date.parse('2026-01-01T00:01:00Z');
const condition = (type: string, status: string, reason: string): DeploymentCondition => ({
  type,
  status,
  reason,
  lastUpdateTime: start,
  lastTransitionTime: start,
  message: '',
});
const deployment = (status: DeploymentStatus, progressDeadlineSeconds: number | undefined = 600): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', generation: 1 },
  spec: { replicas: 2, strategy: { type: 'Recreate' }, progressDeadlineSeconds },
  status,
});
const set = (replicas: number, available: number, more: object = {}): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'r' },
  spec: { replicas },
  status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1, terminatingReplicas: 0, ...more },
});

/** Returns `STATUS REASON: MESSAGE` of the condition. */
const text = (status: DeploymentStatus, type: string): string | undefined => {
  const found = status.conditions?.find((present) => present.type === type);
  return found && `${found.status} ${found.reason}: ${found.message}`;
};

describe('the condition Progressing', () => {
  const created = condition('Progressing', 'True', 'NewReplicaSetCreated');
  it.each([
    {
      name: 'reports a complete rollout',
      of: { conditions: [created] },
      newSet: set(2, 2),
      expected: 'True NewReplicaSetAvailable: ReplicaSet "r" has successfully progressed.',
    },
    {
      name: 'reports an advance',
      of: { conditions: [created], updatedReplicas: 1 },
      newSet: set(2, 0),
      expected: 'True ReplicaSetUpdated: ReplicaSet "r" is progressing.',
    },
    {
      name: 'stays without an advance',
      of: { conditions: [created], updatedReplicas: 2, replicas: 2 },
      newSet: set(2, 0),
      expected: 'True NewReplicaSetCreated: ',
    },
    {
      name: 'reports a timeout',
      of: { conditions: [created], updatedReplicas: 2, replicas: 2 },
      deadline: 30,
      newSet: set(2, 0),
      expected: 'False ProgressDeadlineExceeded: ReplicaSet "r" has timed out progressing.',
    },
    {
      name: 'stays after success',
      of: { conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable')] },
      deadline: 30,
      newSet: set(2, 0),
      expected: 'True NewReplicaSetAvailable: ',
    },
    { name: 'is absent without a deadline', of: { conditions: [created] }, deadline: 0x7fffffff, newSet: set(2, 2), expected: undefined },
  ])('$name', ({ of, deadline, newSet, expected }) => {
    expect(text(rolloutStatus(deployment(of, deadline), [], newSet, now), 'Progressing')).toBe(expected);
  });

  it('keeps its transition time while the rollout advances', () => {
    const status = rolloutStatus(deployment({ conditions: [created] }), [], set(2, 1), now);
    expect(status.conditions?.at(-1)).toMatchObject({ lastTransitionTime: start, lastUpdateTime: '2026-01-01T00:01:00Z' });
  });
});

it.each([
  { name: 'available', available: 2, expected: 'True MinimumReplicasAvailable: Deployment has minimum availability.' },
  { name: 'not available', available: 1, expected: 'False MinimumReplicasUnavailable: Deployment does not have minimum availability.' },
])('reports that the replicas are $name', ({ available, expected }) => {
  expect(text(rolloutStatus(deployment({}), [], set(2, available), now), 'Available')).toBe(expected);
});

it('copies the failure of a set to create pods', () => {
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no', lastTransitionTime: start };
  const status = rolloutStatus(deployment({}), [], set(0, 0, { conditions: [failure] }), now);
  expect(status.conditions?.at(-1)).toEqual({ ...failure, lastUpdateTime: start });
});

it('leaves terminatingReplicas out if a set does not count them', () => {
  expect(rolloutStatus(deployment({}), [set(1, 1)], set(1, 1), now).terminatingReplicas).toBe(0);
  expect(rolloutStatus(deployment({}), [], set(1, 1, { terminatingReplicas: undefined }), now).terminatingReplicas).toBeUndefined();
});

it('looks again one second after the deadline', () => {
  const stuck = deployment({ conditions: [condition('Progressing', 'True', 'ReplicaSetUpdated')] });
  expect(nextProgressCheckMs(stuck, {}, now)).toBe(541_000);
});
