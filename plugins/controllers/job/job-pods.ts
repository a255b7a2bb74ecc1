import { parseTime } from 'kubenest/sdk';
import type { Job } from 'kubenest/types/batch_v1';
import type { ContainerStatus, Pod } from 'kubenest/types/core_v1';
import { matchFailurePolicy } from './policies.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count';
const ignoredFailureCountAnnotation = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

export function isSuspended({ spec }: Job): boolean {
  return spec?.suspend ?? false;
}

export function isFinished({ status }: Job): boolean {
  return status?.conditions?.some(({ type, status: state }) => (type === 'Complete' || type === 'Failed') && state === 'True') ?? false;
}

export function hasIndexBackoff({ spec }: Job): boolean {
  return spec?.backoffLimitPerIndex !== undefined;
}

/** True if pods are replaced only once they have ended, not when they are being deleted. */
export function replacesOnlyFailed({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

/** True for a pod that is not counted yet. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(trackingFinalizer) ?? false;
}

/** Returns the completion index; undefined for none or an invalid one. */
export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexAnnotation];
  return text !== undefined && /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

/** Returns the completion index if it is below the number of completions. */
export function validIndexOf({ spec }: Job, pod: Pod): number | undefined {
  const index = indexOf(pod);
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined;
}

/** A deleted pod counts as failed, unless the job waits for its end. */
export function isPodFailed(job: Job, { metadata, status }: Pod): boolean {
  if (status?.phase === 'Failed') return true;
  if (replacesOnlyFailed(job)) return false;
  return metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

function countOf({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? '';
  const count = /^\+?\d+$/.test(text) ? Number(text) : 0;
  return count <= 0x7fffffff ? count : 0;
}

/** Returns the number of failures of the pod's index before it that count. */
function failureCount(pod: Pod): number {
  return countOf(pod, failureCountAnnotation);
}

/** Returns the number of failures of the pod's index before it, ignored ones included. */
export function allFailureCount(pod: Pod): number {
  return failureCount(pod) + countOf(pod, ignoredFailureCountAnnotation);
}

/** Returns the annotations with the failures of an index for the pod that replaces a failed one. */
export function failureAnnotations({ spec }: Job, replaced: Pod | undefined): Record<string, string> {
  let [counted, ignored] = replaced ? [failureCount(replaced), countOf(replaced, ignoredFailureCountAnnotation)] : [0, 0];
  if (replaced) {
    if (matchFailurePolicy(spec?.podFailurePolicy, replaced).isCounted) counted += 1;
    else ignored += 1;
  }
  return {
    [failureCountAnnotation]: String(counted),
    ...(ignored > 0 && { [ignoredFailureCountAnnotation]: String(ignored) }),
  };
}

/** True if the pod failed such that its index counts as failed. */
export function isIndexFailed(job: Job, pod: Pod): boolean {
  if (!isPodFailed(job, pod)) return false;
  const { action, isCounted } = matchFailurePolicy(job.spec?.podFailurePolicy, pod);
  return action === 'FailIndex' || (isCounted && failureCount(pod) >= (job.spec?.backoffLimitPerIndex ?? 0));
}

/** Returns the latest end of the containers; undefined unless all have ended. */
function containersEnded(statuses: readonly ContainerStatus[] = []): number | undefined {
  const ends = statuses.map(({ state }) => state?.terminated?.finishedAt);
  // A time that is not set is null.
  if (ends.length === 0 || !ends.every(Boolean)) return undefined;
  return Math.max(...ends.map((end) => parseTime(end as string)));
}

/**
 * Returns when the pod ended, in milliseconds: by its containers, its condition Ready, its deletion, or else its creation. Upstream:
 * getFinishedTime of pkg/controller/job/backoff_utils.go.
 */
export function finishedMs({ metadata, spec, status }: Pod): number {
  const sidecars = new Set(spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const containers = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []),
  ];
  const ended = containersEnded(containers);
  if (ended !== undefined) return ended;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'False' && ready.lastTransitionTime) return parseTime(ready.lastTransitionTime);
  if (metadata.deletionTimestamp) return parseTime(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
  return metadata.creationTimestamp ? parseTime(metadata.creationTimestamp) : 0;
}
