import { type FieldError, fieldPath } from '#apimachinery/validation/field';
import { defineResource, type ServerTraits } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import { containerColumns, formatLabels, stringColumn } from '#kubernetes/apis/columns';
import { withPodTemplate } from '#kubernetes/apis/core/disabled-fields';
import { templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validatePodTemplateSpec } from '#kubernetes/apis/core/validation/pod-spec';
import { podTemplateWarnings } from '#kubernetes/apis/core/validation/pod-warnings';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { PodTemplate, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';
import { defaultPodTemplate } from './defaults.ts';

const path = fieldPath('template');

function validateTemplate(template: PodTemplateSpec = {}, old: PodTemplateSpec | undefined, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validatePodTemplateSpec(errors, template, path, templateOptions(old, server));
  return errors;
}

export default defineResource<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  resource: 'podtemplates',
  storageVersionHash: 'LIXB2x4IFpk=',
  schema: 'core_v1.PodTemplate',
  storagePath: 'podtemplates',
  defaults: defaultPodTemplate,
  strategy: withPodTemplate<PodTemplate>(({ template }) => template, {
    returnsDeletedObject: true,
    prepareForCreate(podTemplate) {
      podTemplate.metadata.generation = 1;
    },
    prepareForUpdate(podTemplate, old) {
      bumpGeneration('core_v1.PodTemplate', podTemplate, old, 'template');
    },
    validate: ({ template }, context) => validateTemplate(template, undefined, context),
    validateUpdate: ({ template }, old, context) => validateTemplate(template, old.template, context),
    warningsOnCreate: ({ template }) => podTemplateWarnings(template, path),
    warningsOnUpdate: ({ metadata, template }, old) =>
      metadata.generation === old.metadata.generation ? [] : podTemplateWarnings(template, path),
  }),
  columns: [
    nameColumn,
    ...containerColumns<PodTemplate>(({ template }) => template, {}),
    stringColumn('Pod Labels', 'The labels for the pod template.', ({ template }) => formatLabels(template?.metadata?.labels)),
  ],
});
