import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { ClusterSize } from './cluster-size.ts';
import { TtlController } from './ttl-controller.ts';

const node = (name: string, annotations?: Record<string, string>): KubeObject => partialObject({ metadata: { name, annotations } });
const ttl = (value: string): Record<string, string> => ({ 'node.alpha.kubernetes.io/ttl': value });
const nodes = (count: number, annotations?: Record<string, string>): { nodes: KubeObject[] } => ({
  nodes: Array.from({ length: count }, (_, at) => node(`n${at}`, annotations)),
});
const writes = ['patch nodes n0'];

reconcileTable(TtlController, [
  {
    name: 'annotates a node of a small cluster',
    objects: nodes(1),
    request: 'n0',
    writes,
    want: { nodes: { n0: { metadata: { annotations: ttl('0') } } } },
  },
  { name: 'leaves an annotated node alone', objects: nodes(1, ttl('0')), request: 'n0' },
  {
    name: 'changes the value when the cluster has grown',
    objects: nodes(101, ttl('0')),
    request: 'n0',
    writes,
    want: { nodes: { n0: { metadata: { annotations: ttl('15') } } } },
  },
  { name: 'replaces a value that is not a number', objects: nodes(1, ttl('')), request: 'n0', writes },
  { name: 'ignores a node that is gone', request: 'n0' },
]);

it('keeps the size of a cluster at a boundary', () => {
  const size = new ClusterSize();
  const counts = [100, 101, 95, 89, 501, 460, 449, 5_000, 1_799, 0];
  expect(counts.map((count) => size.ttlSeconds(count))).toEqual([0, 15, 15, 0, 30, 30, 15, 300, 60, 0]);
});
