/** Validation of the transitions of a job's status. Upstream: ValidateJobUpdateStatus, getStatusValidationOptions of the job's strategy. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, duplicate, fieldPath, invalid, omitValue, required, named } from '#apimachinery/validation/field';
import { validateNonnegative } from '#kubernetes/apis/core/validation/checks';
import { structValue } from '#kubernetes/apis/struct-value';
import { validateMetaUpdateAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { Job, JobSpec, JobStatus } from '#kubernetes/schema/batch_v1.gen';
import { countIndexes, firstOverlap } from './index-intervals.ts';
import { hasCondition, isFinished } from './job-conditions.ts';

const statusPath = fieldPath('status');
const noSpec: JobSpec = {};
const noStatus: JobStatus = {};

/**
 * The differences between two versions of a job. A rule applies only to what the update changes, so that a job that already violates it can
 * still be updated.
 */
class Changes {
  readonly spec: JobSpec;
  readonly status: JobStatus;
  readonly before: JobStatus;
  readonly complete: boolean;
  readonly failed: boolean;
  readonly failureTarget: boolean;
  readonly successCriteriaMet: boolean;
  readonly finished: boolean;

  constructor(
    readonly job: Job,
    readonly old: Job,
  ) {
    this.spec = job.spec ?? noSpec;
    this.status = job.status ?? noStatus;
    this.before = old.status ?? noStatus;
    this.complete = hasCondition(job, 'Complete');
    this.failed = hasCondition(job, 'Failed');
    this.failureTarget = hasCondition(job, 'FailureTarget');
    this.successCriteriaMet = hasCondition(job, 'SuccessCriteriaMet');
    this.finished = this.complete || this.failed;
  }

  has(field: 'active' | 'startTime' | 'completionTime' | 'ready' | 'terminating' | 'failedIndexes' | 'completedIndexes'): boolean {
    const zero = field === 'active' ? 0 : field === 'completedIndexes' ? '' : undefined;
    return (this.status[field] ?? zero) !== (this.before[field] ?? zero);
  }

  get completeChanged(): boolean {
    return this.complete !== hasCondition(this.old, 'Complete');
  }

  get failedChanged(): boolean {
    return this.failed !== hasCondition(this.old, 'Failed');
  }

  get finishedChanged(): boolean {
    return this.finished !== isFinished(this.old);
  }
}

export function validateJobStatusUpdate(job: Job, old: Job): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaUpdateAgain(errors, job.metadata, old.metadata);
  const changes = new Changes(job, old);
  validateCounters(errors, changes.status);
  validateCompletion(errors, changes);
  validateFinished(errors, changes);
  validateIndexes(errors, changes);
  const { status, finished } = changes;
  if ((status.terminating ?? 0) > 0 && finished && (changes.finishedChanged || changes.has('terminating'))) {
    errors.push(invalid(statusPath.child('terminating'), status.terminating, 'terminating>0 is invalid for finished job'));
  }
  if (status.ready !== undefined && status.ready > (status.active ?? 0) && (changes.has('ready') || changes.has('active'))) {
    errors.push(invalid(statusPath.child('ready'), status.ready, 'cannot set more ready pods than active'));
  }
  validateSuccessCriteria(errors, changes);
  validateTransition(errors, changes);
  return errors;
}

function conditionsError(detail: string): FieldError {
  return invalid(statusPath.child('conditions'), omitValue, detail);
}

function validateCounters(errors: FieldError[], status: JobStatus): void {
  validateNonnegative(errors, status.active, statusPath, 'active');
  validateNonnegative(errors, status.succeeded, statusPath, 'succeeded');
  validateNonnegative(errors, status.failed, statusPath, 'failed');
  validateNonnegative(errors, status.ready, statusPath, 'ready');
  validateNonnegative(errors, status.terminating, statusPath, 'terminating');
  const uncounted = status.uncountedTerminatedPods;
  if (!uncounted) return;
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed'] as const) {
    for (const [i, uid] of (uncounted[field] ?? []).entries()) {
      const at = () => statusPath.child('uncountedTerminatedPods', field).index(i);
      if (uid === '') errors.push(invalid(at(), uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(at(), named(uid)));
      seen.add(uid);
    }
  }
}

function validateCompletion(errors: FieldError[], changes: Changes): void {
  const { status, old, complete, failed } = changes;
  const { completionTime, startTime } = status;
  if (complete && failed && (changes.completeChanged || changes.failedChanged))
    errors.push(conditionsError('cannot set Complete=True and Failed=true conditions'));
  if (complete && changes.failureTarget && (changes.completeChanged || !hasCondition(old, 'FailureTarget'))) {
    errors.push(conditionsError('cannot set Complete=True and FailureTarget=true conditions'));
  }
  if (changes.completeChanged || changes.has('completionTime')) {
    const at = () => statusPath.child('completionTime');
    if (completionTime && !complete)
      errors.push(invalid(at(), completionTime, 'cannot set completionTime when there is no Complete=True condition'));
    if (!completionTime && complete) errors.push(required(at(), 'completionTime is required for Complete jobs'));
  }
  if (
    startTime &&
    completionTime &&
    (changes.has('startTime') || changes.has('completionTime')) &&
    Date.parse(completionTime) < Date.parse(startTime)
  ) {
    errors.push(invalid(statusPath.child('completionTime'), completionTime, 'must be equal to or after `startTime`'));
  }
}

function validateFinished(errors: FieldError[], changes: Changes): void {
  const { spec, status, before, old, complete, failed, finished } = changes;
  if (failed && !changes.failureTarget && (changes.failedChanged || changes.has('failedIndexes'))) {
    errors.push(conditionsError('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if (complete && !changes.successCriteriaMet && (changes.completeChanged || hasCondition(old, 'SuccessCriteriaMet'))) {
    errors.push(conditionsError('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
  if (!finished) return;
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  if (active > 0 && (changes.finishedChanged || changes.has('active')))
    errors.push(invalid(statusPath.child('active'), active, 'active>0 is invalid for finished job'));
  const neverStarts = spec.suspend === true && spec.completions === 0;
  if (!startTime && (changes.finishedChanged || changes.has('startTime')) && !neverStarts) {
    errors.push(required(statusPath.child('startTime'), 'startTime is required for finished job'));
  }
  const isUncounted = (uncounted?.failed?.length ?? 0) + (uncounted?.succeeded?.length ?? 0) > 0;
  if (isUncounted && (changes.finishedChanged || !semanticDeepEqual(uncounted, before.uncountedTerminatedPods))) {
    errors.push(
      invalid(
        statusPath.child('uncountedTerminatedPods'),
        structValue({ Succeeded: uncounted!.succeeded, Failed: uncounted!.failed }),
        'must be empty for finished job',
      ),
    );
  }
}

function validateIndexes(errors: FieldError[], changes: Changes): void {
  const {
    spec: { completions, completionMode, backoffLimitPerIndex },
    status: { completedIndexes = '', failedIndexes },
  } = changes;
  const completedChanged = changes.has('completedIndexes');
  const failedChanged = changes.has('failedIndexes');
  if (!completedChanged && !failedChanged) return;
  const completedPath = statusPath.child('completedIndexes');
  const failedPath = statusPath.child('failedIndexes');
  if (completedChanged && completions !== undefined) {
    const counted = countIndexes(completedIndexes, completions);
    if (typeof counted === 'string') errors.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${counted}`));
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    const counted = countIndexes(failedIndexes, completions);
    if (typeof counted === 'string') errors.push(invalid(failedPath, failedIndexes, `error parsing failedIndexes: ${counted}`));
  }
  if (completedChanged && completedIndexes !== '' && completionMode !== 'Indexed') {
    errors.push(invalid(completedPath, completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode'));
  }
  if (failedIndexes === undefined) return;
  if (failedChanged && backoffLimitPerIndex === undefined) {
    errors.push(invalid(failedPath, failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  const overlap = completions === undefined ? undefined : firstOverlap(completedIndexes, failedIndexes, completions);
  if (overlap !== undefined)
    errors.push(invalid(failedPath, failedIndexes, `failedIndexes and completedIndexes overlap at index: ${overlap}`));
}

function validateSuccessCriteria(errors: FieldError[], { spec, complete, failed, failureTarget, successCriteriaMet }: Changes): void {
  if (successCriteriaMet && failed) errors.push(conditionsError('cannot set SuccessCriteriaMet=True and Failed=true conditions'));
  if (successCriteriaMet && failureTarget)
    errors.push(conditionsError('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions'));
  if (spec.successPolicy && !successCriteriaMet && complete) {
    errors.push(conditionsError('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  }
}

/** Validates fields that must not be reverted. */
function validateTransition(errors: FieldError[], { job, old, spec, status, before, successCriteriaMet }: Changes): void {
  for (const type of ['Failed', 'Complete', 'FailureTarget'] as const) {
    if (hasCondition(old, type) && !hasCondition(job, type))
      errors.push(conditionsError(`cannot disable the terminal ${type}=True condition`));
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status;
  if (failed < (before.failed ?? 0)) errors.push(invalid(statusPath.child('failed'), failed, 'cannot decrease the failed counter'));
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  if (succeeded < (before.succeeded ?? 0) && !isElastic)
    errors.push(invalid(statusPath.child('succeeded'), succeeded, 'cannot decrease the succeeded counter'));
  if (completionTime && before.completionTime && completionTime !== before.completionTime) {
    errors.push(invalid(statusPath.child('completionTime'), completionTime, 'field is immutable'));
  }
  const isResuming = hasCondition(old, 'Suspended') && hasCondition(job, 'Suspended', 'False');
  if (before.startTime && startTime !== before.startTime && !isResuming && !spec.suspend) {
    errors.push(invalid(statusPath.child('startTime'), startTime, 'field is immutable for unsuspended job once set'));
  }
  const wasMet = hasCondition(old, 'SuccessCriteriaMet');
  if (wasMet && !successCriteriaMet) errors.push(conditionsError('cannot disable the SuccessCriteriaMet=True condition'));
  if (hasCondition(old, 'Complete') && !wasMet && successCriteriaMet) {
    errors.push(conditionsError('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
}
