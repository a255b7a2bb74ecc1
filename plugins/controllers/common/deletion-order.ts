import { parseTime } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import { isPodActive, isPodReady, readySince } from './pods.ts';

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };
const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

/** Returns the pod's deletion cost; 0 for an invalid one. Upstream: GetDeletionCostFromPodAnnotations. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[costAnnotation] ?? '';
  if (!/^(0|-\d+|[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost === (cost | 0) ? cost : 0;
}

/** Returns the highest number of restarts among the containers, and among the sidecar containers. */
function restarts({ spec, status }: Pod): readonly [number, number] {
  const sidecars = new Set(spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const highest = (counts: readonly { restartCount?: number }[] = []): number =>
    counts.reduce((most, { restartCount = 0 }) => Math.max(most, restartCount), 0);
  return [highest(status?.containerStatuses), highest(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)))];
}

function compareRestarts(a: Pod, b: Pod): number {
  const [restartsA, restartsB] = [restarts(a), restarts(b)];
  return restartsB[0] - restartsA[0] || restartsB[1] - restartsA[1];
}

/** Compares how far pods are: not assigned to a node; Pending, Unknown, Running; not ready. */
function compareStages(a: Pod, b: Pod): number {
  const nodes = [a.spec?.nodeName ?? '', b.spec?.nodeName ?? ''] as const;
  if (nodes[0] !== nodes[1] && (nodes[0] === '' || nodes[1] === '')) return nodes[0] === '' ? -1 : 1;
  const phase = (phases[a.status?.phase ?? ''] ?? 0) - (phases[b.status?.phase ?? ''] ?? 0);
  return phase || Number(isPodReady(a)) - Number(isPodReady(b));
}

/**
 * Compares times on a logarithmic scale: times that are long ago are equal more often. The later time is first. Unknown times are first.
 */
function compareAges(a: number | undefined, b: number | undefined, nowMs: number): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  const rank = (time: number): number => (nowMs > time ? Math.floor(Math.log2((nowMs - time) * 1e6)) : -1);
  return rank(a) - rank(b);
}

function creation({ metadata: { creationTimestamp } }: Pod): number | undefined {
  return creationTimestamp === undefined ? undefined : parseTime(creationTimestamp);
}

/** Attributes of a pod that the order depends on. */
interface Ranked {
  readonly pod: Pod;
  /** Number of related pods on its node. */
  readonly colocated: number;
}

/**
 * Compares pods; the one to delete is first. The rules, of which the first that distinguishes counts: not assigned to a node; Pending,
 * Unknown, Running; not ready; lower deletion cost; more related pods on its node; ready for a shorter time; more restarts; newer.
 * Upstream: ActivePodsWithRanks of pkg/controller/controller_utils.go.
 */
function compareForDeletion(a: Ranked, b: Ranked, nowMs: number): number {
  const early = compareStages(a.pod, b.pod);
  if (early !== 0) return early;
  const cost = deletionCost(a.pod) - deletionCost(b.pod);
  if (cost !== 0) return cost;
  if (a.colocated !== b.colocated) return b.colocated - a.colocated;
  const byUid = (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
  const [readyA, readyB] = [readySince(a.pod), readySince(b.pod)];
  if (isPodReady(a.pod) && readyA !== readyB) return compareAges(readyA, readyB, nowMs) || byUid;
  const restarted = compareRestarts(a.pod, b.pod);
  if (restarted !== 0) return restarted;
  const [createdA, createdB] = [creation(a.pod), creation(b.pod)];
  return createdA === createdB ? 0 : compareAges(createdA, createdB, nowMs) || byUid;
}

/**
 * Compares pods; the one to delete is first. The rules: not assigned to a node; Pending, Unknown, Running; not ready; ready for a shorter
 * time; more restarts; newer. Upstream: ActivePods of pkg/controller/controller_utils.go.
 */
export function compareActivePods(a: Pod, b: Pod): number {
  const early = compareStages(a, b);
  if (early !== 0) return early;
  const ready = isPodReady(a) ? compareTimes(readySince(a), readySince(b)) : 0;
  return ready || compareRestarts(a, b) || compareTimes(creation(a), creation(b));
}

/** The later time is first; an unknown one before all. */
function compareTimes(a: number | undefined, b: number | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return b - a;
}

/** Returns the pods to delete of the active ones. `related`: the pods of all sets of the same owner. */
export function podsToDelete(active: readonly Pod[], related: readonly Pod[], count: number, nowMs: number): Pod[] {
  if (count >= active.length) return [...active];
  const onNode = new Map<string, number>();
  for (const { spec } of related.filter(isPodActive)) {
    const node = spec?.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  return active
    .map((pod) => ({ pod, colocated: onNode.get(pod.spec?.nodeName ?? '') ?? 0 }))
    .sort((a, b) => compareForDeletion(a, b, nowMs))
    .slice(0, count)
    .map(({ pod }) => pod);
}
