import type { DaemonSet, DaemonSetStatus } from 'kubenest/types/apps_v1';
import type { Node, Pod } from 'kubenest/types/core_v1';
import { scaledValue } from '../common/int-or-percent.ts';
import { isPodAvailable, isPodReady } from '../common/pods.ts';
import { compareAge, fitOf, hashLabel, isUpdated } from './daemon-pods.ts';

/** A DaemonSet with its pods by the nodes that they run on or are meant for. */
export interface DaemonState {
  readonly daemonSet: DaemonSet;
  readonly nodes: readonly Node[];
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>;
  /** Hash of the current template. */
  readonly hash: string;
  readonly nowMs: number;
}

/** Pods to delete and nodes to create pods for. */
export interface DaemonPlan {
  readonly deletions: Pod[];
  readonly creations: string[];
}

function limitOf({ spec }: DaemonSet, limit: 'maxSurge' | 'maxUnavailable', count: number): number {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {};
  return type === 'RollingUpdate' ? scaledValue(rollingUpdate?.[limit], count, 'up') : 0;
}

function minReadySeconds({ spec }: DaemonSet): number {
  return spec?.minReadySeconds ?? 0;
}

/**
 * Returns the pods to create and to delete so that each node has the pod that it should, apart from an update. `mayDelete` decides on pods
 * that failed, which are replaced with a growing delay. Upstream: podsShouldBeOnNode of pkg/controller/daemon.
 */
export function planNodes(state: DaemonState, mayDelete: (pod: Pod, node: string) => boolean): DaemonPlan {
  const { daemonSet, nodes, podsByNode } = state;
  const plan: DaemonPlan = { deletions: [], creations: [] };
  for (const node of nodes) {
    const name = node.metadata.name as string;
    const { shouldRun, mayRemain } = fitOf(daemonSet, node);
    const pods = podsByNode.get(name);
    const present = (pods ?? []).filter(({ metadata }) => !metadata.deletionTimestamp);
    if (!mayRemain) {
      plan.deletions.push(...present);
    } else if (!pods) {
      if (shouldRun) plan.creations.push(name);
    } else {
      const ended = present.filter(({ status }) => status?.phase === 'Failed' || status?.phase === 'Succeeded');
      plan.deletions.push(...ended.filter((pod) => mayDelete(pod, name)));
      const running = present.filter((pod) => !ended.includes(pod)).sort(compareAge);
      if (limitOf(daemonSet, 'maxSurge', 1) === 0) plan.deletions.push(...running.slice(1));
      else if (running.length > 0) plan.deletions.push(...surplusOfSurge(state, running));
      else if (shouldRun) plan.creations.push(name);
    }
  }
  plan.deletions.push(...podsWithoutNode(state));
  return plan;
}

/** Returns the pods beyond one with the current template that is not available yet, and one with an older template that is ready. */
function surplusOfSurge({ daemonSet, hash, nowMs }: DaemonState, running: readonly Pod[]): Pod[] {
  if (running.length === 1) return [];
  const newest = running.find(({ metadata }) => metadata.labels?.[hashLabel] === hash);
  const oldest = running.find(({ metadata }) => metadata.labels?.[hashLabel] !== hash);
  const surplus = running.filter((pod) => pod !== newest && pod !== oldest);
  const isReplaced = newest && oldest && (!isPodReady(oldest) || isPodAvailable(newest, minReadySeconds(daemonSet), nowMs));
  return isReplaced ? [...surplus, oldest] : surplus;
}

/** Returns the pods that wait for a node which does not exist any more. */
function podsWithoutNode({ nodes, podsByNode }: DaemonState): Pod[] {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  return [...podsByNode].flatMap(([node, pods]) => (names.has(node) ? [] : pods.filter(({ spec }) => !spec?.nodeName)));
}

/** Returns the one pod with the current template and the one with an older template; undefined if a node has several of either. */
function updatedPods(
  { daemonSet, hash }: DaemonState,
  pods: readonly Pod[],
): { newPod?: Pod | undefined; oldPod?: Pod | undefined } | undefined {
  const present = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const [updated, old] = [true, false].map((is) => present.filter((pod) => isUpdated(daemonSet, pod, hash) === is)) as [Pod[], Pod[]];
  return updated.length > 1 || old.length > 1 ? undefined : { newPod: updated[0], oldPod: old[0] };
}

/** Returns the next step of a rolling update. Upstream: rollingUpdate of pkg/controller/daemon/update.go. */
export function planUpdate(state: DaemonState): DaemonPlan {
  const { daemonSet, nodes } = state;
  const wanted = nodes.filter((node) => fitOf(daemonSet, node).shouldRun).map(({ metadata }) => metadata.name as string);
  const podsByNode = new Map(state.podsByNode);
  for (const node of wanted) if (!podsByNode.has(node)) podsByNode.set(node, []);
  const surge = limitOf(daemonSet, 'maxSurge', wanted.length);
  const unavailable = limitOf(daemonSet, 'maxUnavailable', wanted.length);
  const extended = { ...state, podsByNode };
  return surge > 0
    ? planSurge(extended, new Set(wanted), surge)
    : planReplacement(extended, wanted.length > 0 ? Math.max(unavailable, 1) : unavailable);
}

/** Deletes old pods as far as enough remain available; others follow on their nodes. */
function planReplacement(state: DaemonState, maxUnavailable: number): DaemonPlan {
  const { daemonSet, podsByNode, nowMs } = state;
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, minReadySeconds(daemonSet), nowMs);
  let unavailable = 0;
  const replaced: Pod[] = [];
  const candidates: Pod[] = [];
  for (const pods of podsByNode.values()) {
    const found = updatedPods(state, pods);
    if (!found || Boolean(found.newPod) === Boolean(found.oldPod)) unavailable += 1;
    else if (found.newPod) unavailable += Number(!isAvailable(found.newPod));
    else if (found.oldPod && isAvailable(found.oldPod)) candidates.push(found.oldPod);
    else if (found.oldPod) {
      replaced.push(found.oldPod);
      unavailable += 1;
    }
  }
  return { deletions: [...replaced, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))], creations: [] };
}

/** Creates new pods beside the old ones, which go once the new ones are available. `wanted`: nodes that should have a pod. */
function planSurge(state: DaemonState, wanted: ReadonlySet<string>, maxSurge: number): DaemonPlan {
  const { daemonSet, podsByNode, nowMs } = state;
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, minReadySeconds(daemonSet), nowMs);
  const [deletions, misplaced, creations, candidates]: [Pod[], Pod[], string[], string[]] = [[], [], [], []];
  let surging = 0;
  let available = 0;
  for (const [node, pods] of podsByNode) {
    const found = updatedPods(state, pods);
    if (!found) {
      surging += 1;
      continue;
    }
    const { newPod, oldPod } = found;
    const counted = oldPod ?? newPod;
    available += Number(counted !== undefined && isAvailable(counted));
    if (!oldPod) continue;
    if (newPod) {
      if (isAvailable(newPod)) deletions.push(oldPod);
      else surging += 1;
    } else if (!wanted.has(node)) {
      (isAvailable(oldPod) ? misplaced : deletions).push(oldPod);
    } else {
      (isAvailable(oldPod) ? candidates : creations).push(node);
    }
  }
  deletions.push(...misplaced.slice(0, Math.max(0, available - wanted.size)));
  creations.push(...candidates.slice(0, Math.max(0, maxSurge - surging)));
  return { deletions, creations };
}

/** Returns the counts of the status. Upstream: updateDaemonSetStatus. */
export function countsOf(state: DaemonState): DaemonSetStatus {
  const { daemonSet, nodes, podsByNode, hash, nowMs } = state;
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const node of nodes) {
    const [pod] = [...(podsByNode.get(node.metadata.name as string) ?? [])].sort(compareAge);
    if (!fitOf(daemonSet, node).shouldRun) {
      counts.misscheduled += Number(pod !== undefined);
      continue;
    }
    counts.desired += 1;
    if (!pod) continue;
    counts.current += 1;
    counts.ready += Number(isPodReady(pod));
    counts.available += Number(isPodAvailable(pod, minReadySeconds(daemonSet), nowMs));
    counts.updated += Number(isUpdated(daemonSet, pod, hash));
  }
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
  };
}

/** True if the status has the counts. */
export function hasCounts(status: DaemonSetStatus | undefined, counts: DaemonSetStatus): boolean {
  return Object.entries(counts).every(([name, count]) => (status?.[name as 'numberReady'] ?? 0) === count);
}
