import { presentKeys } from '#apimachinery/runtime/wide-objects';
import { defineResource, type StrategyContext } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { withGatedFields } from '#apiserver/registry/gated-fields';
import { sliceFields } from '#kubernetes/apis/resource/gated-fields';
import { hasListAttribute, listAttributes } from '#kubernetes/apis/resource/device-attributes';
import { unsupportedSliceField } from '#kubernetes/apis/resource/resource-slice-fields';
import { validateResourceSlice, validateResourceSliceUpdate } from '#kubernetes/apis/resource/validation/resource-slice';
import type { DeviceAttribute, ResourceSlice } from '#kubernetes/schema/resource_v1.gen';
import { defaultResourceSlice } from './defaults.ts';

/** Drops list attributes of devices, unless the old object has some. Upstream: registry/resource/resourceslice/strategy.go. */
function dropDisabledAttributes(slice: ResourceSlice, old: ResourceSlice | undefined, isEnabled: StrategyContext['isEnabled']): void {
  if (isEnabled?.('DRAListTypeAttributes') || attributesOf(old).some(hasListAttribute)) return;
  for (const attribute of attributesOf(slice)) {
    if (!hasListAttribute(attribute)) continue;
    for (const list of listAttributes) delete attribute[list];
  }
}

function attributesOf(slice: ResourceSlice | undefined): DeviceAttribute[] {
  return (slice?.spec?.devices ?? []).flatMap(({ attributes = {} }) => presentKeys(attributes).map((key) => attributes[key]!));
}

function driverWarnings({ spec: { driver = '' } = {} }: ResourceSlice): string[] {
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

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
  strategy: withGatedFields(sliceFields, {
    returnsDeletedObject: true,
    generation: 'spec',
    prepareForCreate: (slice, { isEnabled }) => dropDisabledAttributes(slice, undefined, isEnabled),
    prepareForUpdate: (slice, old, { isEnabled }) => dropDisabledAttributes(slice, old, isEnabled),
    validate: validateResourceSlice,
    validateUpdate: validateResourceSliceUpdate,
    warningsOnCreate: driverWarnings,
    warningsOnUpdate: driverWarnings,
  }),
  indexedFields: ['spec.nodeName'],
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
