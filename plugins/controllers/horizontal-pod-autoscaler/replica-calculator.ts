import { parseTime, Quantity } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { PodUsage } from './pod-metrics.ts';

/** Time after the start of a pod in which its CPU usage counts only if measured while it was ready. */
const cpuInitializationMs = 5 * 60_000;
/** Time after the start of a pod in which it may become ready for the first time. */
const initialReadinessMs = 30_000;

/** Shares by which the usage may deviate from the target without scaling. */
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

export interface UsageInput {
  readonly resource: string;
  readonly container: string;
  readonly currentReplicas: number;
  readonly pods: readonly Pod[];
  readonly usages: ReadonlyMap<string, PodUsage>;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
}

export interface Proposal {
  readonly replicas: number;
  /** Average usage, in thousandths. */
  readonly averageMilli: number;
  /** Usage in percent of the requests; only for a target in percent. */
  readonly utilization?: number;
}

interface Groups {
  readonly ready: number;
  readonly unready: readonly Pod[];
  readonly missing: readonly Pod[];
  readonly usages: Map<string, number>;
}

function isUnready({ status }: Pod, { atMs, windowMs }: PodUsage, nowMs: number): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  if (!condition || !status?.startTime) return true;
  const startMs = parseTime(status.startTime);
  const changedMs = condition.lastTransitionTime ? parseTime(condition.lastTransitionTime) : 0;
  const isFalse = condition.status === 'False';
  if (startMs + cpuInitializationMs > nowMs) return isFalse || atMs < changedMs + windowMs;
  return isFalse && startMs + initialReadinessMs > changedMs;
}

/** Groups pods by whether their usage counts. Upstream: groupPods of replica_calculator.go. */
function groupPods({ pods, usages, resource, nowMs }: UsageInput): Groups {
  const unready: Pod[] = [];
  const missing: Pod[] = [];
  const counted = new Map<string, number>();
  for (const pod of pods) {
    const name = pod.metadata.name as string;
    if (pod.metadata.deletionTimestamp || pod.status?.phase === 'Failed') continue;
    const usage = usages.get(name);
    if (pod.status?.phase === 'Pending') unready.push(pod);
    else if (!usage) missing.push(pod);
    else if (resource === 'cpu' && isUnready(pod, usage, nowMs)) unready.push(pod);
    else counted.set(name, usage.milli);
  }
  if (counted.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { ready: counted.size, unready, missing, usages: counted };
}

/** Returns the request of a pod, in thousandths: that of the pod, or the sum of its containers, or that of one container. */
export function requestOf({ metadata, spec }: Pod, container: string, resource: string): number {
  const podLevel = container === '' ? spec?.resources?.requests?.[resource] : undefined;
  if (podLevel !== undefined) return Number(Quantity.parse(podLevel).milliValue());
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  const containers = [...(spec?.containers ?? []), ...sidecars].filter(({ name }) => container === '' || name === container);
  if (containers.length === 0 && container !== '') throw new Error(`container ${container} not found in Pod ${metadata.name}`);
  return containers.reduce((sum, { name, resources }) => {
    const request = resources?.requests?.[resource];
    if (request === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
    return sum + Number(Quantity.parse(request).milliValue());
  }, 0);
}

/** Relation of the usage to the target. */
interface Ratio {
  readonly ratio: number;
  readonly averageMilli: number;
  readonly utilization?: number;
}

/** Proposes replicas so that the usage in percent of the requests meets the target. Upstream: GetResourceReplicas. */
export function replicasForUtilization(input: UsageInput, target: number): Proposal {
  const groups = groupPods(input);
  const requests = new Map(input.pods.map((pod) => [pod.metadata.name as string, requestOf(pod, input.container, input.resource)]));
  const ratioOf = (usages: ReadonlyMap<string, number>): Ratio => {
    let [used, requested] = [0, 0];
    for (const [name, milli] of usages) {
      used += milli;
      requested += requests.get(name) ?? 0;
    }
    if (requested === 0) throw new Error('no metrics returned matched known pods');
    const utilization = Math.trunc((used * 100) / requested);
    return { ratio: utilization / target, averageMilli: Math.trunc(used / usages.size), utilization };
  };
  const fallback = (name: string): number => Math.trunc(((requests.get(name) ?? 0) * Math.max(100, target)) / 100);
  return propose(input, groups, ratioOf, fallback);
}

/** Proposes replicas so that the average usage meets the target. Upstream: GetRawResourceReplicas. */
export function replicasForUsage(input: UsageInput, targetMilli: number): Proposal {
  const ratioOf = (usages: ReadonlyMap<string, number>): Ratio => {
    const averageMilli = Math.trunc([...usages.values()].reduce((sum, milli) => sum + milli, 0) / usages.size);
    return { ratio: averageMilli / targetMilli, averageMilli };
  };
  return propose(input, groupPods(input), ratioOf, () => targetMilli);
}

const isTolerated = (ratio: number, { up, down }: Tolerances): boolean => ratio >= 1 - down && ratio <= 1 + up;
const maxReplicas = 2 ** 31 - 1;

/**
 * Proposes replicas by the relation of a metric to its target. From zero replicas the pods do not matter. Upstream:
 * getUsageRatioReplicaCount.
 */
export function replicasForRatio(ratio: number, current: number, pods: readonly Pod[], tolerances: Tolerances): number {
  if (current === 0) return Math.ceil(ratio);
  if (isTolerated(ratio, tolerances)) return current;
  if (pods.length === 0) throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  const ready = pods.filter(
    ({ status }) => status?.phase === 'Running' && status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
  );
  return Math.min(maxReplicas, Math.ceil(ratio * ready.length));
}

/** Proposes replicas so that each has its share of a metric. Upstream: GetExternalPerPodMetricReplicas. */
export function replicasForAverage(usage: number, target: number, current: number, tolerances: Tolerances): number {
  return isTolerated(usage / (target * current), tolerances) ? current : Math.min(maxReplicas, Math.ceil(usage / target));
}

/** Pods without a usage count such that they dampen the scaling. */
function propose(
  { currentReplicas, tolerances }: UsageInput,
  { ready, unready, missing, usages }: Groups,
  ratioOf: (usages: ReadonlyMap<string, number>) => Ratio,
  fallback: (name: string) => number,
): Proposal {
  const { ratio, ...measured } = ratioOf(usages);
  const stay = { replicas: currentReplicas, ...measured };
  const countsUnready = unready.length > 0 && ratio > 1;
  if (!countsUnready && missing.length === 0)
    return isTolerated(ratio, tolerances) ? stay : { replicas: Math.ceil(ratio * ready), ...measured };
  const dampened = new Map(usages);
  const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name as string);
  if (ratio !== 1) for (const name of names(missing)) dampened.set(name, ratio < 1 ? fallback(name) : 0);
  if (countsUnready) for (const name of names(unready)) dampened.set(name, 0);
  const { ratio: next } = ratioOf(dampened);
  if (isTolerated(next, tolerances) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return stay;
  const replicas = Math.ceil(next * dampened.size);
  const isReversed = (next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas);
  return isReversed ? stay : { replicas, ...measured };
}
