import {
  ageColumn,
  apiGroup,
  type Contribution,
  defineResource,
  type Informer,
  Informers,
  inject,
  type JsonSchemaProps,
  type KubeObject,
  nameColumn,
  PostStartHookPlugin,
} from 'kubenest/sdk';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { simulatedAnnotation } from '../node/node-object.ts';
import { timeText } from '../time.ts';
import { quantitiesOf, sumOf, usageOfPod } from './usage.ts';

const apiVersion = 'metrics.k8s.io/v1beta1';
/** Reported time over which the usage was measured. */
const window = '10s';
const quantities: JsonSchemaProps = { type: 'object', additionalProperties: { type: 'string' } };
const times: Record<string, JsonSchemaProps> = { timestamp: { type: 'string', format: 'date-time' }, window: { type: 'string' } };
const nodeSchema: JsonSchemaProps = { type: 'object', properties: { ...times, usage: quantities } };
const podSchema: JsonSchemaProps = {
  type: 'object',
  properties: {
    ...times,
    containers: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, usage: quantities } } },
  },
};

/** Caches of a server, once it has started. */
interface Source {
  pods?: Informer<Pod>;
  nodes?: Informer<Node>;
}

/**
 * The API group metrics.k8s.io/v1beta1 for the pods of simulated nodes, so that `kubectl top` and HorizontalPodAutoscalers work. It is
 * computed from the pods, on each server. Each call returns the contributions for one server. Upstream: metrics-server.
 */
export function resourceMetrics(): readonly Contribution[] {
  const source: Source = {};
  const common = { versions: [{ name: 'v1beta1', schema: podSchema }], columns: [nameColumn, ageColumn] };
  const pods = defineResource({ ...common, kind: 'PodMetrics', resource: 'pods', read: (namespace) => podMetrics(source, namespace) });
  const nodes = defineResource({
    ...common,
    kind: 'NodeMetrics',
    resource: 'nodes',
    namespaced: false,
    versions: [{ name: 'v1beta1', schema: nodeSchema }],
    read: () => nodeMetrics(source),
  });

  @PostStartHookPlugin({ name: 'SimulatedResourceMetrics' })
  class MetricsSource {
    constructor(@inject(Informers) informers: Informers) {
      source.pods = informers.for<Pod>({ group: '', resource: 'pods' });
      source.nodes = informers.for<Node>({ group: '', resource: 'nodes' });
    }

    run(): void {}
  }

  const approval = 'https://github.com/kubernetes/metrics';
  return [apiGroup({ name: 'SimulatedResourceMetrics', group: 'metrics.k8s.io', approval, resources: [nodes, pods] }), MetricsSource];
}

const isSimulated = (node: Node | undefined): boolean => node?.metadata.annotations?.[simulatedAnnotation] === 'true';

function podMetrics({ pods, nodes }: Source, namespace: string): KubeObject[] {
  const timestamp = timeText(Date.now());
  return (pods?.list(namespace) ?? []).flatMap((pod) => {
    if (!isSimulated(nodes?.get('', pod.spec?.nodeName ?? ''))) return [];
    const usages = usageOfPod(pod);
    if (usages.length === 0) return [];
    const { name, namespace: own, labels } = pod.metadata;
    return [
      {
        apiVersion,
        kind: 'PodMetrics',
        metadata: {
          ...(name !== undefined && { name }),
          ...(own !== undefined && { namespace: own }),
          creationTimestamp: timestamp,
          ...(labels && { labels }),
        },
        timestamp,
        window,
        containers: usages.map((usage) => ({ name: usage.container, usage: quantitiesOf(usage) })),
      },
    ];
  });
}

function nodeMetrics({ pods, nodes }: Source): KubeObject[] {
  const timestamp = timeText(Date.now());
  const byNode = Map.groupBy(pods?.list() ?? [], ({ spec }) => spec?.nodeName);
  return (nodes?.list() ?? []).filter(isSimulated).map(({ metadata: { name, labels } }) => {
    const usage = sumOf((byNode.get(name) ?? []).flatMap(usageOfPod));
    const metadata = { ...(name !== undefined && { name }), creationTimestamp: timestamp, ...(labels && { labels }) };
    return { apiVersion, kind: 'NodeMetrics', metadata, timestamp, window, usage: quantitiesOf(usage) };
  });
}
