import { type ControllerClient, newNotFound } from 'kubenest/sdk';
import type { MetricSpec } from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { expect, it } from 'vitest';
import { type MetricContext, MetricError, propose } from './metric-proposals.ts';

const custom = '/apis/custom.metrics.k8s.io';
const external = '/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/queue';
const versions = { versions: [{ version: 'v1beta1' }, { version: 'v1beta2' }] };
const running = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] },
});

function contextOf(answers: Record<string, unknown>, replicas = 2, pods = [running('a'), running('b')]): MetricContext {
  const read = async (path: string): Promise<unknown> => {
    if (Object.hasOwn(answers, path)) return answers[path];
    throw newNotFound({ group: '', resource: 'paths' }, path);
  };
  return {
    client: { read } as unknown as ControllerClient,
    namespace: 'ns',
    selector: 'app=web',
    pods,
    specReplicas: replicas,
    statusReplicas: replicas,
    tolerances: { up: 0.1, down: 0.1 },
    nowMs: 0,
  };
}

const podsMetric: MetricSpec = {
  type: 'Pods',
  pods: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '10' } },
};
const objectOf = (target: object, kind = 'Service'): MetricSpec => ({
  type: 'Object',
  object: { describedObject: { apiVersion: 'v1', kind, name: 'web' }, metric: { name: 'requests' }, target },
});
const externalOf = (target: object, selector?: object): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'queue', ...(selector && { selector }) }, target },
});
const services = {
  '/api': {
    items: [{ metadata: {}, versions: [{ version: 'v1', resources: [{ resource: 'services', responseKind: { kind: 'Service' } }] }] }],
  },
  '/apis': { items: [] },
};
const values = (...list: string[]): object => ({ items: list.map((value) => ({ value })) });

interface Case {
  readonly name: string;
  readonly metric: MetricSpec;
  readonly answers: Record<string, unknown>;
  readonly replicas?: number;
  readonly pods?: Pod[];
  readonly want: { replicas: number; metric: string; current: object };
}

it.each<Case>([
  {
    name: 'the average of a metric of the pods',
    metric: podsMetric,
    answers: {
      [custom]: versions,
      [`${custom}/v1beta2/namespaces/ns/pods/*/requests?labelSelector=app%3Dweb`]: {
        items: ['a', 'b'].map((name, i) => ({ describedObject: { name }, value: `${20 + 10 * i}` })),
      },
    },
    want: { replicas: 5, metric: 'pods metric requests', current: { averageValue: '25' } },
  },
  {
    name: 'the value of a metric of an object',
    metric: objectOf({ type: 'Value', value: '100' }),
    answers: { ...services, [custom]: versions, [`${custom}/v1beta2/namespaces/ns/services/web/requests`]: values('150') },
    want: { replicas: 3, metric: 'Service metric requests', current: { value: '150' } },
  },
  {
    name: 'the share of a metric of the namespace',
    metric: objectOf({ type: 'AverageValue', averageValue: '500m' }, 'Namespace'),
    answers: { [custom]: { versions: [{ version: 'v1beta1' }] }, [`${custom}/v1beta1/namespaces/ns/metrics/requests`]: values('4') },
    want: { replicas: 8, metric: 'external metric requests(nil)', current: { averageValue: '2' } },
  },
  {
    name: 'the sum of an external metric',
    metric: externalOf({ type: 'Value', value: '10' }, { matchLabels: { q: 'x' } }),
    answers: { [`${external}?labelSelector=q%3Dx`]: values('15', '25') },
    want: {
      replicas: 8,
      metric: 'external metric queue(&LabelSelector{MatchLabels:map[string]string{q: x,},MatchExpressions:[]LabelSelectorRequirement{},})',
      current: { value: '40' },
    },
  },
  {
    name: 'a value within the tolerance',
    metric: externalOf({ type: 'AverageValue', averageValue: '10' }),
    answers: { [external]: values('21') },
    want: { replicas: 2, metric: 'external metric queue(nil)', current: { averageValue: '10500m' } },
  },
  {
    name: 'the value of an external metric without replicas',
    metric: externalOf({ type: 'Value', value: '10' }),
    answers: { [external]: values('25') },
    replicas: 0,
    pods: [],
    want: { replicas: 3, metric: 'external metric queue(nil)', current: { value: '25' } },
  },
])('proposes replicas for $name', async ({ metric, answers, replicas, pods, want }) => {
  const { status, ...proposed } = await propose(metric, contextOf(answers, replicas, pods));
  const { pods: ofPods, object, external: ofExternal } = status;
  expect({ ...proposed, current: (ofPods ?? object ?? ofExternal)?.current }).toEqual(want);
});

it.each<{ name: string; metric: MetricSpec; answers?: Record<string, unknown>; message: string; whole: string }>([
  {
    name: 'a metric of pods without the API',
    metric: podsMetric,
    message:
      'unable to get metric requests: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
    whole:
      'failed to get pods metric value: unable to get metric requests: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered',
  },
  {
    name: 'an external metric without values',
    metric: externalOf({ type: 'Value', value: '10' }),
    answers: { [external]: values() },
    message: 'unable to get external metric ns/queue/nil: no metrics returned from external metrics API',
    whole:
      'failed to get queue external metric value: failed to get external metric queue: unable to get external metric ns/queue/nil: no metrics returned from external metrics API',
  },
])('reports $name', async ({ metric, answers = {}, message, whole }) => {
  await expect(propose(metric, contextOf(answers))).rejects.toMatchObject({ name: 'MetricError', message, whole });
  expect(new MetricError('a').whole).toBe('a');
});
