import { describeMeta, ageColumn } from '#apiserver/registry/table-columns';
import type { Column, KindSubresource } from '#apiserver/registry/resource-definition';
import { describe, integerColumn, stringColumn } from '#kubernetes/apis/columns';
import type { Scale } from '#kubernetes/schema/autoscaling_v1.gen';

const columns: readonly Column<Scale>[] = [
  stringColumn('Name', describeMeta('name'), ({ metadata }) => metadata.name ?? ''),
  integerColumn('Desired', describe('autoscaling_v1.ScaleSpec', 'replicas'), ({ spec }) => spec?.replicas ?? 0),
  integerColumn('Available', describe('autoscaling_v1.ScaleStatus', 'replicas'), ({ status }) => status?.replicas ?? 0),
  ageColumn,
];

/** The scale subresource of workloads. */
export const scaleSubresource: KindSubresource = {
  kind: 'Scale',
  groupVersion: { group: 'autoscaling', version: 'v1' },
  schema: 'autoscaling_v1.Scale',
  verbs: ['get', 'patch', 'update'],
  columns,
};
