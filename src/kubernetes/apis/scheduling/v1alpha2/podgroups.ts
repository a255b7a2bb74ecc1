import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import { dropDisabledFields } from '#kubernetes/apis/scheduling/disabled-fields';
import { validatePodGroup, validatePodGroupStatusUpdate, validatePodGroupUpdate } from '#kubernetes/apis/scheduling/validation/pod-group';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { PodGroup } from '#kubernetes/schema/scheduling_v1alpha2.gen';

function stateOf({ status }: PodGroup): string {
  const conditionOf = (wanted: string) => (status?.conditions ?? []).findLast(({ type }) => type === wanted);
  const disruption = conditionOf('DisruptionTarget');
  if (disruption) return disruption.reason ?? '';
  const scheduled = conditionOf('PodGroupScheduled');
  if (!scheduled) return 'Pending';
  return scheduled.status === 'True' ? 'Scheduled' : 'Unschedulable';
}

function defaultPodGroup({ spec }: PodGroup): void {
  if (spec) spec.disruptionMode ??= 'Pod';
}

/** Drops the fields of disabled features. As upstream, they are stored as absent and get their defaults on read. */
function dropDisabled(group: PodGroup): void {
  dropDisabledFields(group.spec);
  defaultPodGroup(group);
}

export default defineResource<PodGroup>({
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  kind: 'PodGroup',
  resource: 'podgroups',
  featureGate: 'GenericWorkload',
  storageVersionHash: 'YYgX3v5V204=',
  schema: 'scheduling_v1alpha2.PodGroup',
  storagePath: 'podgroups',
  defaults: defaultPodGroup,
  strategy: withoutStatus({
    prepareForCreate: dropDisabled,
    prepareForUpdate: dropDisabled,
    validate: validatePodGroup,
    validateUpdate: validatePodGroupUpdate,
  }),
  columns: [
    nameColumn,
    stringColumn('Policy', describe('scheduling_v1alpha2.PodGroupSpec', 'schedulingPolicy'), ({ spec }) =>
      spec?.schedulingPolicy?.gang ? 'Gang' : 'Basic',
    ),
    stringColumn('Workload', 'Name of the referenced Workload object', ({ spec }) =>
      spec?.podGroupTemplateRef ? (spec.podGroupTemplateRef.workload?.workloadName ?? '') : '<none>',
    ),
    stringColumn('Status', 'Status of the PodGroup', stateOf),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({
      metadata: 'keep',
      strategy: {
        prepareForUpdate({ status }) {
          delete status?.resourceClaimStatuses;
        },
        validateUpdate: validatePodGroupStatusUpdate,
      },
    }),
  },
});
