import { longName } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { withGatedFields } from '#apiserver/registry/gated-fields';
import { classFields } from '#kubernetes/apis/resource/gated-fields';
import { validateDeviceClass, validateDeviceClassUpdate } from '#kubernetes/apis/resource/validation/device-class';

export default defineResource({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'DeviceClass',
  resource: 'deviceclasses',
  namespaced: false,
  storageVersionHash: 'Yk2PTc1Ybxk=',
  schema: 'resource_v1.DeviceClass',
  storagePath: 'deviceclasses',
  strategy: withGatedFields(classFields, {
    returnsDeletedObject: true,
    generation: 'spec',
    validateName: longName,
    validate: validateDeviceClass,
    validateUpdate: validateDeviceClassUpdate,
  }),
  columns: [nameColumn, ageColumn],
});
