import type { PodGroupSpec, PodGroupTemplate } from '#kubernetes/schema/scheduling_v1alpha2.gen';

/**
 * Drops the fields of disabled features: TopologyAwareWorkloadScheduling, DRAWorkloadResourceClaims, WorkloadAwarePreemption. Upstream:
 * pkg/registry/scheduling/{workload,podgroup}/strategy.go.
 */
export function dropDisabledFields(group: PodGroupSpec | PodGroupTemplate | undefined): void {
  if (!group) return;
  delete group.schedulingConstraints;
  delete group.resourceClaims;
  delete group.disruptionMode;
  delete group.priorityClassName;
  delete group.priority;
}
