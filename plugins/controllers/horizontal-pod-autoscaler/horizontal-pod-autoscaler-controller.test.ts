import type { KubeObject } from 'kubenest/sdk';
import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import type { HorizontalPodAutoscaler } from 'kubenest/types/autoscaling_v2';
import type { ReplicaSet } from 'kubenest/types/apps_v1';
import { startTestCluster, type TestCluster } from 'kubenest/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Workloads } from '../common/testing/workload-cluster.ts';

const collection = 'autoscaling/v2/horizontalpodautoscalers';
/** Serves metrics that the test writes. */
const metricsDefinition = (group: string, kind: string, plural: string): KubeObject =>
  newDefinition({ group, kind, plural, versions: ['v1beta1'], annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' } });
let cluster: TestCluster;
let workloads: Workloads;
beforeAll(async () => {
  const controllers = ['horizontal-pod-autoscaler-controller', 'replicaset-controller'];
  cluster = await startTestCluster({ controllers, objects: [metricsDefinition('metrics.k8s.io', 'PodMetrics', 'pods')] });
  workloads = new Workloads(cluster);
});
afterAll(() => cluster[Symbol.asyncDispose]());

const createSet = (name: string, replicas: number): Promise<ReplicaSet> =>
  workloads.create('apps/v1/replicasets', {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] },
      },
    },
  });
const createAutoscaler = (name: string, spec: object): Promise<HorizontalPodAutoscaler> =>
  workloads.create(collection, {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name },
      maxReplicas: 10,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
      ...spec,
    },
  });
const conditions = async (name: string): Promise<string[]> =>
  ((await workloads.get<HorizontalPodAutoscaler>(collection, name)).status?.conditions ?? []).map(
    ({ type, status, reason }) => `${type} ${status} ${reason}`,
  );

it('scales a set by the CPU usage of its pods', async () => {
  await createSet('busy', 2);
  await vi.waitFor(async () => expect(await workloads.pods('app=busy')).toHaveLength(2));
  for (const pod of await workloads.pods('app=busy')) {
    const name = pod.metadata.name as string;
    await workloads.setPhase(pod, 'Running', { startTime: '2026-01-01T00:00:00Z' });
    const timestamp = new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, '');
    const containers = [{ name: 'c', usage: { cpu: '90m' } }];
    await workloads.create('metrics.k8s.io/v1beta1/pods', {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name, labels: { app: 'busy' } },
      timestamp,
      window: '10s',
      containers,
    });
  }
  await createAutoscaler('busy', {});
  await vi.waitFor(async () => expect((await workloads.get<ReplicaSet>('apps/v1/replicasets', 'busy')).spec?.replicas).toBe(4));
  await vi.waitFor(async () => {
    const { status } = await workloads.get<HorizontalPodAutoscaler>(collection, 'busy');
    expect(status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 4,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 90, averageValue: '90m' } } }],
    });
  });
  expect(await conditions('busy')).toEqual([
    'AbleToScale True SucceededRescale',
    'ScalingActive True ValidMetricFound',
    'ScalingLimited False DesiredWithinRange',
  ]);
  await vi.waitFor(async () =>
    expect(await workloads.events('busy')).toContain(
      'Normal SuccessfulRescale: New size: 4; reason: cpu resource utilization (percentage of request) above target',
    ),
  );
});

it('keeps the minimum without metrics, and reports that there are none', async () => {
  await createSet('idle', 1);
  await createAutoscaler('idle', { minReplicas: 3 });
  await vi.waitFor(async () => expect((await workloads.get<ReplicaSet>('apps/v1/replicasets', 'idle')).spec?.replicas).toBe(3));
  await createSet('blind', 1);
  await createAutoscaler('blind', {});
  await vi.waitFor(async () =>
    expect(await conditions('blind')).toEqual(['AbleToScale True SucceededGetScale', 'ScalingActive False FailedGetResourceMetric']),
  );
  expect(await workloads.events('blind')).toContain(
    'Warning FailedGetResourceMetric: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
  );
});

it('reports a target that does not exist', async () => {
  await createAutoscaler('lost', {});
  await vi.waitFor(async () => expect(await conditions('lost')).toEqual(['AbleToScale False FailedGetScale']));
  expect(await workloads.events('lost')).toContain('Warning FailedGetScale: replicasets.apps "lost" not found');
});

it('scales to zero by an external metric, and up again', async () => {
  const group = 'external.metrics.k8s.io';
  await using other = await startTestCluster({
    controllers: ['horizontal-pod-autoscaler-controller', 'replicaset-controller'],
    objects: [metricsDefinition(group, 'Queue', 'queue')],
    flags: ['--feature-gates=HPAScaleToZero=true'],
  });
  const scaled = new Workloads(other);
  const value = await scaled.create(`${group}/v1beta1/queue`, {
    apiVersion: `${group}/v1beta1`,
    kind: 'Queue',
    metadata: { name: 'q' },
    value: '0',
  });
  await scaled.create('apps/v1/replicasets', {
    metadata: { name: 'worker' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'worker' } },
      template: { metadata: { labels: { app: 'worker' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const pods = await vi.waitFor(async () => {
    const found = await scaled.pods('app=worker');
    expect(found).toHaveLength(1);
    return found;
  });
  for (const pod of pods)
    await scaled.setPhase(pod, 'Running', { startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] });
  const autoscaler = await scaled.create<HorizontalPodAutoscaler>(collection, {
    metadata: { name: 'worker' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'worker' },
      minReplicas: 0,
      maxReplicas: 10,
      metrics: [{ type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    },
  });
  const replicas = async (): Promise<number | undefined> => (await scaled.get<ReplicaSet>('apps/v1/replicasets', 'worker')).spec?.replicas;
  const condition = async (): Promise<object | undefined> =>
    (await scaled.get<HorizontalPodAutoscaler>(collection, 'worker')).status?.conditions?.find(({ type }) => type === 'ScaledToZero');
  await vi.waitFor(async () => expect(await replicas()).toBe(0));
  await vi.waitFor(async () => expect(await condition()).toMatchObject({ status: 'True', reason: 'ScaledToZero' }));
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patch = (path: string, body: object): Promise<Response> => other.fetch(path, { method: 'PATCH', headers, body });
  await patch(`/apis/${group}/v1beta1/namespaces/default/queue/${value.metadata.name}`, { value: '25' });
  // A change of the specification measures again at once.
  await patch(`/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/${autoscaler.metadata.name}`, { spec: { maxReplicas: 5 } });
  await vi.waitFor(async () => expect(await replicas()).toBe(3));
  await vi.waitFor(async () => expect(await condition()).toMatchObject({ status: 'False', reason: 'NotScaledToZero' }));
});
