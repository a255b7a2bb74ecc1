import { type ControllerClient, parseSelector, Quantity } from 'kubenest/sdk';
import type { MetricSpec, MetricStatus, MetricTarget } from 'kubenest/types/autoscaling_v2';
import type { Pod } from 'kubenest/types/core_v1';
import { externalMetric, goSelector, objectMetric, podMetric } from './custom-metrics.ts';
import { podUsages } from './pod-metrics.ts';
import {
  replicasForAverage,
  replicasForRatio,
  replicasForUsage,
  replicasForUtilization,
  type Tolerances,
  type UsageInput,
} from './replica-calculator.ts';

/** The scale of the autoscaler's target and what else its metrics are measured with. */
export interface MetricContext {
  readonly client: ControllerClient;
  readonly namespace: string;
  /** Selector of the target's pods. */
  readonly selector: string;
  readonly pods: readonly Pod[];
  /** Replicas that the target should have, and those that it has. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
}

/** Replicas by one metric. */
export interface Proposed {
  readonly replicas: number;
  /** Name of the metric in messages. */
  readonly metric: string;
  readonly status: MetricStatus;
}

/** Failure of a metric. */
export class MetricError extends Error {
  override readonly name = 'MetricError';

  /** `message` is that of the event and the condition, `whole` that of the failure of the autoscaler. */
  constructor(
    message: string,
    readonly whole = message,
  ) {
    super(message);
  }
}

const milliOf = (text: string): number => Number(Quantity.parse(text).milliValue());
const textOf = (milli: number): string => Quantity.fromMilli(milli).toString();

/** Returns the pods of the namespace that the selector matches. */
export function podsOf(all: readonly Pod[], selector: string): readonly Pod[] {
  const matcher = parseSelector(selector);
  return all.filter(({ metadata }) => matcher.matches(metadata.labels ?? {}));
}

/** Proposes replicas by a metric. Throws MetricError. Upstream: computeReplicasForMetric of pkg/controller/podautoscaler/horizontal.go. */
export async function propose(spec: MetricSpec, context: MetricContext): Promise<Proposed> {
  try {
    return await proposeFor(spec, context);
  } catch (error) {
    const { message } = error as Error;
    const whole = error instanceof MetricError ? error.whole : message;
    throw new MetricError(message, `failed to get ${subjectOf(spec)} metric value: ${whole}`);
  }
}

/** Part of the message of a failure that names the metric. */
function subjectOf({ type = '', resource, containerResource, external }: MetricSpec): string {
  if (resource) return `${resource.name} resource`;
  if (containerResource) return `${containerResource.container} container`;
  return external ? `${external.metric?.name} external` : type.toLowerCase();
}

async function proposeFor(spec: MetricSpec, context: MetricContext): Promise<Proposed> {
  const { type = '', resource, containerResource } = spec;
  if (spec.pods) return proposeForPods(spec.pods, context);
  if (spec.object) return proposeForObject(spec.object, context);
  if (spec.external) return proposeForExternal(spec.external, context);
  if (resource) {
    const { name = '', target = {} } = resource;
    const { value, ...proposed } = await proposeForResource(name, '', target, context);
    return { ...proposed, status: { type, resource: { name, current: value } } };
  }
  if (!containerResource) throw new MetricError(`unknown metric source type ${JSON.stringify(type)}`);
  const { name = '', container = '', target = {} } = containerResource;
  const { value, ...proposed } = await proposeForResource(name, container, target, context);
  return { ...proposed, status: { type, containerResource: { name, container, current: value } } };
}

async function proposeForPods({ metric = {}, target = {} }: NonNullable<MetricSpec['pods']>, context: MetricContext): Promise<Proposed> {
  const { client, namespace, selector } = context;
  const usages = await podMetric(client, namespace, selector, metric).catch((error: Error) => {
    throw new Error(`unable to get metric ${metric.name}: ${error.message}`, { cause: error });
  });
  const input = usageInput('', '', usages, context);
  const { replicas, averageMilli } = replicasForUsage(input, milliOf(target.averageValue ?? '0'));
  const status = { type: 'Pods', pods: { metric, current: { averageValue: textOf(averageMilli) } } };
  return { replicas, metric: `pods metric ${metric.name}`, status };
}

async function proposeForObject(
  { describedObject = {}, metric = {}, target = {} }: NonNullable<MetricSpec['object']>,
  context: MetricContext,
): Promise<Proposed> {
  const { client, namespace } = context;
  const usage = await objectMetric(client, namespace, describedObject, metric).catch(({ message }: Error) => {
    // Upstream's format has its arguments in another order.
    const reason = `unable to get metric ${metric.name}: ${describedObject.kind} on ${namespace} ${describedObject.name}/${message}`;
    throw new MetricError(reason, target.type === 'Value' ? reason : `failed to get ${metric.name} object metric: ${reason}`);
  });
  const { replicas, current } = replicasForTarget(usage, target, context);
  const name = target.type === 'Value' ? `${describedObject.kind} metric ${metric.name}` : externalName(metric);
  return { replicas, metric: name, status: { type: 'Object', object: { describedObject, metric, current } } };
}

type Identifier = Parameters<typeof goSelector>[0];
const externalName = (metric: Identifier): string => `external metric ${metric.name}(${goSelector(metric)})`;

async function proposeForExternal(
  { metric = {}, target = {} }: NonNullable<MetricSpec['external']>,
  context: MetricContext,
): Promise<Proposed> {
  const { client, namespace } = context;
  const usage = await externalMetric(client, namespace, metric).catch(({ message }: Error) => {
    const reason = `unable to get external metric ${namespace}/${metric.name}/${goSelector(metric)}: ${message}`;
    const what = target.averageValue === undefined ? `external metric ${metric.name}` : `${metric.name} external metric`;
    throw new MetricError(reason, `failed to get ${what}: ${reason}`);
  });
  const { replicas, current } = replicasForTarget(usage, target, context);
  return { replicas, metric: externalName(metric), status: { type: 'External', external: { metric, current } } };
}

/** Replicas for a metric that is not that of a pod: in relation to all pods, or its average per pod. */
function replicasForTarget(
  usage: number,
  { value, averageValue }: MetricTarget,
  { specReplicas, statusReplicas, pods, tolerances }: MetricContext,
): { readonly replicas: number; readonly current: { value?: string; averageValue?: string } } {
  if (averageValue !== undefined) {
    const replicas = replicasForAverage(usage, milliOf(averageValue), statusReplicas, tolerances);
    return { replicas, current: { averageValue: textOf(statusReplicas === 0 ? 0 : Math.ceil(usage / statusReplicas)) } };
  }
  const ratio = usage / milliOf(value ?? '0');
  return { replicas: replicasForRatio(ratio, specReplicas, pods, tolerances), current: { value: textOf(usage) } };
}

function usageInput(
  resource: string,
  container: string,
  usages: UsageInput['usages'],
  { pods, specReplicas, tolerances, nowMs }: MetricContext,
): UsageInput {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  return { resource, container, currentReplicas: specReplicas, pods, usages, tolerances, nowMs };
}

async function proposeForResource(
  resource: string,
  container: string,
  { averageValue, averageUtilization }: MetricTarget,
  context: MetricContext,
): Promise<Omit<Proposed, 'status'> & { readonly value: { averageUtilization?: number; averageValue: string } }> {
  const { client, namespace, selector } = context;
  const failed = (error: unknown): never => {
    const what = averageValue === undefined ? 'utilization' : 'usage';
    throw new MetricError(`failed to get ${resource} ${what}: ${(error as Error).message}`);
  };
  const unavailable = (error: Error): never => failed(new Error(`unable to get metrics for resource ${resource}: ${error.message}`));
  const usages = await podUsages(client, namespace, selector, resource, container).catch(unavailable);
  try {
    const input = usageInput(resource, container, usages, context);
    const { replicas, averageMilli, utilization } =
      averageValue === undefined ? replicasForUtilization(input, averageUtilization ?? 0) : replicasForUsage(input, milliOf(averageValue));
    const format = resource === 'memory' ? 'BinarySI' : 'DecimalSI';
    const value = {
      averageValue: Quantity.fromMilli(averageMilli, format).toString(),
      ...(utilization !== undefined && { averageUtilization: utilization }),
    };
    const kind = container === '' ? 'resource' : 'container resource';
    const metric = averageValue === undefined ? `${resource} ${kind} utilization (percentage of request)` : `${resource} resource`;
    return { replicas, metric, value };
  } catch (error) {
    return failed(error);
  }
}
