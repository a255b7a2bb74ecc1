import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validateServiceCIDR, validateServiceCIDRUpdate } from '#kubernetes/apis/networking/validation/service-cidr';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { ServiceCIDR } from '#kubernetes/schema/networking_v1.gen';

export default defineResource<ServiceCIDR>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  resource: 'servicecidrs',
  namespaced: false,
  storageVersionHash: 'gNLvruQhW2g=',
  schema: 'networking_v1.ServiceCIDR',
  storagePath: 'servicecidrs',
  strategy: withoutStatus({ validate: validateServiceCIDR, validateUpdate: validateServiceCIDRUpdate }, 'ServiceCIDRStatusFieldWiping'),
  columns: [
    nameColumn,
    stringColumn('CIDRs', describe('networking_v1.ServiceCIDRSpec', 'cidrs'), ({ spec }) => (spec?.cidrs ?? []).join(',')),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ metadata: 'keep' }),
  },
});
