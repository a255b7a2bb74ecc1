import {
  type ControllerClient,
  type EventRecorder,
  type Expectations,
  formatTime,
  isNotFound,
  keyOf,
  newControllerReference,
} from 'kubenest/sdk';
import type { Job, JobCondition } from 'kubenest/types/batch_v1';
import type { Pod } from 'kubenest/types/core_v1';
import { findCondition } from '../common/conditions.ts';
import { isNamespaceTerminating } from '../common/namespace-terminating.ts';
import { type PodControl, podFromTemplate } from '../common/pod-control.ts';
import { isPodReady, pods } from '../common/pods.ts';
import { slowStart } from '../common/slow-start.ts';
import type { BackoffRecord } from './backoff.ts';
import { isSuspended, isTracked, trackingFinalizer } from './job-pods.ts';
import { indexedPod, planOf, templateOf } from './job-plan.ts';
import { completionOf, deadlineInMs, endOf, type JobState, newCondition } from './job-state.ts';
import { countReleased, track } from './tracking.ts';

export const jobs = { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' } as const;

export interface JobSyncParts {
  readonly client: ControllerClient;
  readonly recorder: EventRecorder;
  readonly control: PodControl;
  /** Keys are the UIDs of the jobs. */
  readonly expectations: Expectations;
  /** UIDs of the pods whose finalizer was removed and which the informer still shows with it. */
  readonly untracked: Set<string>;
  /** UIDs of the jobs that ended, which the informer does not show yet. */
  readonly ended: Set<string>;
  /** Failures of pods by the UID of their job. */
  readonly backoff: Map<string, BackoffRecord>;
}

/** One reconcile of a job that has not ended. Upstream: syncJob of pkg/controller/job. */
export class JobSync {
  #job: Job;
  #requeueAfterMs: number | undefined;

  constructor(
    readonly parts: JobSyncParts,
    readonly state: JobState,
  ) {
    this.#job = state.job;
  }

  /** Returns the time after which to reconcile the job again. `isInformed`: the informer shows all earlier creations and deletions. */
  async run(isInformed: boolean): Promise<number | undefined> {
    const { state } = this;
    const end = endOf(state);
    if (!end) this.#requeueWithin(deadlineInMs(state));
    const isSuspensionChanged = { value: false };
    const outcome = end ? await this.#end(end, isInformed) : await this.#goOn(isInformed, isSuspensionChanged);
    const { status, job } = state;
    const isChanged =
      isSuspensionChanged.value ||
      state.active !== (job.status?.active ?? 0) ||
      state.ready !== job.status?.ready ||
      state.terminating !== job.status?.terminating;
    status.active = state.active;
    status.ready = state.ready;
    status.terminating = state.terminating;
    await this.#track(outcome.end, isChanged);
    if (outcome.error) throw outcome.error;
    return this.#requeueAfterMs;
  }

  get #uid(): string {
    return this.#job.metadata.uid as string;
  }

  #requeueWithin(ms: number | undefined): void {
    if (ms !== undefined && (this.#requeueAfterMs === undefined || ms < this.#requeueAfterMs)) this.#requeueAfterMs = ms;
  }

  /** Deletes the pods that run. The job has not ended while a deletion fails, or while pods may be unknown. */
  async #end(end: JobCondition, isInformed: boolean): Promise<Outcome> {
    const { state } = this;
    const running = state.activePods.length;
    const { deleted, error } = await this.#deleteEach(state.activePods, (pod) => this.parts.control.delete(this.#job, pod));
    return { end: deleted === running && isInformed ? end : undefined, error };
  }

  async #goOn(isInformed: boolean, isSuspensionChanged: { value: boolean }): Promise<Outcome> {
    const { state } = this;
    const isManaged = isInformed && !state.job.metadata.deletionTimestamp;
    const error = isManaged ? await this.#manage() : undefined;
    const end = completionOf(state);
    if (!end && isManaged) isSuspensionChanged.value = this.#reportSuspension();
    return { end, error };
  }

  /** Returns the error of the first action that failed. */
  async #manage(): Promise<Error | undefined> {
    const plan = planOf(this.state);
    if (plan.kind === 'wait') this.#requeueWithin(plan.ms);
    if (plan.kind === 'create') return this.#create(plan.indexes);
    if (plan.kind === 'delete') return this.#delete(plan.pods);
    return undefined;
  }

  async #create(indexes: readonly (number | undefined)[]): Promise<Error | undefined> {
    const { state, parts } = this;
    parts.expectations.expectCreations(this.#uid, indexes.length);
    const template = templateOf(state.job);
    const reference = newControllerReference(state.job, jobs);
    let refused = 0;
    const { successes, error } = await slowStart(indexes.length, async (at) => {
      const index = indexes[at];
      const pod = podFromTemplate(template, state.job, reference);
      try {
        const created = index === undefined ? pod : indexedPod(state.job, pod, index, state.awaitingReplacement.get(index));
        await parts.control.create(state.job, created);
      } catch (failed) {
        // Every creation in this namespace will fail, and the job will be deleted.
        if (!isNamespaceTerminating(failed)) throw failed;
        refused += 1;
      }
    });
    state.active += successes;
    for (let i = successes - refused; i < indexes.length; i++) parts.expectations.created(this.#uid);
    return error;
  }

  /** Deletes pods that do not count. */
  async #delete(removed: readonly Pod[]): Promise<Error | undefined> {
    const { control, expectations } = this.parts;
    expectations.expectDeletions(this.#uid, removed.map(keyOf));
    const { error } = await this.#deleteEach(removed, async (pod) => {
      let isDeleted = false;
      try {
        await this.#removeFinalizer(pod);
        isDeleted = await control.delete(this.#job, pod);
      } finally {
        if (!isDeleted) expectations.deleted(this.#uid, keyOf(pod));
      }
    });
    return error;
  }

  async #deleteEach(
    removed: readonly Pod[],
    remove: (pod: Pod) => Promise<unknown>,
  ): Promise<{ deleted: number; error: Error | undefined }> {
    const results = await Promise.allSettled(removed.map(remove));
    const failures = results.filter((result) => result.status === 'rejected');
    const deleted = removed.length - failures.length;
    const { state } = this;
    state.active -= deleted;
    state.terminating += deleted;
    state.ready -= removed.filter((pod, at) => isPodReady(pod) && results[at]?.status === 'fulfilled').length;
    return { deleted, error: failures[0]?.reason };
  }

  /** Writes the condition Suspended, with an event. Returns true if it changed. */
  #reportSuspension(): boolean {
    const { status, nowMs } = this.state;
    const isNow = isSuspended(this.#job);
    const present = findCondition(status.conditions, 'Suspended');
    if ((present?.status === 'True') === isNow) return false;
    const [reason, message, event] = isNow ? ['JobSuspended', 'Job suspended', 'Suspended'] : ['JobResumed', 'Job resumed', 'Resumed'];
    const condition = { ...newCondition('Suspended', reason as string, message as string, nowMs), status: isNow ? 'True' : 'False' };
    status.conditions = present
      ? (status.conditions?.map((other) => (other === present ? condition : other)) ?? [])
      : [...(status.conditions ?? []), condition];
    if (isNow) delete status.startTime;
    else status.startTime = formatTime(nowMs);
    this.parts.recorder.event(this.#job, 'Normal', event as string, message as string);
    return true;
  }

  /** Counts the pods that have ended, removes their finalizers, and ends the job when nothing is left to count. */
  async #track(end: JobCondition | undefined, isStatusChanged: boolean): Promise<void> {
    const { state, parts } = this;
    const { status } = state;
    const tracked = new Set(
      state.pods
        .filter((pod) => isTracked(pod) && !state.untracked.has(pod.metadata.uid as string))
        .map(({ metadata }) => metadata.uid as string),
    );
    const isCounted = countReleased(status, tracked);
    const { released, isChanged, isFull } = track(state, end);
    const { condition, isNew } = this.#interim(end);
    if (isStatusChanged || isCounted || isChanged || isNew) {
      await this.#write();
      parts.backoff.set(this.#uid, state.nextBackoff);
    }
    const error = await this.#release(released, tracked);
    const hasMore = countReleased(status, tracked);
    if (error) {
      if (hasMore) await this.#write();
      throw error;
    }
    const isEnded = !isFull && condition !== undefined && this.#finish(condition);
    if (!hasMore && !isEnded) return;
    await this.#write();
    if (condition && isEnded) this.#reportEnd(condition);
  }

  /** Adds FailureTarget or SuccessCriteriaMet to the status. Returns the condition that ends the job afterwards. */
  #interim(end: JobCondition | undefined): { readonly condition: JobCondition | undefined; readonly isNew: boolean } {
    if (end?.type !== 'FailureTarget' && end?.type !== 'SuccessCriteriaMet') return { condition: end, isNew: false };
    const { status, nowMs } = this.state;
    const isNew = findCondition(status.conditions, end.type)?.status !== 'True';
    if (isNew) status.conditions = [...(status.conditions ?? []), end];
    const type = end.type === 'FailureTarget' ? 'Failed' : 'Complete';
    return { condition: newCondition(type, end.reason ?? '', end.message ?? '', nowMs), isNew };
  }

  async #write(): Promise<void> {
    const { client } = this.parts;
    this.#job = await client.replace({ ...jobs, subresource: 'status' }, { ...this.#job, status: this.state.status });
  }

  /** Removes the finalizers. `tracked` loses the UIDs of the pods without one. Returns the first error. */
  async #release(released: readonly Pod[], tracked: Set<string>): Promise<Error | undefined> {
    const results = await Promise.allSettled(
      released.map(async (pod) => {
        await this.#removeFinalizer(pod);
        tracked.delete(pod.metadata.uid as string);
      }),
    );
    return results.find((result) => result.status === 'rejected')?.reason;
  }

  async #removeFinalizer(pod: Pod): Promise<void> {
    if (isTracked(pod)) await removeFinalizer(this.parts, pod);
  }

  /** Adds the last condition once no pod remains. Returns false before that. */
  #finish(condition: JobCondition): boolean {
    const { status, terminating } = this.state;
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
    if (succeeded.length + failed.length > 0 || terminating > 0) return false;
    status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== condition.type), condition];
    if (condition.type === 'Complete' && condition.lastTransitionTime) status.completionTime = condition.lastTransitionTime;
    return true;
  }

  #reportEnd({ type, reason = '', message = '' }: JobCondition): void {
    const { recorder, ended } = this.parts;
    ended.add(this.#uid);
    if (type !== 'Complete') return recorder.event(this.#job, 'Warning', reason, message);
    const { completions } = this.#job.spec ?? {};
    if (completions !== undefined && (this.state.status.succeeded ?? 0) > completions)
      recorder.event(this.#job, 'Warning', 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached');
    recorder.event(this.#job, 'Normal', 'Completed', 'Job completed');
  }
}

interface Outcome {
  readonly end: JobCondition | undefined;
  readonly error: Error | undefined;
}

/** Removes the finalizer of a pod, which may be gone. */
export async function removeFinalizer({ client, untracked }: Pick<JobSyncParts, 'client' | 'untracked'>, pod: Pod): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [trackingFinalizer] } };
  untracked.add(uid);
  try {
    await client.patch(pods, namespace, name, { type: 'strategic', patch });
  } catch (error) {
    untracked.delete(uid);
    if (!isNotFound(error)) throw error;
  }
}
