import type { DeleteOptions } from '#apimachinery/meta/types';
import { humanDuration } from '#apimachinery/runtime/duration';
import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateJob, validateJobUpdate } from '#kubernetes/apis/batch/validation/job';
import { validateJobStatusUpdate } from '#kubernetes/apis/batch/validation/job-status';
import { jobSpecWarnings } from '#kubernetes/apis/batch/validation/warnings';
import { containerColumns, describe, formatLabelSelector, stringColumn, wide } from '#kubernetes/apis/columns';
import { hostnameWarning, podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { Job } from '#kubernetes/schema/batch_v1.gen';
import { defaultJob } from './defaults.ts';

function statusText({ metadata, status }: Job): string {
  const holds = (type: string) => status?.conditions?.find((condition) => condition.type === type)?.status === 'True';
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

/**
 * Sets the selector to the job's uid and adds the labels of the controller to the template, unless the client brings its own selector.
 * Existing labels are kept; validation rejects those that conflict.
 */
function generateSelector(job: Job): void {
  const template = ((job.spec ??= {}).template ??= {});
  const labels = ((template.metadata ??= {}).labels ??= {});
  const name = job.metadata.name ?? '';
  const uid = job.metadata.uid ?? '';
  for (const label of ['job-name', 'batch.kubernetes.io/job-name']) labels[label] ??= name;
  for (const label of ['controller-uid', 'batch.kubernetes.io/controller-uid']) labels[label] ??= uid;
  ((job.spec.selector ??= {}).matchLabels ??= {})['batch.kubernetes.io/controller-uid'] ??= uid;
  if (job.metadata.labels === labels) job.metadata.labels = { ...labels };
}

function specWarnings({ spec }: Job): string[] {
  return [...jobSpecWarnings(spec, 'spec'), ...podTemplateWarnings(spec?.template, fieldPath('spec', 'template'))];
}

/** Warns about a deletion without a propagation policy, which orphans the pods. Upstream: pkg/registry/batch/job/storage. */
function deletionWarnings({ propagationPolicy, orphanDependents }: DeleteOptions): string[] {
  if (propagationPolicy !== undefined || orphanDependents !== undefined) return [];
  return [
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  ];
}

export default defineResource<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  categories: ['all'],
  storageVersionHash: 'mudhfqk/qZY=',
  schema: 'batch_v1.Job',
  storagePath: 'jobs',
  defaults: defaultJob,
  strategy: specAndStatus(
    withPodTemplate<Job>(({ spec }) => spec?.template, {
      defaultGarbageCollectionPolicy: 'orphan',
      prepareForCreate(job) {
        if (!job.spec?.manualSelector) generateSelector(job);
      },
      /** Upstream copies the labels of the template to the job on every read, so that validation does not see those of a new job. */
      canonicalize(job) {
        const labels = job.spec?.template?.metadata?.labels;
        if (labels && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = { ...labels };
      },
      warningsOnDelete: deletionWarnings,
      validate: validateJob,
      genericMeta: 'update',
      validateUpdate: validateJobUpdate,
      warningsOnCreate: (job) => [...hostnameWarning(job.metadata.name, 'Pod names and hostnames'), ...specWarnings(job)],
      warningsOnUpdate: (job, old) => (job.metadata.generation === old.metadata.generation ? [] : specWarnings(job)),
    }),
  ),
  selectableFields: { 'status.successful': ({ status }) => String(status?.succeeded ?? 0) },
  unsupportedField: (label) => `field label ${JSON.stringify(label)} not supported for Job`,
  columns: [
    nameColumn,
    stringColumn('Status', 'Status of the job.', statusText),
    stringColumn('Completions', describe('batch_v1.JobStatus', 'succeeded'), completionsText),
    stringColumn('Duration', 'Time required to complete the job.', ({ status }, { now }) => {
      if (!status?.startTime) return '';
      return humanDuration((status.completionTime ? Date.parse(status.completionTime) : now) - Date.parse(status.startTime));
    }),
    ageColumn,
    ...containerColumns<Job>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('batch_v1.JobSpec', 'selector'), ({ spec }) => formatLabelSelector(spec?.selector), wide),
  ],
  subresources: {
    status: statusSubresource({ strategy: { validateUpdate: validateJobStatusUpdate } }),
  },
});
