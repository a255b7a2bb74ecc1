import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { withGatedFields } from '#apiserver/registry/gated-fields';
import { claimTemplateFields } from '#kubernetes/apis/resource/gated-fields';
import { validateResourceClaimTemplate, validateResourceClaimTemplateUpdate } from '#kubernetes/apis/resource/validation/resource-claim';
import { defaultResourceClaimTemplate } from './defaults.ts';

export default defineResource({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  resource: 'resourceclaimtemplates',
  storageVersionHash: 'TuzjC49aUfM=',
  schema: 'resource_v1.ResourceClaimTemplate',
  storagePath: 'resourceclaimtemplates',
  defaults: defaultResourceClaimTemplate,
  strategy: withGatedFields(claimTemplateFields, {
    returnsDeletedObject: true,
    validate: validateResourceClaimTemplate,
    validateUpdate: validateResourceClaimTemplateUpdate,
  }),
  columns: [nameColumn, ageColumn],
});
