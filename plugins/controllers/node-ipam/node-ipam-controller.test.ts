import type { KubeObject } from 'kubenest/sdk';
import { FakeCluster } from 'kubenest/sdk/testing';
import { startTestCluster } from 'kubenest/testing';
import type { Node } from 'kubenest/types/core_v1';
import { expect, it, vi } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { CidrSet } from './cidr-set.ts';
import { NodeIpamController } from './node-ipam-controller.ts';

it.each([
  { cidr: '10.244.0.0/16', prefix: 24, expected: ['10.244.0.0/24', '10.244.1.0/24', '10.244.2.0/24'] },
  { cidr: '10.244.5.9/16', prefix: 18, expected: ['10.244.0.0/18', '10.244.64.0/18', '10.244.128.0/18'] },
  { cidr: 'fd00:10:244::/48', prefix: 64, expected: ['fd00:10:244::/64', 'fd00:10:244:1::/64', 'fd00:10:244:2::/64'] },
  { cidr: 'fd00::/112', prefix: 120, expected: ['fd00::/120', 'fd00::100/120', 'fd00::200/120'] },
])('divides $cidr into parts of /$prefix', ({ cidr, prefix, expected }) => {
  const set = new CidrSet(cidr, prefix);
  expect([set.allocate(), set.allocate(), set.allocate()]).toEqual(expected);
});

it.each([
  { name: 'a part', cidr: '10.0.1.0/26', left: ['10.0.0.0/26', '10.0.0.64/26', '10.0.0.128/26', '10.0.0.192/26', '10.0.1.64/26'] },
  { name: 'several parts', cidr: '10.0.0.0/24', left: ['10.0.1.0/26', '10.0.1.64/26', '10.0.1.128/26', '10.0.1.192/26'] },
  { name: 'less than a part', cidr: '10.0.0.70/32', left: ['10.0.0.0/26', '10.0.0.128/26'] },
  { name: 'more than the range', cidr: '10.0.0.0/8', left: [] },
  { name: 'nothing for another range', cidr: '10.1.0.0/24', left: ['10.0.0.0/26', '10.0.0.64/26'] },
  { name: 'nothing for another family', cidr: 'fd00::/64', left: ['10.0.0.0/26', '10.0.0.64/26'] },
  { name: 'nothing for malformed text', cidr: 'x', left: ['10.0.0.0/26', '10.0.0.64/26'] },
])('occupies $name', ({ cidr, left }) => {
  const set = new CidrSet('10.0.0.0/23', 26);
  set.occupy(cidr);
  expect(left.map(() => set.allocate())).toEqual(left);
  if (left.length === 0) expect(() => set.allocate()).toThrow('there are no remaining CIDRs');
});

it('uses a released part again when the others are used', () => {
  const set = new CidrSet('10.0.0.0/24', 25);
  set.release(set.allocate());
  expect([set.allocate(), set.allocate()]).toEqual(['10.0.0.128/25', '10.0.0.0/25']);
  expect(() => set.allocate()).toThrow('there are no remaining CIDRs');
});

const node = (name: string, ...podCIDRs: string[]): KubeObject =>
  partialObject({ metadata: { name }, spec: podCIDRs.length > 0 ? { podCIDR: podCIDRs[0], podCIDRs } : {} });

function started(nodes: readonly KubeObject[], services: string[] = []): { cluster: FakeCluster; controller: NodeIpamController } {
  const cluster = new FakeCluster({ nodes });
  const pods = [
    { cidr: '10.244.0.0/23', nodePrefix: 24 },
    { cidr: 'fd00::/48', nodePrefix: 64 },
  ];
  return { cluster, controller: new NodeIpamController(cluster, cluster, cluster.informers, { pods, services }) };
}
const cidrsOf = (cluster: FakeCluster): unknown => cluster.all('nodes').map((one) => (one as Node).spec?.podCIDRs);

it('gives a node one part of each range that no other node has', async () => {
  const { cluster, controller } = started([node('new'), node('old', '10.244.0.0/24', 'fd00::/64'), node('foreign', '10.9.0.0/24')]);
  for (const name of ['new', 'old', 'foreign', 'gone']) await controller.reconcile({ namespace: '', name });
  expect(cidrsOf(cluster)).toEqual([['10.244.1.0/24', 'fd00:0:0:1::/64'], ['10.244.0.0/24', 'fd00::/64'], ['10.9.0.0/24']]);
  expect(cluster.writes).toHaveLength(1);
});

it('reports a node that gets no addresses, and gives it those of a deleted node', async () => {
  const { cluster, controller } = started([node('first'), node('second')], ['10.244.0.0/24']);
  await controller.reconcile({ namespace: '', name: 'first' });
  await expect(controller.reconcile({ namespace: '', name: 'second' })).rejects.toThrow('no remaining CIDRs');
  expect(cluster.events).toEqual([{ type: 'Normal', reason: 'CIDRNotAvailable', message: 'Node second status is now: CIDRNotAvailable' }]);
  const first = cluster.stored('nodes', '', 'first') as KubeObject;
  await cluster.delete({ group: '', version: 'v1', resource: 'nodes' }, '', 'first');
  expect([...controller.releasedBy(first, undefined)]).toEqual([]);
  await controller.reconcile({ namespace: '', name: 'second' });
  expect(cidrsOf(cluster)).toEqual([['10.244.1.0/24', 'fd00:0:0:1::/64']]);
});

it('gives addresses to a node that joins, with the flags of kube-controller-manager', async () => {
  const flags = ['--allocate-node-cidrs=true', '--cluster-cidr=10.244.0.0/16'];
  await using cluster = await startTestCluster({ controllers: ['node-ipam-controller'], flags });
  await cluster.fetch('/api/v1/nodes', { body: { metadata: { name: 'n' } } });
  await vi.waitFor(async () => {
    const found = (await (await cluster.fetch('/api/v1/nodes/n', {})).json()) as Node;
    expect(found.spec).toMatchObject({ podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'] });
  });
});
