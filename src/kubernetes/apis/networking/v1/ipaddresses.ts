import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn, TableColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validateIPAddress, validateIPAddressName, validateIPAddressUpdate } from '#kubernetes/apis/networking/validation/ip-address';
import type { IPAddress } from '#kubernetes/schema/networking_v1.gen';

export default defineResource<IPAddress>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  resource: 'ipaddresses',
  namespaced: false,
  shortNames: ['ip'],
  storageVersionHash: '3f/plJFChNE=',
  schema: 'networking_v1.IPAddress',
  storagePath: 'ipaddresses',
  strategy: {
    validateName: validateIPAddressName,
    validate: validateIPAddress,
    validateUpdate: validateIPAddressUpdate,
  },
  columns: [
    nameColumn,
    stringColumn('ParentRef', describe('networking_v1.IPAddressSpec', 'parentRef'), ({ spec }) => {
      const parent = spec?.parentRef;
      if (!parent) return '<none>';
      const resource = (parent.group ? `${parent.resource}.${parent.group}` : (parent.resource ?? '')).toLowerCase();
      return [resource, ...(parent.namespace ? [parent.namespace] : []), parent.name].join('/');
    }),
    new TableColumn('Age', 'string', '', ({ metadata }, { now }) => translateTimestampSince(metadata.creationTimestamp, now), {
      cellOnly: true,
    }),
  ],
});
