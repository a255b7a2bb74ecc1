import { fieldPath } from '#apimachinery/validation/field';
import { longName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { scaleSubresource } from '#kubernetes/apis/autoscaling/scale';
import { containerColumns, describe, formatLabels, integerColumn, stringColumn, wide } from '#kubernetes/apis/columns';
import { hostnameWarning, podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import {
  validateReplicationController,
  validateReplicationControllerStatusUpdate,
} from '#kubernetes/apis/core/validation/replication-controller';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { ReplicationController } from '#kubernetes/schema/core_v1.gen';
import { defaultReplicationController } from './defaults.ts';

export default defineResource<ReplicationController>({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  resource: 'replicationcontrollers',
  shortNames: ['rc'],
  categories: ['all'],
  storageVersionHash: 'Jond2If31h0=',
  schema: 'core_v1.ReplicationController',
  storagePath: 'controllers',
  defaults: defaultReplicationController,
  strategy: specAndStatus(
    withPodTemplate<ReplicationController>(({ spec }) => spec?.template, {
      defaultGarbageCollectionPolicy: 'orphan',
      validateName: longName,
      validate: (controller, context) => validateReplicationController(controller, undefined, context),
      validateUpdate: validateReplicationController,
      warningsOnCreate: ({ metadata, spec }) => [
        ...hostnameWarning(metadata.name, 'Pod names and hostnames'),
        ...podTemplateWarnings(spec?.template, fieldPath('spec', 'template')),
      ],
      // Upstream uses the old template here.
      warningsOnUpdate: ({ metadata }, old) =>
        metadata.generation === old.metadata.generation ? [] : podTemplateWarnings(old.spec?.template, fieldPath('spec', 'template')),
    }),
  ),
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    integerColumn('Desired', describe('core_v1.ReplicationControllerSpec', 'replicas'), ({ spec }) => spec?.replicas ?? 0),
    integerColumn('Current', describe('core_v1.ReplicationControllerStatus', 'replicas'), ({ status }) => status?.replicas ?? 0),
    integerColumn('Ready', describe('core_v1.ReplicationControllerStatus', 'readyReplicas'), ({ status }) => status?.readyReplicas ?? 0),
    ageColumn,
    ...containerColumns<ReplicationController>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('core_v1.ReplicationControllerSpec', 'selector'), ({ spec }) => formatLabels(spec?.selector), wide),
  ],
  subresources: {
    scale: scaleSubresource(['v1'], 'labels'),
    status: statusSubresource({ strategy: { validateUpdate: validateReplicationControllerStatusUpdate } }),
  },
});
