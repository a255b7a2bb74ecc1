import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { defaultEnv, defaultVolume } from '#kubernetes/apis/core/v1/defaults';
import { validatePodPreset } from '#kubernetes/apis/settings/validation';
import { keepField } from '#kubernetes/apis/strategy';
import type { PodPreset } from '#kubernetes/schema/settings_v1alpha1.gen';

/** Served if the admission plugin PodPreset is on. Upstream until 1.20. */
export default defineResource<PodPreset>({
  group: 'settings.k8s.io',
  version: 'v1alpha1',
  kind: 'PodPreset',
  resource: 'podpresets',
  storageVersionHash: 'm42I63HOBR0=',
  schema: 'settings_v1alpha1.PodPreset',
  storagePath: 'podpresets',
  servedByDefault: true,
  defaults({ spec }) {
    defaultEnv(spec?.env);
    for (const volume of spec?.volumes ?? []) defaultVolume(volume);
  },
  strategy: {
    prepareForCreate({ metadata }) {
      metadata.generation = 1;
    },
    // As upstream, changes of the spec are silently ignored.
    prepareForUpdate(preset, old) {
      keepField(preset, old, 'spec');
    },
    validate: validatePodPreset,
    validateUpdate: (preset, _, context) => validatePodPreset(preset, context),
  },
  columns: [nameColumn, ageColumn],
});
