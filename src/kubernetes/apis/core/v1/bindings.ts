import { defineResource } from '#apiserver/registry/resource-definition';

export default defineResource({
  group: '',
  version: 'v1',
  kind: 'Binding',
  resource: 'bindings',
  verbs: ['create'],
  schema: 'core_v1.Binding',
});
