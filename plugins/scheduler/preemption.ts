import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import { selectorOf } from '../common/selectors.ts';
import { fitError } from './fit-error.ts';
import { type ClusterView, type Rejection, unresolvable } from './framework/framework.ts';
import type { NodeInfo } from './framework/node-info.ts';
import type { PodInfo } from './framework/pod-info.ts';
import { type ActiveFilter, changeNode, checkNodeWithNominated, copyStates, type Diagnosis, type Nominations } from './scheduling-cycle.ts';

/** A node with the pods that have to go so that the pod fits, the most important first. */
export interface Candidate {
  readonly node: NodeInfo;
  readonly victims: readonly PodInfo[];
  /** Number of victims whose disruption budget does not allow it. */
  readonly violations: number;
}

/** The chosen candidate, or the reason in upstream's words. */
export type PreemptionResult = { readonly candidate: Candidate } | { readonly message: string };

/**
 * Finds the node on which the removal of pods of lower priority makes room for a pod that no node can take. Upstream:
 * framework/preemption/preemption.go and plugins/defaultpreemption.
 */
export function findPreemption(
  pod: PodInfo,
  cluster: ClusterView,
  active: readonly ActiveFilter[],
  diagnosis: Diagnosis,
  budgets: readonly PodDisruptionBudget[],
  nominations: Nominations,
): PreemptionResult {
  const ineligible = ineligibility(pod, cluster, diagnosis);
  if (ineligible !== undefined) return { message: `preemption: ${ineligible}` };
  const statuses = new Map<string, Rejection>();
  const candidates: Candidate[] = [];
  for (const node of cluster.nodes) {
    const rejection = diagnosis.nodes.get(node.name);
    if (!rejection || rejection.isUnresolvable) continue;
    const result = victimsOn(node, pod, active, budgets, nominations);
    if ('victims' in result) candidates.push(result);
    else statuses.set(node.name, result);
  }
  const best = bestCandidate(candidates);
  if (best) return { candidate: best };
  const absent = unresolvable('Preemption is not helpful for scheduling');
  return { message: `preemption: ${fitError(cluster.nodes.length, { nodes: statuses, absent, filters: new Set() })}` };
}

/** Reason for which the pod may not preempt others now. */
function ineligibility({ pod, priority }: PodInfo, cluster: ClusterView, diagnosis: Diagnosis): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const nominated = pod.status?.nominatedNodeName;
  if (!nominated || diagnosis.nodes.get(nominated)?.isUnresolvable) return undefined;
  const node = cluster.nodes.find(({ name }) => name === nominated);
  const isWaiting = [...(node?.pods.values() ?? [])].some((other) => other.priority < priority && isPreempted(other));
  return isWaiting ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

function isPreempted({ pod }: PodInfo): boolean {
  if (pod.metadata.deletionTimestamp === undefined) return false;
  return (
    pod.status?.conditions?.some(
      ({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason === 'PreemptionByScheduler',
    ) ?? false
  );
}

/**
 * Removes all pods of lower priority, and if the pod fits then, adds back as many as possible: first those whose budgets allow no
 * disruption, the important ones first.
 */
function victimsOn(
  original: NodeInfo,
  pod: PodInfo,
  active: readonly ActiveFilter[],
  budgets: readonly PodDisruptionBudget[],
  nominations: Nominations,
): Candidate | Rejection {
  const node = original.clone();
  const states = copyStates(active);
  const lower = [...node.pods.values()].filter(({ priority }) => priority < pod.priority).sort(byImportance);
  if (lower.length === 0) return unresolvable('No preemption victims found for incoming pod');
  for (const other of lower) changeNode(states, pod, other, node, -1);
  const failed = checkNodeWithNominated(states, pod, node, nominations);
  if (failed) return failed.rejection;
  const { violating, allowed } = splitByBudget(lower, budgets);
  const victims: PodInfo[] = [];
  const mustGo = (other: PodInfo): boolean => {
    changeNode(states, pod, other, node, 1);
    if (!checkNodeWithNominated(states, pod, node, nominations)) return false;
    changeNode(states, pod, other, node, -1);
    victims.push(other);
    return true;
  };
  const violations = violating.filter(mustGo).length;
  allowed.forEach(mustGo);
  return { node: original, victims: victims.sort(byImportance), violations };
}

/** Orders by descending priority, then by ascending start time. Upstream: pkg/scheduler/util (MoreImportantPod). */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b);
}

/** Start of a pod; one that has not started is the youngest. */
function startOf({ pod }: PodInfo): number {
  return pod.status?.startTime ? Date.parse(pod.status.startTime) : Number.MAX_SAFE_INTEGER;
}

/** Splits pods by whether their removal, one after another, exceeds a disruption budget. */
export function splitByBudget(
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): { readonly violating: PodInfo[]; readonly allowed: PodInfo[] } {
  const left = budgets.map((budget) => ({
    namespace: budget.metadata.namespace,
    selector: selectorOf(budget.spec?.selector),
    disrupted: budget.status?.disruptedPods ?? {},
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }));
  const violating: PodInfo[] = [];
  const allowed: PodInfo[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const budget of left) {
      const isCovered = budget.namespace === pod.namespace && !budget.selector.isEmpty() && budget.selector.matches(pod.labels);
      if (!isCovered || Object.hasOwn(budget.disrupted, pod.pod.metadata.name ?? '')) continue;
      budget.allowed -= 1;
      isViolating ||= budget.allowed < 0;
    }
    (isViolating ? violating : allowed).push(pod);
  }
  return { violating, allowed };
}

/** Fewest violations of budgets, lowest highest priority, lowest sum of priorities, fewest victims, latest start. */
const criteria: readonly ((candidate: Candidate) => number)[] = [
  ({ violations }) => -violations,
  ({ victims }) => -(victims[0]?.priority ?? Number.MIN_SAFE_INTEGER),
  ({ victims }) => -victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
  ({ victims }) => -victims.length,
  ({ victims }) => Math.min(...victims.filter(({ priority }) => priority === victims[0]?.priority).map(startOf)),
];

function bestCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  let left = candidates;
  for (const criterion of criteria) {
    if (left.length <= 1) break;
    const values = left.map(criterion);
    const best = Math.max(...values);
    left = left.filter((_, i) => values[i] === best);
  }
  return left[0];
}
