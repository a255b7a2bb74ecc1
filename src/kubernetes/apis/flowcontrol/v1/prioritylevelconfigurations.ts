import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from '#kubernetes/schema/flowcontrol_v1.gen';
import {
  validateConditions,
  validatePriorityLevelConfiguration,
  validatePriorityLevelConfigurationUpdate,
} from '#kubernetes/apis/flowcontrol/validation';
import { defaultPriorityLevelConfiguration } from './defaults.ts';

function queuing(spec: PriorityLevelConfigurationSpec | undefined, field: 'queues' | 'handSize' | 'queueLengthLimit'): number | string {
  const queuing = spec?.limited?.limitResponse?.queuing;
  return queuing ? (queuing[field] ?? 0) : '<none>';
}

export default defineResource<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  resource: 'prioritylevelconfigurations',
  namespaced: false,
  storageVersionHash: 'Kir5PVfvNeI=',
  schema: 'flowcontrol_v1.PriorityLevelConfiguration',
  storagePath: 'prioritylevelconfigurations',
  defaults: defaultPriorityLevelConfiguration,
  strategy: specAndStatus({
    validate: validatePriorityLevelConfiguration,
    validateUpdate: validatePriorityLevelConfigurationUpdate,
    genericMeta: 'update',
  }),
  columns: [
    nameColumn,
    stringColumn('Type', describe('flowcontrol_v1.PriorityLevelConfigurationSpec', 'type'), ({ spec }) => spec?.type ?? ''),
    stringColumn(
      'NominalConcurrencyShares',
      describe('flowcontrol_v1.LimitedPriorityLevelConfiguration', 'nominalConcurrencyShares'),
      ({ spec }) => (spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : '<none>'),
    ),
    stringColumn('Queues', describe('flowcontrol_v1.QueuingConfiguration', 'queues'), ({ spec }) => queuing(spec, 'queues')),
    stringColumn('HandSize', describe('flowcontrol_v1.QueuingConfiguration', 'handSize'), ({ spec }) => queuing(spec, 'handSize')),
    stringColumn('QueueLengthLimit', describe('flowcontrol_v1.QueuingConfiguration', 'queueLengthLimit'), ({ spec }) =>
      queuing(spec, 'queueLengthLimit'),
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ metadata: 'replace', strategy: { validateUpdate: validateConditions } }),
  },
});
