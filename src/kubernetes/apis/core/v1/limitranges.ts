import { defineResource } from '#apiserver/registry/resource-definition';
import { defaultColumns } from '#apiserver/registry/table-columns';

export default defineResource({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  resource: 'limitranges',
  shortNames: ['limits'],
  storageVersionHash: 'EBKMFVe6cwo=',
  schema: 'core_v1.LimitRange',
  storagePath: 'limitranges',
  strategy: {
    allowCreateOnUpdate: true,
    prepareForCreate({ metadata }) {
      metadata.name ||= crypto.randomUUID();
    },
  },
  columns: defaultColumns,
});
