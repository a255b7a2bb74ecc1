import type { Pod } from 'kubenest/types/core_v1';
import { describe, expect, it } from 'vitest';
import { isUpToDate, type ReplicaState, statusOf } from './replica-status.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const pod = (labels: Record<string, string>, readyAt?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { labels },
  status: { conditions: readyAt ? [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }] : [] },
});
const state = (more: Partial<ReplicaState> = {}): ReplicaState => ({
  replicas: 3,
  minReadySeconds: 0,
  template: { metadata: { labels: { a: 'b', c: 'd' } } },
  generation: 2,
  status: {},
  ...more,
});
const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'old' };

describe('statusOf', () => {
  it('counts pods that are labelled, ready and available', () => {
    const active = [pod({ a: 'b', c: 'd' }, '2026-01-01T00:00:00Z'), pod({ a: 'b' }, '2026-01-01T00:00:55Z'), pod({ a: 'b' })];
    expect(statusOf(state({ minReadySeconds: 10 }), active, 2, undefined, now)).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 2,
    });
  });

  it.each([
    { name: 'reports a failed creation', pods: 1, error: 'no', conditions: [{ reason: 'FailedCreate', message: 'no' }] },
    { name: 'reports a failed deletion', pods: 4, error: 'no', conditions: [{ reason: 'FailedDelete', message: 'no' }] },
    { name: 'keeps the condition while it fails', pods: 1, error: 'new', present: [failed], conditions: [{ message: 'old' }] },
    { name: 'removes the condition after a success', pods: 3, present: [failed], conditions: undefined },
  ])('$name', ({ pods, error, present, conditions }) => {
    const active = Array.from({ length: pods }, () => pod({ a: 'b' }));
    const status = statusOf(state({ status: { conditions: present ?? [] } }), active, undefined, error ? new Error(error) : undefined, now);
    expect(status.conditions).toEqual(
      conditions?.map((condition) => expect.objectContaining({ type: 'ReplicaFailure', status: 'True', ...condition })),
    );
  });
});

it.each([
  { name: 'an older generation', status: { observedGeneration: 1 }, isEqual: false },
  { name: 'the same counts', status: { observedGeneration: 2 }, isEqual: true },
  { name: 'another count', status: { observedGeneration: 2, replicas: 1 }, isEqual: false },
])('compares $name', ({ status, isEqual }) => {
  const next = statusOf(state(), [], undefined, undefined, now);
  expect(isUpToDate(state({ status }), next)).toBe(isEqual);
});
