import { exactDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { integerColumn } from '#kubernetes/apis/columns';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { ValidatingWebhookConfiguration } from '#kubernetes/schema/admissionregistration_v1.gen';
import {
  validateWebhookConfiguration,
  validateWebhookConfigurationUpdate,
} from '#kubernetes/apis/admissionregistration/validation/webhooks';
import { defaultValidatingWebhookConfiguration } from './defaults.ts';

export default defineResource<ValidatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: 'B0wHjQmsGNk=',
  schema: 'admissionregistration_v1.ValidatingWebhookConfiguration',
  storagePath: 'validatingwebhookconfigurations',
  defaults: defaultValidatingWebhookConfiguration,
  strategy: reservingStaticNames<ValidatingWebhookConfiguration>({
    allowUnconditionalUpdate: false,
    validate: validateWebhookConfiguration,
    validateUpdate: validateWebhookConfigurationUpdate,
    prepareForCreate(configuration) {
      configuration.metadata.generation = 1;
    },
    prepareForUpdate(configuration, old) {
      bumpGeneration('admissionregistration_v1.ValidatingWebhookConfiguration', configuration, old, 'webhooks', exactDeepEqual);
    },
  }),
  columns: [
    nameColumn,
    integerColumn(
      'Webhooks',
      'Webhooks indicates the number of webhooks registered in this configuration',
      (configuration) => configuration.webhooks?.length ?? 0,
    ),
    ageColumn,
  ],
});
