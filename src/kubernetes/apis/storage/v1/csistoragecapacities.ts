import { fieldPath } from '#apimachinery/validation/field';
import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { nodeLabelSelectorWarnings } from '#kubernetes/apis/core/validation/node-labels';
import { validateCSIStorageCapacity, validateCSIStorageCapacityUpdate } from '#kubernetes/apis/storage/validation/csi-storage-capacity';
import type { CSIStorageCapacity } from '#kubernetes/schema/storage_v1.gen';

function topologyWarnings({ nodeTopology }: CSIStorageCapacity): string[] {
  return nodeTopology ? nodeLabelSelectorWarnings(nodeTopology, fieldPath('nodeTopology')) : [];
}

export default defineResource<CSIStorageCapacity>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  resource: 'csistoragecapacities',
  storageVersionHash: 'xeVl+2Ly1kE=',
  schema: 'storage_v1.CSIStorageCapacity',
  storagePath: 'csistoragecapacities',
  strategy: {
    allowUnconditionalUpdate: false,
    validate: validateCSIStorageCapacity,
    validateUpdate: validateCSIStorageCapacityUpdate,
    warningsOnCreate: topologyWarnings,
    warningsOnUpdate: topologyWarnings,
  },
  columns: defaultColumns,
});
