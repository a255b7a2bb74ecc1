import type { Node, Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { orphanedPods, outOfServicePods, surplusPods, unscheduledTerminatingPods } from './collectable-pods.ts';

const pod = (name: string, nodeName?: string, status: object = {}, metadata: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { ...(nodeName && { nodeName }) },
  status,
});
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const names = (pods: readonly Pod[]): unknown[] => pods.map(({ metadata }) => metadata.name);
const node = (ready: string, ...taints: string[]): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});

it('evicted pods are surplus first, then the older ones', () => {
  const pods = [
    pod('new', 'n', { phase: 'Succeeded' }, { creationTimestamp: '2026-01-03T00:00:00Z' }),
    pod('old', 'n', { phase: 'Failed' }, { creationTimestamp: '2026-01-01T00:00:00Z' }),
    pod('evicted', 'n', { phase: 'Failed', reason: 'Evicted' }, { creationTimestamp: '2026-01-04T00:00:00Z' }),
    pod('running', 'n', { phase: 'Running' }),
  ];
  expect(names(surplusPods(pods, 1))).toEqual(['evicted', 'old']);
  expect(surplusPods(pods, 3)).toEqual([]);
});

it('pods that are deleted on a node out of service are collected', () => {
  const pods = [pod('kept', 'n'), pod('gone', 'n', {}, deleted)];
  const out = 'node.kubernetes.io/out-of-service';
  expect(names(outOfServicePods(pods, () => node('Unknown', out)))).toEqual(['gone']);
  expect(outOfServicePods(pods, () => node('True', out))).toEqual([]);
  expect(outOfServicePods(pods, () => node('False'))).toEqual([]);
});

it('pods of unknown nodes, and deleted pods without a node, are collected', () => {
  const pods = [pod('waiting'), pod('orphan', 'missing'), pod('dropped', undefined, {}, deleted)];
  expect(names(orphanedPods(pods, () => undefined))).toEqual(['orphan']);
  expect(orphanedPods(pods, () => node('True'))).toEqual([]);
  expect(names(unscheduledTerminatingPods(pods))).toEqual(['dropped']);
});
