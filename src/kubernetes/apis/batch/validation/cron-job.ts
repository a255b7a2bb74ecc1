/** Validation of cron jobs. Upstream: ValidateCronJobCreate, ValidateCronJobUpdate in pkg/apis/batch/validation/validation.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { type FieldError, fieldPath, invalid, notSupported, required } from '#apimachinery/validation/field';
import { byteLength, validateNonnegative, validateRequiredEnum } from '#kubernetes/apis/core/validation/checks';
import { templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { selectorValue } from '#kubernetes/apis/pod-template';
import type { CronJob, CronJobSpec, JobSpec } from '#kubernetes/schema/batch_v1.gen';
import { isTimeZone, scheduleError } from './cron-schedule.ts';
import { validateJobSpec } from './job.ts';

/** The controller appends a dash and ten digits to form the name of a job, which has at most 63 bytes. */
const maxNameLength = 52;
const specPath = fieldPath('spec');
const noSpec: CronJobSpec = {};
const noJob: JobSpec = {};

export function validateCronJob({ metadata: { name = '' }, spec = noSpec }: CronJob, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateCronJobSpec(errors, spec, undefined, server);
  if (byteLength(name) > maxNameLength)
    errors.push(invalid(fieldPath('metadata', 'name'), name, `must be no more than ${maxNameLength} characters`));
  return errors;
}

export function validateCronJobUpdate({ spec = noSpec }: CronJob, old: CronJob, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateCronJobSpec(errors, spec, old.spec ?? noSpec, server);
  return errors;
}

function validateCronJobSpec(errors: FieldError[], spec: CronJobSpec, old: CronJobSpec | undefined, server: ServerTraits): void {
  validateSchedule(errors, spec, old);
  validateNonnegative(errors, spec.startingDeadlineSeconds, specPath, 'startingDeadlineSeconds');
  if (spec.timeZone !== undefined && (!old || old.timeZone !== spec.timeZone)) validateTimeZone(errors, spec.timeZone);
  validateRequiredEnum(errors, spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], specPath, 'concurrencyPolicy');
  const { spec: job = noJob } = spec.jobTemplate ?? {};
  const path = specPath.child('jobTemplate', 'spec');
  validateJobSpec(errors, job, path, templateOptions(old?.jobTemplate?.spec?.template, server));
  if (job.selector) errors.push(invalid(path.child('selector'), selectorValue(job.selector), '`selector` will be auto-generated'));
  if (job.manualSelector) errors.push(notSupported(path.child('manualSelector'), true, ['nil', 'false']));
  validateNonnegative(errors, spec.successfulJobsHistoryLimit, specPath, 'successfulJobsHistoryLimit');
  validateNonnegative(errors, spec.failedJobsHistoryLimit, specPath, 'failedJobsHistoryLimit');
}

function validateSchedule(errors: FieldError[], { schedule, timeZone }: CronJobSpec, old: CronJobSpec | undefined): void {
  if (!schedule) {
    errors.push(required(specPath.child('schedule')));
    return;
  }
  const error = scheduleError(schedule);
  if (error !== undefined) errors.push(invalid(specPath.child('schedule'), schedule, error));
  if (!schedule.includes('TZ')) return;
  const wasAllowed = old?.schedule?.includes('TZ') ?? false;
  if (!wasAllowed)
    errors.push(invalid(specPath.child('schedule'), schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  else if (timeZone !== undefined)
    errors.push(invalid(specPath.child('schedule'), schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
}

function validateTimeZone(errors: FieldError[], timeZone: string): void {
  const path = specPath.child('timeZone');
  if (timeZone === '') {
    errors.push(invalid(path, timeZone, 'timeZone must be nil or non-empty string'));
    return;
  }
  const isName = timeZone.split('/').every((part) => /^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$/.test(part) && part !== '.' && part !== '..');
  if (!isName) {
    errors.push(invalid(path, timeZone, `unknown time zone ${timeZone}`));
    return;
  }
  if (timeZone.toLowerCase() === 'local')
    errors.push(invalid(path, timeZone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'));
  if (!isTimeZone(timeZone)) errors.push(invalid(path, timeZone, `unknown time zone ${timeZone}`));
}

/** Warnings of an update. As upstream, the path is `spec.spec`. */
export function cronJobScheduleWarnings({ spec }: CronJob): string[] {
  return spec?.schedule?.includes('TZ')
    ? [
        'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
      ]
    : [];
}
