import { startTestCluster, type TestCluster } from 'kubenest/testing';
import type { Pod } from 'kubenest/types/core_v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resourceMetricsText, summary } from './kubelet-pages.ts';
import { resourceMetrics } from './resource-metrics.ts';
import { usageOfPod } from './usage.ts';

const started = '2026-01-01T00:00:00Z';

interface Options {
  readonly namespace?: string;
  readonly requests?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly node?: string;
  readonly isWaiting?: boolean;
}

function pod(name: string, { namespace = 'default', requests = {}, annotations = {}, node = 'sim', isWaiting = false }: Options = {}): Pod {
  const state = isWaiting ? { waiting: { reason: 'ContainerCreating' } } : { running: { startedAt: started } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: name, labels: { app: name }, annotations },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i', resources: { requests } }] },
    status: { phase: 'Running', startTime: started, containerStatuses: [{ name: 'c', state, image: 'i', imageID: '' }] },
  };
}

describe('the usage of a container', () => {
  it.each<{ name: string; pod: Pod; want: [cpu: number, memory: number] | undefined }>([
    { name: 'half of its requests', pod: pod('p', { requests: { cpu: '1', memory: '64Mi' } }), want: [500, 32 * 1024 * 1024] },
    { name: 'little without requests', pod: pod('p'), want: [1, 10 * 1024 * 1024] },
    {
      name: 'as annotated',
      pod: pod('p', { requests: { cpu: '1' }, annotations: { 'node.kubenest.dev/cpu': '1500m', 'node.kubenest.dev/memory.c': '1Gi' } }),
      want: [1_500, 1024 ** 3],
    },
    {
      name: 'as by default if the annotation is invalid',
      pod: pod('p', { annotations: { 'node.kubenest.dev/cpu': 'much' } }),
      want: [1, 10 * 1024 * 1024],
    },
    { name: 'none before it runs', pod: pod('p', { isWaiting: true }), want: undefined },
  ])('is $name', ({ pod: one, want }) => {
    const [usage] = usageOfPod(one);
    expect(usage && [usage.milliCpu, usage.memoryBytes]).toEqual(want);
  });
});

it('the kubelet reports CPU time since the start in Prometheus format', () => {
  const text = resourceMetricsText([pod('web', { requests: { cpu: '1', memory: '64Mi' } })], Date.parse(started) + 10_000);
  expect(text).toBe(
    [
      '# TYPE container_cpu_usage_seconds_total counter',
      'container_cpu_usage_seconds_total{container="c",namespace="default",pod="web"} 5',
      '# TYPE container_memory_working_set_bytes gauge',
      'container_memory_working_set_bytes{container="c",namespace="default",pod="web"} 33554432',
      '# TYPE container_start_time_seconds gauge',
      'container_start_time_seconds{container="c",namespace="default",pod="web"} 1767225600',
      '# TYPE node_cpu_usage_seconds_total counter',
      'node_cpu_usage_seconds_total 5',
      '# TYPE node_memory_working_set_bytes gauge',
      'node_memory_working_set_bytes 33554432',
      '# TYPE resource_scrape_error gauge',
      'resource_scrape_error 0',
      '',
    ].join('\n'),
  );
});

it('the kubelet reports a summary', () => {
  expect(summary('sim', [pod('web', { requests: { cpu: '1' } })], Date.parse(started))).toMatchObject({
    node: { nodeName: 'sim', cpu: { usageNanoCores: 500_000_000 } },
    pods: [
      { podRef: { name: 'web', namespace: 'default', uid: 'web' }, containers: [{ name: 'c', cpu: { usageNanoCores: 500_000_000 } }] },
    ],
  });
});

describe('metrics.k8s.io', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({
      plugins: [...resourceMetrics()],
      objects: [
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'sim', annotations: { 'node.kubenest.dev/simulated': 'true' } } },
        { apiVersion: 'v1', kind: 'Node', metadata: { name: 'real' } },
        pod('a', { requests: { cpu: '1', memory: '64Mi' } }),
        pod('b'),
        pod('waiting', { isWaiting: true }),
        pod('other', { node: 'real' }),
      ].map((object) => ({ ...object, metadata: { ...object.metadata, uid: undefined } }) as never),
    });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const get = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> =>
    (await (await cluster.fetch(`/apis/metrics.k8s.io/v1beta1${path}`, { headers })).json()) as Record<string, unknown>;

  it('lists the pods of simulated nodes that run', async () => {
    const list = await get('/namespaces/default/pods');
    expect(list).toMatchObject({ kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1' });
    expect(list['items']).toMatchObject([
      { metadata: { name: 'a' }, window: '10s', containers: [{ name: 'c', usage: { cpu: '500m', memory: '32768Ki' } }] },
      { metadata: { name: 'b' }, containers: [{ usage: { cpu: '1m', memory: '10240Ki' } }] },
    ]);
  });

  it.each([
    ['/pods?labelSelector=app%3Db', ['b']],
    ['/pods?fieldSelector=metadata.name%3Da', ['a']],
    ['/namespaces/kube-system/pods', []],
    ['/nodes', ['sim']],
  ])('%s lists %j', async (path, names) => {
    const { items } = (await get(path)) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  it('returns a pod, and a node with the sum of its pods', async () => {
    expect(await get('/namespaces/default/pods/a')).toMatchObject({ kind: 'PodMetrics', metadata: { name: 'a', namespace: 'default' } });
    expect(await get('/nodes/sim')).toMatchObject({ kind: 'NodeMetrics', usage: { cpu: '501m', memory: '43008Ki' } });
    expect(await get('/nodes/real')).toMatchObject({ kind: 'Status', code: 404 });
  });

  it('can be printed, but neither written nor watched', async () => {
    const table = await get('/pods', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', expect.anything()] }, { cells: ['b', expect.anything()] }] });
    const { resources } = (await get('')) as { resources: { name: string; kind: string; verbs: string[] }[] };
    expect(resources.map(({ name, kind, verbs }) => [name, kind, verbs])).toEqual([
      ['nodes', 'NodeMetrics', ['get', 'list']],
      ['pods', 'PodMetrics', ['get', 'list']],
    ]);
    const post = await cluster.fetch('/apis/metrics.k8s.io/v1beta1/namespaces/default/pods', { body: { metadata: { name: 'x' } } });
    expect(post.status).toBe(405);
  });
});
