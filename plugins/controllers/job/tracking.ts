import type { JobCondition, JobStatus } from 'kubenest/types/batch_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { hasIndexBackoff, isIndexed, isPodFailed, isTracked, validIndexOf } from './job-pods.ts';
import type { JobState } from './job-state.ts';
import { matchFailurePolicy } from './policies.ts';
import { IndexSet } from './index-set.ts';

/** Largest number of pods in `status.uncountedTerminatedPods`, which keeps the status small. Upstream: MaxUncountedPods. */
const maxUncounted = 500;

export interface Tracking {
  /** Pods that the status counts now, so that their finalizer can go. */
  readonly released: readonly Pod[];
  /** True if the status has changed. */
  readonly isChanged: boolean;
  /** True if more pods have ended than the status can list. */
  readonly isFull: boolean;
}

/** True if the pod need not remain: it is counted, or the job ends. Upstream: canRemoveFinalizer. */
function canRelease({ job, awaitingReplacement }: JobState, pod: Pod, end: JobCondition | undefined): boolean {
  if (job.metadata.deletionTimestamp || end || pod.status?.phase === 'Succeeded') return true;
  if (!isPodFailed(job, pod)) return false;
  const index = hasIndexBackoff(job) ? validIndexOf(job, pod) : undefined;
  return index === undefined || awaitingReplacement.get(index)?.metadata.uid !== pod.metadata.uid;
}

/**
 * Lists the pods that have ended in `status.uncountedTerminatedPods`, or their indexes in `status.completedIndexes`, before their
 * finalizers are removed, so that each counts once even if the controller stops in between. Upstream: trackJobStatusAndRemoveFinalizers.
 */
export function track(state: JobState, end: JobCondition | undefined): Tracking {
  const { job, status, pods, untracked } = state;
  const uncounted = (status.uncountedTerminatedPods ??= {});
  const [succeeded, failed] = [[...(uncounted.succeeded ?? [])], [...(uncounted.failed ?? [])]];
  const newIndexes = new Set<number>();
  const released: Pod[] = [];
  const sizeBefore = succeeded.length + failed.length;
  const isFull = (): boolean => newIndexes.size + succeeded.length + failed.length >= maxUncounted;
  const sorted = isIndexed(job) ? pods.toSorted((a, b) => (validIndexOf(job, a) ?? -1) - (validIndexOf(job, b) ?? -1)) : pods;
  for (const pod of sorted) {
    const uid = pod.metadata.uid as string;
    if (!isTracked(pod) || untracked.has(uid) || !canRelease(state, pod, end)) continue;
    released.push(pod);
    const index = validIndexOf(job, pod);
    if (pod.status?.phase === 'Succeeded' && !failed.includes(uid)) {
      if (!isIndexed(job)) {
        if (!succeeded.includes(uid)) succeeded.push(uid);
      } else if (index !== undefined && !state.previousIndexes.has(index)) newIndexes.add(index);
    } else if (isPodFailed(job, pod) || (end && end.type !== 'SuccessCriteriaMet')) {
      const isCounted = matchFailurePolicy(job.spec?.podFailurePolicy, pod).isCounted;
      if (!failed.includes(uid) && (!isIndexed(job) || index !== undefined) && isCounted) failed.push(uid);
    }
    if (isFull()) break;
  }
  if (succeeded.length > 0) uncounted.succeeded = succeeded;
  if (failed.length > 0) uncounted.failed = failed;
  const hasNewIndexes = isIndexed(job) && countIndexes(state, newIndexes);
  const isChanged = hasNewIndexes || newIndexes.size > 0 || succeeded.length + failed.length > sizeBefore;
  return { released, isChanged, isFull: isFull() };
}

/** Writes the indexes to the status. Returns true if they differ. */
function countIndexes({ status, previousIndexes, failedIndexes }: JobState, added: Iterable<number>): boolean {
  const completed = previousIndexes.union(IndexSet.of(added));
  const before = [status.completedIndexes ?? '', status.failedIndexes];
  status.succeeded = completed.size;
  status.completedIndexes = completed.toString();
  if (failedIndexes) status.failedIndexes = failedIndexes.toString();
  else delete status.failedIndexes;
  return status.completedIndexes !== before[0] || status.failedIndexes !== before[1];
}

/** Counts the listed pods whose finalizer is gone. Returns true if there are any. Upstream: cleanUncountedPodsWithoutFinalizers. */
export function countReleased(status: JobStatus, tracked: ReadonlySet<string>): boolean {
  const listed = status.uncountedTerminatedPods ?? {};
  let isChanged = false;
  for (const outcome of ['succeeded', 'failed'] as const) {
    const uids = listed[outcome] ?? [];
    const left = uids.filter((uid) => tracked.has(uid));
    if (left.length === uids.length) continue;
    isChanged = true;
    status[outcome] = (status[outcome] ?? 0) + uids.length - left.length;
    if (left.length > 0) listed[outcome] = left;
    else delete listed[outcome];
  }
  status.uncountedTerminatedPods = listed;
  return isChanged;
}
