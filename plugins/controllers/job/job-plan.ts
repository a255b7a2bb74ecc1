import { deepCopy } from 'kubenest/sdk';
import type { Job } from 'kubenest/types/batch_v1';
import type { Container, Pod, PodTemplateSpec } from 'kubenest/types/core_v1';
import { isPodTerminating } from '../common/pods.ts';
import { compareActivePods } from '../common/deletion-order.ts';
import { backoffMs, indexBackoffMs } from './backoff.ts';
import { IndexSet } from './index-set.ts';
import {
  failureAnnotations,
  hasIndexBackoff,
  indexAnnotation,
  indexOf,
  isIndexed,
  isSuspended,
  replacesOnlyFailed,
  trackingFinalizer,
  validIndexOf,
} from './job-pods.ts';
import type { JobState } from './job-state.ts';

/** Largest number of pods created or deleted in one reconcile. Upstream: MaxPodCreateDeletePerSync. */
const maxPods = 500;
const maxGeneratedNameLength = 63 - 5;

/** Next action on the pods of a job. */
export type JobPlan =
  | { readonly kind: 'delete'; readonly pods: readonly Pod[] }
  | { readonly kind: 'wait'; readonly ms: number }
  /** One pod for each entry; undefined for pods without an index. */
  | { readonly kind: 'create'; readonly indexes: readonly (number | undefined)[] }
  | { readonly kind: 'nothing' };

/** Decides which pods to create or to delete. Upstream: manageJob of pkg/controller/job. */
export function planOf(state: JobState): JobPlan {
  const { job, active, activePods, succeeded } = state;
  if (isSuspended(job)) return { kind: 'delete', pods: podsForRemoval(job, activePods, active) };
  const { parallelism = 1, completions } = job.spec ?? {};
  const wanted =
    completions === undefined ? (succeeded > 0 ? active : parallelism) : Math.max(0, Math.min(completions - succeeded, parallelism));
  const removed = podsForRemoval(job, activePods, Math.max(0, active - wanted));
  if (removed.length > 0) return { kind: 'delete', pods: removed.slice(0, maxPods) };
  const missing = wanted - active - (replacesOnlyFailed(job) ? state.terminating : 0);
  return missing > 0 ? planCreation(state, Math.min(missing, maxPods)) : { kind: 'nothing' };
}

function planCreation(state: JobState, count: number): JobPlan {
  const { job, nowMs, awaitingReplacement } = state;
  if (!hasIndexBackoff(job)) {
    const ms = backoffMs(state.nextBackoff, nowMs);
    if (ms > 0) return { kind: 'wait', ms };
  }
  if (!isIndexed(job)) return { kind: 'create', indexes: Array.from({ length: count }, () => undefined) };
  const pending = pendingIndexes(state, count);
  if (!hasIndexBackoff(job)) return { kind: 'create', indexes: pending };
  const waits = pending.map((index) => indexBackoffMs(awaitingReplacement.get(index), nowMs));
  const due = pending.filter((_, at) => waits[at] === 0);
  return due.length === 0 && pending.length > 0 ? { kind: 'wait', ms: Math.min(...waits) } : { kind: 'create', indexes: due };
}

/** Returns the first indexes that have neither ended nor a pod. */
function pendingIndexes({ job, pods, activePods, succeededIndexes, failedIndexes }: JobState, count: number): number[] {
  const busy = replacesOnlyFailed(job) ? [...activePods, ...pods.filter(isPodTerminating)] : activePods;
  const used = IndexSet.of(busy.flatMap((pod) => indexOf(pod) ?? []));
  const taken = succeededIndexes.union(used).union(failedIndexes ?? IndexSet.empty);
  return taken.missing(count, job.spec?.completions ?? 0);
}

/** Returns at least `count` pods: first those with a repeated or invalid index, then those that have advanced least. */
function podsForRemoval(job: Job, active: readonly Pod[], count: number): Pod[] {
  const removed: Pod[] = [];
  let left = [...active];
  if (isIndexed(job)) {
    const byIndex = Map.groupBy(active, (pod) => validIndexOf(job, pod) ?? -1);
    left = [];
    for (const [index, pods] of byIndex) {
      const sorted = pods.toSorted(compareActivePods);
      const kept = index < 0 ? undefined : sorted.pop();
      removed.push(...sorted);
      if (kept) left.push(kept);
    }
  }
  const more = count - removed.length;
  return more > 0 ? [...removed, ...left.sort(compareActivePods).slice(0, more)] : removed;
}

/** Returns the template of the pods of a job. */
export function templateOf(job: Job): PodTemplateSpec {
  const template = deepCopy(job.spec?.template ?? {});
  const finalizers = template.metadata?.finalizers ?? [];
  if (!finalizers.includes(trackingFinalizer)) template.metadata = { ...template.metadata, finalizers: [...finalizers, trackingFinalizer] };
  if (isIndexed(job))
    for (const container of [...(template.spec?.initContainers ?? []), ...(template.spec?.containers ?? [])]) addIndexVariable(container);
  return template;
}

function addIndexVariable(container: Container): void {
  const name = 'JOB_COMPLETION_INDEX';
  if (container.env?.some((variable) => variable.name === name)) return;
  const fieldPath = `metadata.labels['${indexAnnotation}']`;
  container.env = [...(container.env ?? []), { name, valueFrom: { fieldRef: { fieldPath } } }];
}

/** Returns a pod of an indexed job for an index. */
export function indexedPod(job: Job, pod: Pod, index: number, replaced: Pod | undefined): Pod {
  const name = job.metadata.name as string;
  const end = `-${index}-`;
  const generateName =
    name.length + end.length > maxGeneratedNameLength ? name.slice(0, maxGeneratedNameLength - end.length) + end : name + end;
  const labels = { ...pod.metadata.labels, [indexAnnotation]: String(index) };
  const annotations = {
    ...pod.metadata.annotations,
    [indexAnnotation]: String(index),
    ...(hasIndexBackoff(job) && failureAnnotations(job, replaced)),
  };
  return {
    ...pod,
    metadata: { ...pod.metadata, generateName, labels, annotations },
    spec: { ...pod.spec, hostname: `${name}-${index}` },
  };
}
