/** Defaults of jobs. Upstream: pkg/apis/batch/v1/defaults.go and zz_generated.defaults.go. */
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { defaultPodTemplateSpec } from '#kubernetes/apis/core/v1/defaults';
import type { CronJob, Job, JobSpec } from '#kubernetes/schema/batch_v1.gen';

const maxInt32 = 2 ** 31 - 1;

export function defaultJob(job: Job): void {
  const spec = (job.spec ??= {});
  // With parallelism but no completions, the success of any pod completes the job.
  if (spec.parallelism === undefined) {
    spec.completions ??= 1;
    spec.parallelism = 1;
  }
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : maxInt32;
  const labels = spec.template?.metadata?.labels;
  // As upstream, job and template share one object: labels that the strategy adds to the template appear on the job too.
  if (labels !== undefined && !hasAny(job.metadata.labels)) job.metadata.labels = labels;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  spec.manualSelector ??= false;
  defaultJobSpec(spec);
}

function hasAny(map: Readonly<Record<string, string>> | undefined): boolean {
  return map !== undefined && !isEmptyObject(map);
}

/** Defaults that also apply to the job template of a cron job. */
function defaultJobSpec(spec: JobSpec): void {
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) if (!pattern.status) pattern.status = 'True';
  }
  defaultPodTemplateSpec((spec.template ??= {}));
}

export function defaultCronJob(cronJob: CronJob): void {
  const spec = (cronJob.spec ??= {});
  if (!spec.concurrencyPolicy) spec.concurrencyPolicy = 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  defaultJobSpec(((spec.jobTemplate ??= {}).spec ??= {}));
}
