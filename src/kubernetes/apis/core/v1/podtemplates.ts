import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import { containerColumns, formatLabels, stringColumn } from '#kubernetes/apis/columns';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { PodTemplate } from '#kubernetes/schema/core_v1.gen';
import { defaultPodTemplate } from './defaults.ts';

export default defineResource<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  resource: 'podtemplates',
  storageVersionHash: 'LIXB2x4IFpk=',
  schema: 'core_v1.PodTemplate',
  storagePath: 'podtemplates',
  defaults: defaultPodTemplate,
  strategy: {
    returnsDeletedObject: true,
    prepareForCreate(podTemplate) {
      podTemplate.metadata.generation = 1;
    },
    prepareForUpdate(podTemplate, old) {
      bumpGeneration(podTemplate, old, 'template');
    },
  },
  columns: [
    nameColumn,
    ...containerColumns<PodTemplate>(({ template }) => template, {}),
    stringColumn('Pod Labels', 'The labels for the pod template.', ({ template }) => formatLabels(template?.metadata?.labels)),
  ],
});
