import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { validateCSIStorageCapacity, validateCSIStorageCapacityUpdate } from '#kubernetes/apis/storage/validation/csi-storage-capacity';

export default defineResource({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  resource: 'csistoragecapacities',
  storageVersionHash: 'xeVl+2Ly1kE=',
  schema: 'storage_v1.CSIStorageCapacity',
  storagePath: 'csistoragecapacities',
  strategy: {
    genericMeta: 'update',
    allowUnconditionalUpdate: false,
    validate: validateCSIStorageCapacity,
    validateUpdate: validateCSIStorageCapacityUpdate,
  },
  columns: defaultColumns,
});
