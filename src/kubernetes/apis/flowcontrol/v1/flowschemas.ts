import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { compareBytes, describe, stringColumn } from '#kubernetes/apis/columns';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { FlowSchema } from '#kubernetes/schema/flowcontrol_v1.gen';
import { validateConditions, validateFlowSchema, validateFlowSchemaUpdate } from '#kubernetes/apis/flowcontrol/validation';
import { defaultFlowSchema } from './defaults.ts';

export default defineResource<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  resource: 'flowschemas',
  namespaced: false,
  storageVersionHash: 'GJVAJZSZBIw=',
  schema: 'flowcontrol_v1.FlowSchema',
  storagePath: 'flowschemas',
  defaults: defaultFlowSchema,
  strategy: specAndStatus({ validate: validateFlowSchema, validateUpdate: validateFlowSchemaUpdate, genericMeta: 'update' }),
  compareRows: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) || compareBytes(a.metadata.name ?? '', b.metadata.name ?? ''),
  columns: [
    nameColumn,
    stringColumn(
      'PriorityLevel',
      describe('flowcontrol_v1.PriorityLevelConfigurationReference', 'name'),
      ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
    ),
    stringColumn(
      'MatchingPrecedence',
      describe('flowcontrol_v1.FlowSchemaSpec', 'matchingPrecedence'),
      ({ spec }) => spec?.matchingPrecedence ?? 0,
    ),
    stringColumn(
      'DistinguisherMethod',
      describe('flowcontrol_v1.FlowSchemaSpec', 'distinguisherMethod'),
      ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
    ),
    ageColumn,
    stringColumn(
      'MissingPL',
      'references a broken or non-existent PriorityLevelConfiguration',
      ({ status }) => status?.conditions?.find((condition) => condition.type === 'Dangling')?.status ?? '?',
    ),
  ],
  subresources: {
    status: statusSubresource({ metadata: 'replace', strategy: { validateUpdate: validateConditions } }),
  },
});
