import { newBadRequest } from '#apimachinery/api/errors';
import { quote } from '#apimachinery/runtime/quote';
import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateDaemonSet, validateDaemonSetStatusUpdate, validateDaemonSetUpdate } from '#kubernetes/apis/apps/validation/daemon-set';
import { containerColumns, describe, formatLabels, formatLabelSelector, integerColumn, stringColumn, wide } from '#kubernetes/apis/columns';
import { podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { equalAs } from '#kubernetes/apis/equal-as';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { DaemonSet } from '#kubernetes/schema/apps_v1.gen';
import { defaultDaemonSet } from './defaults.ts';

/** Annotation that holds the field of extensions/v1beta1 that counted template changes. */
const templateGenerationAnnotation = 'deprecated.daemonset.template.generation';

function templateGeneration({ metadata }: DaemonSet): number {
  return Number(metadata.annotations?.[templateGenerationAnnotation] ?? 0);
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  (metadata.annotations ??= {})[templateGenerationAnnotation] = String(generation);
}

/**
 * Normalizes the annotation of the template generation. Upstream's internal type has a field for the count; decoding fills it from the
 * annotation and encoding writes it back, 0 if it was absent, so that field managers own it. Upstream: pkg/apis/apps/v1/conversion.go.
 */
function convertTemplateGeneration({ metadata }: DaemonSet): void {
  const text = metadata.annotations?.[templateGenerationAnnotation] ?? '0';
  const generation = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
  if (generation === undefined || BigInt.asIntN(64, generation) !== generation) {
    const problem = generation === undefined ? 'invalid syntax' : 'value out of range';
    throw newBadRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${quote(text)}: ${problem}`);
  }
  (metadata.annotations ??= {})[templateGenerationAnnotation] = String(generation);
}

/** Warnings about the pod template. */
function templateWarnings({ spec }: DaemonSet): string[] {
  return podTemplateWarnings(spec?.template, fieldPath('spec', 'template'));
}

export default defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  storageVersionHash: 'dd7pWHUlMKQ=',
  schema: 'apps_v1.DaemonSet',
  storagePath: 'daemonsets',
  defaults(daemonSet) {
    defaultDaemonSet(daemonSet);
    convertTemplateGeneration(daemonSet);
  },
  strategy: specAndStatus(
    withPodTemplate<DaemonSet>(({ spec }) => spec?.template, {
      prepareForCreate(daemonSet) {
        setTemplateGeneration(daemonSet, Math.max(templateGeneration(daemonSet), 1));
      },
      prepareForUpdate(daemonSet, old) {
        const same = equalAs('core_v1.PodTemplateSpec', daemonSet.spec?.template, old.spec?.template);
        setTemplateGeneration(daemonSet, templateGeneration(old) + (same ? 0 : 1));
      },
      validate: validateDaemonSet,
      validateUpdate: validateDaemonSetUpdate,
      warningsOnCreate: templateWarnings,
      warningsOnUpdate: (daemonSet, old) => (templateGeneration(daemonSet) === templateGeneration(old) ? [] : templateWarnings(daemonSet)),
    }),
  ),
  internalAnnotations: [templateGenerationAnnotation],
  columns: [
    nameColumn,
    integerColumn(
      'Desired',
      describe('apps_v1.DaemonSetStatus', 'desiredNumberScheduled'),
      ({ status }) => status?.desiredNumberScheduled ?? 0,
    ),
    integerColumn(
      'Current',
      describe('apps_v1.DaemonSetStatus', 'currentNumberScheduled'),
      ({ status }) => status?.currentNumberScheduled ?? 0,
    ),
    integerColumn('Ready', describe('apps_v1.DaemonSetStatus', 'numberReady'), ({ status }) => status?.numberReady ?? 0),
    integerColumn(
      'Up-to-date',
      describe('apps_v1.DaemonSetStatus', 'updatedNumberScheduled'),
      ({ status }) => status?.updatedNumberScheduled ?? 0,
    ),
    integerColumn('Available', describe('apps_v1.DaemonSetStatus', 'numberAvailable'), ({ status }) => status?.numberAvailable ?? 0),
    stringColumn('Node Selector', describe('core_v1.PodSpec', 'nodeSelector'), ({ spec }) =>
      formatLabels(spec?.template?.spec?.nodeSelector),
    ),
    ageColumn,
    ...containerColumns<DaemonSet>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('apps_v1.DaemonSetSpec', 'selector'), ({ spec }) => formatLabelSelector(spec?.selector), wide),
  ],
  subresources: {
    status: statusSubresource({
      strategy: {
        prepareForUpdate(daemonSet, old) {
          setTemplateGeneration(daemonSet, templateGeneration(old));
        },
        validateUpdate: validateDaemonSetStatusUpdate,
      },
    }),
  },
});
