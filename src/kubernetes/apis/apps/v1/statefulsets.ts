import { nameIsDNSLabel } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { scaleSubresource } from '#kubernetes/apis/autoscaling/scale';
import { containerColumns, stringColumn } from '#kubernetes/apis/columns';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { StatefulSet } from '#kubernetes/schema/apps_v1.gen';
import { defaultStatefulSet } from './defaults.ts';

export default defineResource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  resource: 'statefulsets',
  shortNames: ['sts'],
  categories: ['all'],
  storageVersionHash: 'H+vl74LkKdo=',
  schema: 'apps_v1.StatefulSet',
  storagePath: 'statefulsets',
  defaults: defaultStatefulSet,
  strategy: specAndStatus({ validateName: nameIsDNSLabel }),
  columns: [
    nameColumn,
    stringColumn('Ready', 'Number of the pod with ready state', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
    ageColumn,
    ...containerColumns<StatefulSet>(({ spec }) => spec?.template),
  ],
  subresources: {
    scale: scaleSubresource,
    status: statusSubresource(),
  },
});
