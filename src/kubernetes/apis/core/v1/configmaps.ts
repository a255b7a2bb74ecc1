import { keysOf } from '#apimachinery/runtime/wide-objects';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { validateConfigMap, validateConfigMapUpdate } from '#kubernetes/apis/core/validation/config';
import type { ConfigMap } from '#kubernetes/schema/core_v1.gen';

export default defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  shortNames: ['cm'],
  storageVersionHash: 'qFsyl6wFWjQ=',
  schema: 'core_v1.ConfigMap',
  storagePath: 'configmaps',
  strategy: { validate: validateConfigMap, validateUpdate: validateConfigMapUpdate },
  columns: [
    nameColumn,
    stringColumn(
      'Data',
      describe('core_v1.ConfigMap', 'data'),
      ({ data, binaryData }) => keysOf(data ?? {}).length + keysOf(binaryData ?? {}).length,
    ),
    ageColumn,
  ],
});
