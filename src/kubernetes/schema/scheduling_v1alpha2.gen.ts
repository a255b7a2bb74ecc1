// The types of k8s.io/api/scheduling/v1alpha2. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition } from '#apimachinery/meta/schema/meta_v1.gen';

export type BasicSchedulingPolicy = unknown;

export interface GangSchedulingPolicy {
  minCount?: number;
}

export interface PodGroup extends KubeObject {
  spec?: PodGroupSpec;
  status?: PodGroupStatus;
}

export interface PodGroupList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PodGroup[];
}

export interface PodGroupResourceClaim {
  name?: string;
  resourceClaimName?: string;
  resourceClaimTemplateName?: string;
}

export interface PodGroupResourceClaimStatus {
  name?: string;
  resourceClaimName?: string;
}

export interface PodGroupSchedulingConstraints {
  topology?: TopologyConstraint[];
}

export interface PodGroupSchedulingPolicy {
  basic?: BasicSchedulingPolicy;
  gang?: GangSchedulingPolicy;
}

export interface PodGroupSpec {
  podGroupTemplateRef?: PodGroupTemplateReference;
  schedulingPolicy?: PodGroupSchedulingPolicy;
  schedulingConstraints?: PodGroupSchedulingConstraints;
  resourceClaims?: PodGroupResourceClaim[];
  disruptionMode?: string;
  priorityClassName?: string;
  priority?: number;
}

export interface PodGroupStatus {
  conditions?: Condition[];
  resourceClaimStatuses?: PodGroupResourceClaimStatus[];
}

export interface PodGroupTemplate {
  name?: string;
  schedulingPolicy?: PodGroupSchedulingPolicy;
  schedulingConstraints?: PodGroupSchedulingConstraints;
  resourceClaims?: PodGroupResourceClaim[];
  disruptionMode?: string;
  priorityClassName?: string;
  priority?: number;
}

export interface PodGroupTemplateReference {
  workload?: WorkloadPodGroupTemplateReference;
}

export interface TopologyConstraint {
  key?: string;
}

export interface TypedLocalObjectReference {
  apiGroup?: string;
  kind?: string;
  name?: string;
}

export interface Workload extends KubeObject {
  spec?: WorkloadSpec;
}

export interface WorkloadList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Workload[];
}

export interface WorkloadPodGroupTemplateReference {
  workloadName?: string;
  podGroupTemplateName?: string;
}

export interface WorkloadSpec {
  controllerRef?: TypedLocalObjectReference;
  podGroupTemplates?: PodGroupTemplate[];
}
