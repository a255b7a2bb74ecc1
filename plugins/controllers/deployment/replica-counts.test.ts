import type { Deployment, ReplicaSet } from 'kubenest/types/apps_v1';
import { describe, expect, it } from 'vitest';
import { maxUnavailable, newSetReplicas, oldSetScalings, proportionalSizes } from './replica-counts.ts';

const deployment = (replicas: number, maxSurge: number | string, unavailable: number | string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: unavailable } } },
});
const set = (name: string, replicas: number, availableReplicas = replicas, max?: number): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    name,
    creationTimestamp: `2026-01-0${name.charCodeAt(0) - 96}T00:00:00Z`,
    ...(max !== undefined && { annotations: { 'deployment.kubernetes.io/max-replicas': String(max) } }),
  },
  spec: { replicas },
  status: { replicas, availableReplicas },
});

it.each([
  { name: 'rounds down', of: deployment(10, '25%', '25%'), expected: 2 },
  { name: 'is 1 if nothing could change otherwise', of: deployment(3, 0, '10%'), expected: 1 },
  { name: 'is at most the number of replicas', of: deployment(2, 0, 5), expected: 2 },
  { name: 'is 0 without replicas', of: deployment(0, 1, 5), expected: 0 },
])('maxUnavailable $name', ({ of, expected }) => {
  expect(maxUnavailable(of)).toBe(expected);
});

it.each([
  { name: 'all replicas at first', old: [], current: 0, expected: 10 },
  { name: 'the surge beside the old pods', old: [set('a', 10)], current: 0, expected: 3 },
  { name: 'no more than there is room', old: [set('a', 8)], current: 3, expected: 5 },
  { name: 'its size while there is no room', old: [set('a', 10)], current: 3, expected: 3 },
])('the new set gets $name', ({ old, current, expected }) => {
  expect(newSetReplicas(deployment(10, '25%', '25%'), [...old, set('z', current)], current)).toBe(expected);
});

describe('oldSetScalings', () => {
  // From the comment on reconcileOldReplicaSets of pkg/controller/deployment/rolling.go.
  it.each([
    { name: 'nothing while new pods are not available', newSet: set('z', 5, 0), old: [set('a', 8)], expected: [] },
    { name: 'pods that the surge allows', newSet: set('z', 5, 5), old: [set('a', 8)], expected: [['a', 3]] },
    {
      name: 'pods that are not available first',
      newSet: set('z', 3, 1),
      old: [set('a', 8), set('b', 2, 0)],
      expected: [
        ['b', 0],
        ['a', 7],
      ],
    },
    {
      name: 'the oldest set first',
      newSet: set('z', 5, 5),
      old: [set('b', 4), set('a', 4)],
      expected: [
        ['a', 0],
        ['b', 3],
      ],
    },
  ])('removes $name', ({ newSet, old, expected }) => {
    const scalings = oldSetScalings(deployment(10, 3, 2), newSet, old);
    expect(scalings.map(([{ metadata }, size]) => [metadata.name, size])).toEqual(expected);
  });
});

describe('proportionalSizes', () => {
  it.each([
    { name: '10 to 12 in one old and the new set', to: 12, sets: [set('b', 5, 5, 10), set('a', 5, 5, 10)], expected: { a: 6, b: 6 } },
    {
      name: '10 to 20 in sets of 5, 3 and 2',
      to: 20,
      sets: [set('c', 5, 5, 10), set('b', 3, 3, 10), set('a', 2, 2, 10)],
      expected: { a: 4, b: 6, c: 10 },
    },
    {
      name: '10 to 5 in sets of 5, 3 and 2',
      to: 5,
      sets: [set('c', 5, 5, 10), set('b', 3, 3, 10), set('a', 2, 2, 10)],
      expected: { a: 1, b: 2, c: 2 },
    },
    { name: '10 to 0', to: 0, sets: [set('b', 8, 8, 10), set('a', 2, 2, 10)], expected: { a: 0, b: 0 } },
  ])('scales $name', ({ to, sets, expected }) => {
    const sizes = proportionalSizes(deployment(to, 0, 1), sets);
    expect(Object.fromEntries(sizes.map(([{ metadata }, size]) => [metadata.name, size]))).toEqual(expected);
  });
});
