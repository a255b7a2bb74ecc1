import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';
import { validateLimitRange, validateLimitRangeUpdate } from '#kubernetes/apis/core/validation/quota';
import type { LimitRange } from '#kubernetes/schema/core_v1.gen';
import { defaultLimitRange } from './defaults.ts';

export default defineResource<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  resource: 'limitranges',
  shortNames: ['limits'],
  storageVersionHash: 'EBKMFVe6cwo=',
  schema: 'core_v1.LimitRange',
  storagePath: 'limitranges',
  defaults: defaultLimitRange,
  strategy: {
    allowCreateOnUpdate: true,
    prepareForCreate({ metadata }) {
      metadata.name ||= crypto.randomUUID();
    },
    genericMeta: 'update',
    validate: validateLimitRange,
    validateUpdate: validateLimitRangeUpdate,
  },
  columns: defaultColumns,
});
