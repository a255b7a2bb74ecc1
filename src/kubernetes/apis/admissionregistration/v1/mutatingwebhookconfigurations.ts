import { exactDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { reservingStaticNames } from '#kubernetes/apis/admissionregistration/reserved-names';
import { integerColumn } from '#kubernetes/apis/columns';
import { bumpGeneration } from '#kubernetes/apis/strategy';
import type { MutatingWebhookConfiguration } from '#kubernetes/schema/admissionregistration_v1.gen';
import {
  validateWebhookConfiguration,
  validateWebhookConfigurationUpdate,
} from '#kubernetes/apis/admissionregistration/validation/webhooks';
import { defaultMutatingWebhookConfiguration } from './defaults.ts';

export default defineResource<MutatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  resource: 'mutatingwebhookconfigurations',
  namespaced: false,
  categories: ['api-extensions'],
  storageVersionHash: 'Sqi0GUgDaX0=',
  schema: 'admissionregistration_v1.MutatingWebhookConfiguration',
  storagePath: 'mutatingwebhookconfigurations',
  defaults: defaultMutatingWebhookConfiguration,
  strategy: reservingStaticNames<MutatingWebhookConfiguration>({
    allowUnconditionalUpdate: false,
    validate: validateWebhookConfiguration,
    validateUpdate: validateWebhookConfigurationUpdate,
    prepareForCreate(configuration) {
      configuration.metadata.generation = 1;
    },
    prepareForUpdate(configuration, old) {
      bumpGeneration('admissionregistration_v1.MutatingWebhookConfiguration', configuration, old, 'webhooks', exactDeepEqual);
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
