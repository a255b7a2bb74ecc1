import type { ResourceDefinition } from './resource-definition.ts';

/** A version of a group, and its rank among the group's versions in discovery: higher comes first. */
export interface ApiGroupVersion {
  readonly version: string;
  readonly versionPriority: number;
}

/** An API group with all that it serves. Upstream: kubernetes/pkg/controlplane/apiserver/aggregator.go for the priorities. */
export interface ApiGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** The preferred one first. */
  readonly versions: readonly ApiGroupVersion[];
  /** The group's rank in discovery: higher comes first. */
  readonly groupPriorityMinimum: number;
  readonly resources: readonly ResourceDefinition[];
}
