import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import { cronJobScheduleWarnings, validateCronJob, validateCronJobUpdate } from '#kubernetes/apis/batch/validation/cron-job';
import { jobSpecWarnings } from '#kubernetes/apis/batch/validation/warnings';
import {
  booleanColumn,
  boolText,
  containerColumns,
  describe,
  formatLabelSelector,
  integerColumn,
  stringColumn,
  wide,
} from '#kubernetes/apis/columns';
import { hostnameWarning, podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { CronJob } from '#kubernetes/schema/batch_v1.gen';
import { defaultCronJob } from './defaults.ts';

function jobWarnings({ spec }: CronJob): string[] {
  const job = spec?.jobTemplate?.spec;
  return [
    ...jobSpecWarnings(job, 'spec.jobTemplate.spec'),
    ...podTemplateWarnings(job?.template, fieldPath('spec', 'jobTemplate', 'spec', 'template')),
  ];
}

export default defineResource<CronJob>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  resource: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  storageVersionHash: 'sd5LIXh4Fjs=',
  schema: 'batch_v1.CronJob',
  storagePath: 'cronjobs',
  defaults: defaultCronJob,
  strategy: specAndStatus(
    withPodTemplate<CronJob>(({ spec }) => spec?.jobTemplate?.spec?.template, {
      validate: validateCronJob,
      validateUpdate: validateCronJobUpdate,
      warningsOnCreate: (cronJob) => [...hostnameWarning(cronJob.metadata.name, 'Pod names and hostnames'), ...jobWarnings(cronJob)],
      warningsOnUpdate: (cronJob, old) => [
        ...(cronJob.metadata.generation === old.metadata.generation ? [] : jobWarnings(cronJob)),
        ...cronJobScheduleWarnings(cronJob),
      ],
    }),
  ),
  columns: [
    nameColumn,
    stringColumn('Schedule', describe('batch_v1.CronJobSpec', 'schedule'), ({ spec }) => spec?.schedule ?? ''),
    stringColumn('Timezone', describe('batch_v1.CronJobSpec', 'timeZone'), ({ spec }) => spec?.timeZone ?? '<none>'),
    booleanColumn('Suspend', describe('batch_v1.CronJobSpec', 'suspend'), ({ spec }) => boolText(spec?.suspend)),
    integerColumn('Active', describe('batch_v1.CronJobStatus', 'active'), ({ status }) => status?.active?.length ?? 0),
    stringColumn('Last Schedule', describe('batch_v1.CronJobStatus', 'lastScheduleTime'), ({ status }, { now }) =>
      status?.lastScheduleTime ? translateTimestampSince(status.lastScheduleTime, now) : '<none>',
    ),
    ageColumn,
    ...containerColumns<CronJob>(({ spec }) => spec?.jobTemplate?.spec?.template),
    stringColumn(
      'Selector',
      describe('batch_v1.JobSpec', 'selector'),
      ({ spec }) => formatLabelSelector(spec?.jobTemplate?.spec?.selector),
      wide,
    ),
  ],
  subresources: {
    status: statusSubresource({ strategy: { genericMeta: 'update' } }),
  },
});
