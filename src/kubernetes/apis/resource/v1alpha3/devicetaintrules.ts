import { deprecated } from '#apiserver/registry/deprecation';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn, translateTimestampSince } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { defaultTaint } from '#kubernetes/apis/resource/v1/defaults';
import {
  validateDeviceTaintRule,
  validateDeviceTaintRuleStatusUpdate,
  validateDeviceTaintRuleUpdate,
} from '#kubernetes/apis/resource/validation/device-taint-rule';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { DeviceTaintRule } from '#kubernetes/schema/resource_v1alpha3.gen';

/** Returns the description of a taint's field for its column. */
const taint = (field: string): (() => string) => describe('resource_v1.DeviceTaint', field);

export default defineResource<DeviceTaintRule>({
  group: 'resource.k8s.io',
  version: 'v1alpha3',
  kind: 'DeviceTaintRule',
  ...deprecated('resource.k8s.io/v1alpha3 DeviceTaintRule', '1.36', '1.39'),
  resource: 'devicetaintrules',
  namespaced: false,
  storageVersionHash: 'DJ3UJ0fj8MI=',
  schema: 'resource_v1alpha3.DeviceTaintRule',
  storagePath: 'devicetaintrules',
  defaults: ({ spec }) => {
    if (spec?.taint) defaultTaint(spec.taint);
  },
  strategy: specAndStatus({
    returnsDeletedObject: true,
    validate: validateDeviceTaintRule,
    validateUpdate: validateDeviceTaintRuleUpdate,
    /** A changed effect starts now, unless the client sets the time. */
    prepareForUpdate({ spec }, old, { now }) {
      const before = old.spec?.taint;
      if (spec?.taint && spec.taint.effect !== before?.effect && semanticDeepEqual(spec.taint.timeAdded, before?.timeAdded))
        spec.taint.timeAdded = now;
    },
  }),
  columns: [
    nameColumn,
    stringColumn('Key', taint('key'), ({ spec }) => spec?.taint?.key ?? ''),
    stringColumn('Value', taint('value'), ({ spec }) => spec?.taint?.value ?? ''),
    stringColumn('Effect', taint('effect'), ({ spec }) => spec?.taint?.effect ?? ''),
    stringColumn('TimeAdded', taint('timeAdded'), ({ spec }, { now }) =>
      spec?.taint?.timeAdded ? translateTimestampSince(spec.taint.timeAdded, now) : '',
    ),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({ metadata: 'keep', strategy: { validateUpdate: validateDeviceTaintRuleStatusUpdate } }),
  },
});
