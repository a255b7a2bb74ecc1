import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { containerColumns, describe, formatLabels, formatLabelSelector, integerColumn, stringColumn, wide } from '#kubernetes/apis/columns';
import { specAndStatus, statusSubresource } from '#kubernetes/apis/strategy';
import type { DaemonSet } from '#kubernetes/schema/apps_v1.gen';
import { defaultDaemonSet } from './defaults.ts';

export default defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  shortNames: ['ds'],
  categories: ['all'],
  storageVersionHash: 'dd7pWHUlMKQ=',
  schema: 'apps_v1.DaemonSet',
  storagePath: 'daemonsets',
  defaults: defaultDaemonSet,
  strategy: specAndStatus(),
  columns: [
    nameColumn,
    integerColumn('Desired', describe('apps_v1.DaemonSetStatus', 'desiredNumberScheduled'), ({ status }) => status?.desiredNumberScheduled ?? 0),
    integerColumn('Current', describe('apps_v1.DaemonSetStatus', 'currentNumberScheduled'), ({ status }) => status?.currentNumberScheduled ?? 0),
    integerColumn('Ready', describe('apps_v1.DaemonSetStatus', 'numberReady'), ({ status }) => status?.numberReady ?? 0),
    integerColumn('Up-to-date', describe('apps_v1.DaemonSetStatus', 'updatedNumberScheduled'), ({ status }) => status?.updatedNumberScheduled ?? 0),
    integerColumn('Available', describe('apps_v1.DaemonSetStatus', 'numberAvailable'), ({ status }) => status?.numberAvailable ?? 0),
    stringColumn('Node Selector', describe('core_v1.PodSpec', 'nodeSelector'), ({ spec }) => formatLabels(spec?.template?.spec?.nodeSelector)),
    ageColumn,
    ...containerColumns<DaemonSet>(({ spec }) => spec?.template),
    stringColumn('Selector', describe('apps_v1.DaemonSetSpec', 'selector'), ({ spec }) => formatLabelSelector(spec?.selector), wide),
  ],
  subresources: {
    status: statusSubresource(),
  },
});
