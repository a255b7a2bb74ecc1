import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateReplicaSet, validateReplicaSetStatusUpdate, validateReplicaSetUpdate } from '#kubernetes/apis/apps/validation/replica-set';
import { scaleSubresource } from '#kubernetes/apis/autoscaling/scale';
import { containerColumns, describe, formatLabelSelector, integerColumn, stringColumn, wide } from '#kubernetes/apis/columns';
import { hostnameWarning, podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { dropTerminatingReplicas } from '#kubernetes/apis/apps/terminating-replicas';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { ReplicaSet } from '#kubernetes/schema/apps_v1.gen';
import { defaultReplicaSet } from './defaults.ts';

/** Warnings about the pod template. */
function templateWarnings({ spec }: ReplicaSet): string[] {
  return podTemplateWarnings(spec?.template, fieldPath('spec', 'template'));
}

export default defineResource<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  shortNames: ['rs'],
  categories: ['all'],
  storageVersionHash: 'P1RzHs8/mWQ=',
  schema: 'apps_v1.ReplicaSet',
  storagePath: 'replicasets',
  defaults: defaultReplicaSet,
  strategy: specAndStatus(
    withPodTemplate<ReplicaSet>(({ spec }) => spec?.template, {
      validate: validateReplicaSet,
      validateUpdate: validateReplicaSetUpdate,
      warningsOnCreate: (replicaSet) => [
        ...hostnameWarning(replicaSet.metadata.name, 'Pod names and hostnames'),
        ...templateWarnings(replicaSet),
      ],
      warningsOnUpdate: (replicaSet, old) =>
        replicaSet.metadata.generation === old.metadata.generation ? [] : templateWarnings(replicaSet),
    }),
  ),
  columns: [
    nameColumn,
    integerColumn('Desired', describe('apps_v1.ReplicaSetSpec', 'replicas'), ({ spec }) => spec?.replicas ?? 0),
    integerColumn('Current', describe('apps_v1.ReplicaSetStatus', 'replicas'), ({ status }) => status?.replicas ?? 0),
    integerColumn('Ready', describe('apps_v1.ReplicaSetStatus', 'readyReplicas'), ({ status }) => status?.readyReplicas ?? 0),
    ageColumn,
    ...containerColumns<ReplicaSet>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('apps_v1.ReplicaSetSpec', 'selector'), ({ spec }) => formatLabelSelector(spec?.selector), wide),
  ],
  subresources: {
    scale: scaleSubresource(['apps/v1beta2', 'apps/v1']),
    status: statusSubresource({ strategy: { prepareForUpdate: dropTerminatingReplicas, validateUpdate: validateReplicaSetStatusUpdate } }),
  },
});
