// The types of k8s.io/api/rbac/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface AggregationRule {
  clusterRoleSelectors?: LabelSelector[];
}

export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[];
  aggregationRule?: AggregationRule;
}

export interface ClusterRoleBinding extends KubeObject {
  subjects?: Subject[];
  roleRef?: RoleRef;
}

export interface ClusterRoleBindingList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ClusterRoleBinding[];
}

export interface ClusterRoleList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ClusterRole[];
}

export interface PolicyRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Role extends KubeObject {
  rules?: PolicyRule[];
}

export interface RoleBinding extends KubeObject {
  subjects?: Subject[];
  roleRef?: RoleRef;
}

export interface RoleBindingList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: RoleBinding[];
}

export interface RoleList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Role[];
}

export interface RoleRef {
  apiGroup?: string;
  kind?: string;
  name?: string;
}

export interface Subject {
  kind?: string;
  apiGroup?: string;
  name?: string;
  namespace?: string;
}
