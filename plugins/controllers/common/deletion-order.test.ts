import type { Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { podsToDelete } from './deletion-order.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

interface PodOptions {
  readonly node?: string;
  readonly phase?: string;
  readonly readyAt?: string;
  readonly cost?: string;
  readonly restarts?: number;
  readonly created?: string;
}

const pod = (name: string, options: PodOptions = {}): Pod => {
  const { node = 'n', phase = 'Running', readyAt = '2026-01-01T00:00:00Z', cost, restarts = 0, created = '2026-01-01T00:00:00Z' } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      creationTimestamp: created,
      ...(cost && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
    },
    spec: { nodeName: node },
    status: {
      phase,
      containerStatuses: [{ name: 'c', restartCount: restarts }],
      conditions: readyAt ? [{ type: 'Ready', status: 'True', lastTransitionTime: readyAt }] : [],
    },
  };
};

it.each<{ name: string; keep: PodOptions; remove: PodOptions }>([
  { name: 'not assigned', keep: {}, remove: { node: '' } },
  { name: 'pending', keep: { phase: 'Unknown', readyAt: '' }, remove: { phase: 'Pending', readyAt: '' } },
  { name: 'not ready', keep: {}, remove: { readyAt: '' } },
  { name: 'cheaper', keep: { cost: '10' }, remove: { cost: '-5' } },
  { name: 'valid cost below an invalid one', keep: { cost: '008' }, remove: { cost: '-1' } },
  { name: 'ready for less time', keep: {}, remove: { readyAt: '2026-01-01T00:59:00Z' } },
  { name: 'restarted more often', keep: {}, remove: { restarts: 2 } },
  { name: 'newer', keep: {}, remove: { created: '2026-01-01T00:59:00Z' } },
])('deletes the pod first that is $name', ({ keep, remove }) => {
  const active = [pod('a', keep), pod('b', remove)];
  expect(podsToDelete(active, [], 1, now).map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(podsToDelete(active.toReversed(), [], 1, now).map(({ metadata }) => metadata.name)).toEqual(['b']);
});

it('deletes pods first that share their node with related ones', () => {
  const active = [pod('a', { node: 'x' }), pod('b', { node: 'y' })];
  expect(podsToDelete(active, [...active, pod('c', { node: 'y' })], 1, now)[0]?.metadata.name).toBe('b');
});

it('treats ages as equal that differ little, and compares the UIDs then', () => {
  const active = [pod('b', { readyAt: '2026-01-01T00:00:01Z' }), pod('a', { readyAt: '2026-01-01T00:00:00Z' })];
  expect(podsToDelete(active, [], 1, now)[0]?.metadata.name).toBe('a');
});
