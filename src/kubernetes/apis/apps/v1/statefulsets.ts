import { fieldPath } from '#apimachinery/validation/field';
import { nameIsDNSLabel } from '#apimachinery/validation/names';
import { defineResource, type StrategyContext } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import {
  statefulSetWarnings,
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from '#kubernetes/apis/apps/validation/stateful-set';
import { scaleSubresource } from '#kubernetes/apis/autoscaling/scale';
import { containerColumns, stringColumn } from '#kubernetes/apis/columns';
import { podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { StatefulSet } from '#kubernetes/schema/apps_v1.gen';
import { defaultStatefulSet } from './defaults.ts';

/** Warnings about the pod template. */
function templateWarnings({ spec }: StatefulSet): string[] {
  return podTemplateWarnings(spec?.template, fieldPath('spec', 'template'));
}

/**
 * Drops the fields of the gate MaxUnavailableStatefulSet. Upstream: dropStatefulSetDisabledFields in
 * pkg/registry/apps/statefulset/strategy.go.
 */
function dropMaxUnavailable({ spec }: StatefulSet, old: StatefulSet | undefined, { isEnabled }: StrategyContext): void {
  if (isEnabled?.('MaxUnavailableStatefulSet')) {
    // Upstream defaults this field only if the gate is on.
    const { rollingUpdate } = spec?.updateStrategy ?? {};
    if (rollingUpdate) rollingUpdate.maxUnavailable ??= 1;
    return;
  }
  if (old?.spec?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined) delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}

export default defineResource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  storageVersionHash: 'H+vl74LkKdo=',
  schema: 'apps_v1.StatefulSet',
  storagePath: 'statefulsets',
  defaults: defaultStatefulSet,
  strategy: specAndStatus(
    withPodTemplate<StatefulSet>(({ spec }) => spec?.template, {
      validateName: nameIsDNSLabel,
      prepareForCreate: (statefulSet, context) => dropMaxUnavailable(statefulSet, undefined, context),
      prepareForUpdate: dropMaxUnavailable,
      validate: validateStatefulSet,
      validateUpdate: validateStatefulSetUpdate,
      warningsOnCreate: (statefulSet) => [...templateWarnings(statefulSet), ...statefulSetWarnings(statefulSet)],
      warningsOnUpdate: (statefulSet, old) => [
        ...(statefulSet.metadata.generation === old.metadata.generation ? [] : templateWarnings(statefulSet)),
        ...statefulSetWarnings(statefulSet, 'Spec'),
      ],
    }),
  ),
  columns: [
    nameColumn,
    stringColumn(
      'Ready',
      'Number of the pod with ready state',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    ageColumn,
    ...containerColumns<StatefulSet>(({ spec }) => spec?.template),
  ],
  subresources: {
    scale: scaleSubresource(['apps/v1beta1', 'apps/v1beta2', 'apps/v1']),
    status: statusSubresource({ strategy: { validateUpdate: validateStatefulSetStatusUpdate } }),
  },
});
