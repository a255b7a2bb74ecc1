import type { ReconcileRequest } from 'kubenest/sdk';
import { FakeClock, FakeCluster } from 'kubenest/sdk/testing';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { expect, it } from 'vitest';
import { partialObject } from '../common/testing/partial-object.ts';
import { DeviceTaintEvictionController } from './device-taint-eviction-controller.ts';

const periodMs = 10_000;

it('reports a rule once per period, however many pods it evicts meanwhile', async () => {
  const clock = new FakeClock();
  const timeAdded = new Date(clock.wallTime()).toISOString();
  const names = ['a', 'b', 'c'];
  const cluster = new FakeCluster({
    pods: names.map((name) =>
      partialObject({
        metadata: { namespace: 'n', name, uid: name },
        spec: { nodeName: 'node', resourceClaims: [{ name: 'x', resourceClaimName: name }] },
      }),
    ),
    'resourceclaims.resource.k8s.io': names.map((name) =>
      partialObject({
        metadata: { namespace: 'n', name },
        status: {
          reservedFor: [{ resource: 'pods', name, uid: name }],
          allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: name }] } },
        },
      }),
    ),
    'devicetaintrules.resource.k8s.io': [
      partialObject({
        metadata: { name: 'rule', uid: 'rule', generation: 1 },
        spec: { deviceSelector: { driver: 'd' }, taint: { key: 'broken', effect: 'NoExecute', timeAdded } },
      }),
    ],
  });
  const requests: ReconcileRequest[] = [];
  const controller = new DeviceTaintEvictionController(
    cluster,
    cluster,
    cluster.informers,
    { add: (request) => void requests.push(request), addAfter: () => {} },
    clock,
    { enabled: () => true },
  );

  for (const name of names) await controller.reconcile({ namespace: 'n', name });
  expect(cluster.all('pods')).toEqual([]);
  await clock.advance(periodMs - 1);
  expect(requests).toEqual([]);
  await clock.advance(1);
  expect(requests).toEqual([{ namespace: '', name: 'rule' }]);
  await controller.reconcile({ namespace: '', name: 'rule' });
  const { status } = cluster.stored('devicetaintrules.resource.k8s.io', '', 'rule') as DeviceTaintRule;
  expect(status?.conditions).toMatchObject([{ reason: 'Completed', message: '3 pods evicted since starting the controller.' }]);
  // The next report waits for the end of the period.
  requests.length = 0;
  await clock.advance(10 * periodMs);
  expect(requests).toEqual([]);
});
