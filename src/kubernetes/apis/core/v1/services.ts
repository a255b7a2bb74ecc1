import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, formatLabels, stringColumn, wide } from '#kubernetes/apis/columns';
import { externalIpText, portsText, serviceStrategy } from '#kubernetes/apis/core/service';
import { loadBalancerWarnings } from '#kubernetes/apis/core/load-balancer';
import { validateServiceStatusUpdate } from '#kubernetes/apis/core/validation/service';
import { statusSubresource } from '#kubernetes/apis/strategy';
import type { Service } from '#kubernetes/schema/core_v1.gen';
import { defaultService } from './defaults.ts';

export default defineResource<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  resource: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  storageVersionHash: '0/CO1lhkEBI=',
  schema: 'core_v1.Service',
  storagePath: 'services/specs',
  defaults: defaultService,
  strategy: serviceStrategy,
  selectableFields: { 'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '', 'spec.type': ({ spec }) => spec?.type ?? '' },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    stringColumn('Type', describe('core_v1.ServiceSpec', 'type'), ({ spec }) => spec?.type ?? ''),
    stringColumn('Cluster-IP', describe('core_v1.ServiceSpec', 'clusterIP'), ({ spec }) => spec?.clusterIPs?.[0] ?? '<none>'),
    stringColumn('External-IP', describe('core_v1.ServiceSpec', 'externalIPs'), externalIpText),
    stringColumn('Port(s)', describe('core_v1.ServiceSpec', 'ports'), portsText),
    ageColumn,
    stringColumn('Selector', describe('core_v1.ServiceSpec', 'selector'), ({ spec }) => formatLabels(spec?.selector), wide),
  ],
  subresources: {
    proxy: {
      kind: 'ServiceProxyOptions',
      schema: 'core_v1.ServiceProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      connect: true,
    },
    status: statusSubresource<Service>({
      strategy: { validateUpdate: validateServiceStatusUpdate, warningsOnUpdate: loadBalancerWarnings },
    }),
  },
});
