import { defineResource } from '#apiserver/registry/resource-definition';
import { nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import type { ComponentCondition, ComponentStatus } from '#kubernetes/schema/core_v1.gen';

function healthy({ conditions }: ComponentStatus): ComponentCondition | undefined {
  return conditions?.find((condition) => condition.type === 'Healthy');
}

export default defineResource<ComponentStatus>({
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  resource: 'componentstatuses',
  namespaced: false,
  shortNames: ['cs'],
  verbs: ['get', 'list'],
  schema: 'core_v1.ComponentStatus',
  deprecationWarning: 'v1 ComponentStatus is deprecated in v1.19+',
  columns: [
    nameColumn,
    stringColumn('Status', 'Status of the component conditions', (component) => {
      const condition = healthy(component);
      return condition ? (condition.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
    }),
    stringColumn('Message', 'Message of the component conditions', (component) => healthy(component)?.message ?? ''),
    stringColumn('Error', 'Error of the component conditions', (component) => healthy(component)?.error ?? ''),
  ],
});
