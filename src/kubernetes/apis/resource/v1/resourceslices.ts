import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { unsupportedSliceField } from '#kubernetes/apis/resource/resource-slice-fields';
import { validateResourceSlice, validateResourceSliceUpdate } from '#kubernetes/apis/resource/validation/resource-slice';
import type { ResourceSlice } from '#kubernetes/schema/resource_v1.gen';
import { defaultResourceSlice } from './defaults.ts';

export default defineResource<ResourceSlice>({
  group: 'resource.k8s.io',
  version: 'v1',
  kind: 'ResourceSlice',
  resource: 'resourceslices',
  namespaced: false,
  storageVersionHash: 'KsC072WgaEY=',
  schema: 'resource_v1.ResourceSlice',
  storagePath: 'resourceslices',
  defaults: defaultResourceSlice,
  strategy: {
    returnsDeletedObject: true,
    generation: 'spec',
    validate: validateResourceSlice,
    validateUpdate: validateResourceSliceUpdate,
  },
  selectableFields: { 'spec.driver': ({ spec }) => spec?.driver ?? '', 'spec.nodeName': ({ spec }) => spec?.nodeName ?? '' },
  unsupportedField: unsupportedSliceField('v1'),
  columns: [
    nameColumn,
    stringColumn('Node', describe('resource_v1.ResourceSliceSpec', 'nodeName'), ({ spec }) => spec?.nodeName ?? ''),
    stringColumn('Driver', describe('resource_v1.ResourceSliceSpec', 'driver'), ({ spec }) => spec?.driver ?? ''),
    stringColumn('Pool', describe('resource_v1.ResourcePool', 'name'), ({ spec }) => spec?.pool?.name ?? ''),
    ageColumn,
  ],
});
