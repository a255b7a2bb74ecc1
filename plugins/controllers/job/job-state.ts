import { deepCopy, formatTime, parseTime } from 'kubenest/sdk';
import type { Job, JobCondition, JobStatus } from 'kubenest/types/batch_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { findCondition } from '../common/conditions.ts';
import { isPodActive, isPodReady, isPodTerminating } from '../common/pods.ts';
import { type BackoffRecord, nextBackoff } from './backoff.ts';
import { IndexSet } from './index-set.ts';
import {
  allFailureCount,
  finishedMs,
  hasIndexBackoff,
  isIndexed,
  isIndexFailed,
  isPodFailed,
  isSuspended,
  isTracked,
  validIndexOf,
} from './job-pods.ts';
import { matchFailurePolicy, matchSuccessPolicy } from './policies.ts';

export interface JobInput {
  readonly job: Job;
  readonly pods: readonly Pod[];
  /** UIDs of the pods whose finalizer is removed, which the informer does not show yet. */
  readonly untracked: ReadonlySet<string>;
  readonly backoff: BackoffRecord | undefined;
  readonly nowMs: number;
}

/** State of a job during one reconcile. Numbers and the status change as pods are created and deleted. Upstream: syncJobCtx. */
export interface JobState extends JobInput {
  readonly status: JobStatus;
  readonly activePods: readonly Pod[];
  active: number;
  ready: number;
  terminating: number;
  /** Pods that have succeeded and failed, not yet counted ones included. */
  readonly succeeded: number;
  readonly failed: number;
  readonly nextBackoff: BackoffRecord;
  /** Indexes of an indexed job: in the status, and with those of pods that are not counted yet. */
  readonly previousIndexes: IndexSet;
  readonly succeededIndexes: IndexSet;
  /** Undefined without a backoff limit per index. */
  readonly failedIndexes: IndexSet | undefined;
  /** Failed pods by index that remain until their replacement has got their number of failures. */
  readonly awaitingReplacement: ReadonlyMap<number, Pod>;
}

/** Returns tracked pods that the status does not list as uncounted and, for an indexed job, that have a valid index. */
function uncountedPods({ job, pods, untracked }: JobInput, listed: ReadonlySet<string>): Pod[] {
  return pods.filter((pod) => {
    const uid = pod.metadata.uid as string;
    if (!isTracked(pod) || listed.has(uid) || untracked.has(uid)) return false;
    return !isIndexed(job) || validIndexOf(job, pod) !== undefined;
  });
}

/** Returns the state of a job from its pods. */
export function stateOf(input: JobInput): JobState {
  const { job, pods } = input;
  const status = deepCopy(job.status ?? {});
  status.uncountedTerminatedPods ??= {};
  const listed = status.uncountedTerminatedPods;
  const activePods = pods.filter(isPodActive);
  const newSucceeded = uncountedPods(input, new Set(listed.succeeded)).filter((pod) => pod.status?.phase === 'Succeeded');
  const newFailed = uncountedPods(input, new Set(listed.failed)).filter((pod) => isPodFailed(job, pod));
  const counted = newFailed.filter((pod) => matchFailurePolicy(job.spec?.podFailurePolicy, pod).isCounted);
  if (!status.startTime && !isSuspended(job)) status.startTime = formatTime(input.nowMs);
  const indexes = indexesOf(job, pods);
  return {
    ...input,
    status,
    activePods,
    active: activePods.length,
    ready: activePods.filter(isPodReady).length,
    terminating: pods.filter(isPodTerminating).length,
    succeeded: isIndexed(job)
      ? indexes.succeededIndexes.size
      : (status.succeeded ?? 0) + newSucceeded.length + (listed.succeeded?.length ?? 0),
    failed: (status.failed ?? 0) + counted.length + (listed.failed?.length ?? 0),
    nextBackoff: nextBackoff(input.backoff, newSucceeded, newFailed),
    ...indexes,
    awaitingReplacement: awaitingReplacement(input, activePods, indexes.succeededIndexes, indexes.failedIndexes),
  };
}

type Indexes = Pick<JobState, 'previousIndexes' | 'succeededIndexes' | 'failedIndexes'>;

function indexesOf(job: Job, pods: readonly Pod[]): Indexes {
  if (!isIndexed(job)) return { previousIndexes: IndexSet.empty, succeededIndexes: IndexSet.empty, failedIndexes: undefined };
  const completions = job.spec?.completions ?? 0;
  const previousIndexes = IndexSet.parse(job.status?.completedIndexes, completions);
  const tracked = pods.filter((pod) => isTracked(pod) && validIndexOf(job, pod) !== undefined);
  const indexSet = (some: readonly Pod[]): IndexSet => IndexSet.of(some.map((pod) => validIndexOf(job, pod) as number));
  const succeededIndexes = previousIndexes.union(indexSet(tracked.filter(({ status }) => status?.phase === 'Succeeded')));
  const failedIndexes = hasIndexBackoff(job)
    ? IndexSet.parse(job.status?.failedIndexes, completions).union(indexSet(tracked.filter((pod) => isIndexFailed(job, pod))))
    : undefined;
  return { previousIndexes, succeededIndexes, failedIndexes };
}

function awaitingReplacement(input: JobInput, active: readonly Pod[], succeeded: IndexSet, failed: IndexSet | undefined): Map<number, Pod> {
  const result = new Map<number, Pod>();
  const { job } = input;
  if (!isIndexed(job) || !hasIndexBackoff(job)) return result;
  const running = new Set(active.map((pod) => validIndexOf(job, pod)));
  for (const pod of uncountedPods(input, new Set())) {
    const index = validIndexOf(job, pod) as number;
    if (!isPodFailed(job, pod) || running.has(index) || succeeded.has(index) || failed?.has(index)) continue;
    const other = result.get(index);
    const isLater = !other || (allFailureCount(other) <= allFailureCount(pod) && finishedMs(pod) >= finishedMs(other));
    if (isLater) result.set(index, pod);
  }
  return result;
}

/** Returns a condition with the status True. */
export function newCondition(type: string, reason: string, message: string, nowMs: number): JobCondition {
  const now = formatTime(nowMs);
  return { type, status: 'True', lastProbeTime: now, lastTransitionTime: now, reason, message };
}

/** True if the restarts of the running pods reach the limit; only for pods that restart their containers. */
function exceedsRestarts({ spec }: Job, pods: readonly Pod[]): boolean {
  if (spec?.template?.spec?.restartPolicy !== 'OnFailure') return false;
  const limit = spec.backoffLimit ?? 6;
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Returns the time until the deadline of the job, in milliseconds; undefined if it has none or is suspended. */
export function deadlineInMs({ job, status, nowMs }: JobState): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  if (seconds === undefined || !status.startTime || isSuspended(job)) return undefined;
  return parseTime(status.startTime) + seconds * 1_000 - nowMs;
}

/**
 * Returns the condition with which the job ends, apart from its number of completions; undefined if it continues. FailureTarget and
 * SuccessCriteriaMet come before Failed and Complete, which wait for the last pod. The first criterion that is met counts:
 *
 * 1. an earlier SuccessCriteriaMet or FailureTarget
 * 2. pod failure policy
 * 3. backoff limit
 * 4. deadline
 * 5. failed indexes
 * 6. success policy
 */
export function endOf(state: JobState): JobCondition | undefined {
  const { job, pods, status, nowMs } = state;
  const met = findCondition(status.conditions, 'SuccessCriteriaMet');
  if (met?.status === 'True') return met;
  const target = findCondition(status.conditions, 'FailureTarget');
  if (target?.status === 'True') return newCondition('Failed', target.reason ?? '', target.message ?? '', nowMs);
  const failure = (reason: string, message: string): JobCondition => newCondition('FailureTarget', reason, message, nowMs);
  const policy = job.spec?.podFailurePolicy;
  const failed = policy ? pods.filter((pod) => isPodFailed(job, pod)) : [];
  const message = failed.map((pod) => matchFailurePolicy(policy, pod).message).find((found) => found !== undefined);
  if (message !== undefined) return failure('PodFailurePolicy', message);
  if (state.failed > (job.spec?.backoffLimit ?? 6) || exceedsRestarts(job, pods))
    return failure('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const deadline = deadlineInMs(state);
  if (deadline !== undefined && deadline <= 0) return failure('DeadlineExceeded', 'Job was active longer than specified deadline');
  return isIndexed(job) ? endOfIndexes(state, failure) : undefined;
}

function endOfIndexes(
  { job, succeededIndexes, failedIndexes, nowMs }: JobState,
  failure: (reason: string, message: string) => JobCondition,
): JobCondition | undefined {
  const { completions = 0, maxFailedIndexes, successPolicy } = job.spec ?? {};
  const failed = failedIndexes?.size ?? 0;
  if (failedIndexes && maxFailedIndexes !== undefined && failed > maxFailedIndexes)
    return failure('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  if (failed > 0 && failed + succeededIndexes.size >= completions) return failure('FailedIndexes', 'Job has failed indexes');
  const message = matchSuccessPolicy(successPolicy, completions, succeededIndexes);
  return message === undefined ? undefined : newCondition('SuccessCriteriaMet', 'SuccessPolicy', message, nowMs);
}

/** Returns the condition of a job with enough succeeded pods, and none that runs; undefined for another one. */
export function completionOf({ job, active, succeeded, nowMs }: JobState): JobCondition | undefined {
  const completions = job.spec?.completions;
  const isComplete = active === 0 && (completions === undefined ? succeeded > 0 : succeeded >= completions);
  return isComplete
    ? newCondition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', nowMs)
    : undefined;
}
