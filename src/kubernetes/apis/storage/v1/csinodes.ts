import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { integerColumn } from '#kubernetes/apis/columns';
import { validateCSINode, validateCSINodeUpdate } from '#kubernetes/apis/storage/validation/csi-node';
import type { CSINode } from '#kubernetes/schema/storage_v1.gen';

export default defineResource<CSINode>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  resource: 'csinodes',
  namespaced: false,
  storageVersionHash: 'Pe62DkZtjuo=',
  schema: 'storage_v1.CSINode',
  storagePath: 'csinodes',
  strategy: {
    returnsDeletedObject: true,
    allowUnconditionalUpdate: false,
    validate: validateCSINode,
    genericMeta: 'update',
    validateUpdate: validateCSINodeUpdate,
  },
  columns: [
    nameColumn,
    integerColumn(
      'Drivers',
      'Drivers indicates the number of CSI drivers registered on the node',
      ({ spec }) => spec?.drivers?.length ?? 0,
    ),
    ageColumn,
  ],
});
