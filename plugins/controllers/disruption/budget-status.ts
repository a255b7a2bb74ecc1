import { deepEqual, formatTime, parseTime } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from 'kubenest/types/policy_v1';
import { scaledValue } from '../common/int-or-percent.ts';
import { isPodReady } from '../common/pods.ts';

/** Time after which a pod that was evicted and still exists counts again. Upstream: DeletionTimeout. */
const deletionTimeoutMs = 2 * 60_000;
const allowed = 'DisruptionAllowed';

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>;
type Condition = Conditions[number];

/** True if the budget depends on the number of replicas of the pods' controllers. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
}

/** Returns the number of pods that must be healthy. `expected`: the number of pods that should exist. */
export function desiredHealthy({ spec }: PodDisruptionBudget, expected: number): number {
  const { maxUnavailable, minAvailable } = spec ?? {};
  if (maxUnavailable !== undefined) return Math.max(0, expected - scaledValue(maxUnavailable, expected, 'up'));
  return scaledValue(minAvailable, expected, 'up');
}

export interface Disrupted {
  /** Times of the evictions of pods that will be deleted soon, by name. */
  readonly pods: Readonly<Record<string, string>>;
  /** Names of pods that were evicted and not deleted in time. */
  readonly overdue: readonly string[];
  /** Time until the next one is overdue, in milliseconds. */
  readonly recheckMs: number | undefined;
}

/** Returns the pods that were evicted and still exist. Upstream: buildDisruptedPodMap. */
export function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: number): Disrupted {
  const disrupted: Record<string, string> = {};
  const overdue: string[] = [];
  const waits: number[] = [];
  for (const { metadata } of pods) {
    const name = metadata.name as string;
    const evicted = status?.disruptedPods?.[name];
    if (!evicted || metadata.deletionTimestamp) continue;
    const wait = parseTime(evicted) + deletionTimeoutMs - nowMs;
    if (wait < 0) {
      overdue.push(name);
    } else {
      disrupted[name] = evicted;
      waits.push(wait);
    }
  }
  return { pods: disrupted, overdue, recheckMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** Returns the number of ready pods that remain. */
export function healthyPods(pods: readonly Pod[], disrupted: Disrupted): number {
  return pods.filter((pod) => !pod.metadata.deletionTimestamp && !((pod.metadata.name as string) in disrupted.pods) && isPodReady(pod))
    .length;
}

function withAllowed(conditions: Conditions | undefined, next: Omit<Condition, 'lastTransitionTime'>, nowMs: number): Conditions {
  const present = conditions?.find(({ type }) => type === allowed);
  const isSame = present?.status === next.status && present?.lastTransitionTime;
  const condition: Condition = { ...next, lastTransitionTime: isSame ? (present.lastTransitionTime as string) : formatTime(nowMs) };
  return present ? (conditions ?? []).map((other) => (other === present ? condition : other)) : [...(conditions ?? []), condition];
}

/** Returns the status of a budget; undefined if the budget has it. Upstream: updatePdbStatus. */
export function nextStatus(
  { metadata, status = {} }: PodDisruptionBudget,
  counts: { readonly healthy: number; readonly desired: number; readonly expected: number },
  disrupted: Disrupted,
  nowMs: number,
): PodDisruptionBudgetStatus | undefined {
  const { healthy, desired, expected } = counts;
  const disruptionsAllowed = expected > 0 ? Math.max(0, healthy - desired) : 0;
  const generation = metadata.generation ?? 0;
  const [state, reason] = disruptionsAllowed > 0 ? ['True', 'SufficientPods'] : ['False', 'InsufficientPods'];
  const condition = { type: allowed, status: state as string, reason: reason as string, message: '', observedGeneration: generation };
  const present = status.conditions?.find(({ type }) => type === allowed);
  const isUpToDate =
    (status.currentHealthy ?? 0) === healthy &&
    (status.desiredHealthy ?? 0) === desired &&
    (status.expectedPods ?? 0) === expected &&
    (status.disruptionsAllowed ?? 0) === disruptionsAllowed &&
    deepEqual(status.disruptedPods ?? {}, disrupted.pods) &&
    status.observedGeneration === generation &&
    present?.observedGeneration === generation &&
    present.status === state &&
    present.reason === reason;
  if (isUpToDate) return undefined;
  return {
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed,
    ...(Object.keys(disrupted.pods).length > 0 && { disruptedPods: { ...disrupted.pods } }),
    observedGeneration: generation,
    conditions: withAllowed(status.conditions, condition, nowMs),
  };
}

/** Returns the status after a failure: no disruption is allowed. Upstream: failSafe. */
export function failedStatus({ status }: PodDisruptionBudget, message: string, nowMs: number): PodDisruptionBudgetStatus {
  const { observedGeneration } = status ?? {};
  const condition = { type: allowed, status: 'False', reason: 'SyncFailed', message, ...(observedGeneration && { observedGeneration }) };
  return { ...status, disruptionsAllowed: 0, conditions: withAllowed(status?.conditions, condition, nowMs) };
}

/** Formats a selector as Go prints it. */
export function formatSelector(selector: NonNullable<PodDisruptionBudget['spec']>['selector']): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const matchLabels = labels.map(([name, value]) => `${name}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${matchLabels}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
