import type { ResourceDefinition } from './resource-definition.ts';

/** A version of a group with its rank in discovery; higher ranks come first. */
export interface ApiGroupVersion {
  readonly version: string;
  readonly versionPriority: number;
}

/**
 * An API group with its versions and resources. Upstream: kubernetes/pkg/controlplane/apiserver/aggregator.go for the
 * priorities.
 */
export interface ApiGroup {
  /** Group name; empty for the core group. */
  readonly group: string;
  /** Versions, the preferred one first. */
  readonly versions: readonly ApiGroupVersion[];
  /** Rank of the group in discovery; higher ranks come first. */
  readonly groupPriorityMinimum: number;
  readonly resources: readonly ResourceDefinition[];
}
