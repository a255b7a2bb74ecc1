/** Reads the APIs of custom and external metrics. Upstream: pkg/controller/podautoscaler/metrics/client.go, k8s.io/metrics/pkg/client. */
import {
  type ControllerClient,
  isNotFound,
  labelSelectorAsSelector,
  type LabelSelectorSource,
  parseTime,
  Quantity,
  servedResources,
} from 'kubenest/sdk';
import type { CrossVersionObjectReference, MetricIdentifier } from 'kubenest/types/autoscaling_v2';
import type { PodUsage } from './pod-metrics.ts';

const customGroup = 'custom.metrics.k8s.io';
/** Versions of the custom metrics API, the preferred one first. */
const customVersions = ['v1beta2', 'v1beta1'];
const externalPath = '/apis/external.metrics.k8s.io/v1beta1';
const defaultWindowMs = 60_000;

/** A value of the custom metrics API. Upstream: custom_metrics MetricValue. */
interface MetricValue {
  readonly describedObject?: { readonly name?: string };
  readonly timestamp?: string;
  readonly windowSeconds?: number;
  readonly window?: number;
  readonly value?: string;
}

const milli = (text: string | undefined): number => Number(Quantity.parse(text ?? '0').milliValue());

const selectorText = ({ selector }: MetricIdentifier): string =>
  selector ? labelSelectorAsSelector(selector as LabelSelectorSource).toString() : '';

/** Returns a metric of the pods that match, by the names of the pods. */
export async function podMetric(
  client: ControllerClient,
  namespace: string,
  selector: string,
  metric: MetricIdentifier,
): Promise<Map<string, PodUsage>> {
  const items = await customMetric(client, `namespaces/${namespace}/pods/*`, metric, selector);
  if (items.length === 0) throw new Error('no metrics returned from custom metrics API');
  return new Map(
    items.map(({ describedObject, timestamp, windowSeconds, window, value }) => {
      const seconds = windowSeconds ?? window;
      const windowMs = seconds === undefined ? defaultWindowMs : seconds * 1_000;
      return [describedObject?.name ?? '', { milli: milli(value), atMs: timestamp ? parseTime(timestamp) : 0, windowMs }] as const;
    }),
  );
}

/** Returns a metric of an object, in thousandths. The metric of a namespace is always that of the autoscaler's own. */
export async function objectMetric(
  client: ControllerClient,
  namespace: string,
  { apiVersion = '', kind = '', name = '' }: CrossVersionObjectReference,
  metric: MetricIdentifier,
): Promise<number> {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '';
  const path =
    kind === 'Namespace' && group === ''
      ? `namespaces/${namespace}/metrics`
      : `namespaces/${namespace}/${await qualifiedResource(client, group, kind)}/${name}`;
  const items = await customMetric(client, path, metric);
  const [value] = items;
  if (!value || items.length > 1)
    throw unavailable(`the custom metrics API server returned ${items.length} results when we asked for exactly one`);
  return milli(value.value);
}

async function qualifiedResource(client: ControllerClient, group: string, kind: string): Promise<string> {
  const { resources } = await servedResources(client);
  const served = resources.find((resource) => resource.group === group && resource.kind === kind);
  if (!served) {
    const full = group === '' ? kind : `${kind}.${group}`;
    throw unavailable(`unable to map kind ${full} to resource: no matches for kind "${kind}" in group "${group}"`);
  }
  return group === '' ? served.resource : `${served.resource}.${group}`;
}

const unavailable = (text: string): Error => new Error(`unable to fetch metrics from custom metrics API: ${text}`);

async function customMetric(
  client: ControllerClient,
  place: string,
  metric: MetricIdentifier,
  selector?: string,
): Promise<readonly MetricValue[]> {
  const query = new URLSearchParams();
  if (selector !== undefined) query.set('labelSelector', selector);
  const ofMetric = selectorText(metric);
  if (ofMetric !== '') query.set('metricLabelSelector', ofMetric);
  try {
    const version = await customVersion(client);
    const path = `/apis/${customGroup}/${version}/${place}/${metric.name}`;
    const { items } = await client.read<{ readonly items: readonly MetricValue[] }>(query.size === 0 ? path : `${path}?${query}`);
    return items;
  } catch (error) {
    throw unavailable((error as Error).message);
  }
}

/** Returns the preferred version that is served. */
async function customVersion(client: ControllerClient): Promise<string> {
  try {
    const group = await client.read<{ readonly versions?: readonly { readonly version: string }[] }>(`/apis/${customGroup}`);
    const found = customVersions.find((version) => group.versions?.some((served) => served.version === version));
    if (found) return found;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  throw new Error(`no custom metrics API (${customGroup}) registered`);
}

/** Returns the sum of the values of an external metric, in thousandths. */
export async function externalMetric(client: ControllerClient, namespace: string, metric: MetricIdentifier): Promise<number> {
  const selector = selectorText(metric);
  const query = selector === '' ? '' : `?${new URLSearchParams({ labelSelector: selector })}`;
  let items: readonly { readonly value?: string }[];
  try {
    const path = `${externalPath}/namespaces/${namespace}/${metric.name}${query}`;
    ({ items } = await client.read<{ readonly items: readonly { readonly value?: string }[] }>(path));
  } catch (error) {
    const text = isNotFound(error)
      ? `the server could not find the requested resource (get ${metric.name}.external.metrics.k8s.io)`
      : (error as Error).message;
    throw new Error(`unable to fetch metrics from external metrics API: ${text}`, { cause: error });
  }
  if (items.length === 0) throw new Error('no metrics returned from external metrics API');
  return items.reduce((sum, { value }) => sum + milli(value), 0);
}

/** Formats a selector as Go prints it in messages. */
export function goSelector({ selector }: MetricIdentifier): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const labelMap = labels === '' ? 'map[string]string{}' : `map[string]string{${labels}}`;
  return `&LabelSelector{MatchLabels:${labelMap},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
