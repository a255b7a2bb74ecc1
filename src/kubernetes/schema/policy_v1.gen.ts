// The types of k8s.io/api/policy/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition, DeleteOptions, LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface Eviction extends KubeObject {
  deleteOptions?: DeleteOptions;
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: PodDisruptionBudgetSpec;
  status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PodDisruptionBudget[];
}

export interface PodDisruptionBudgetSpec {
  minAvailable?: number | string;
  selector?: LabelSelector;
  maxUnavailable?: number | string;
  unhealthyPodEvictionPolicy?: string;
}

export interface PodDisruptionBudgetStatus {
  observedGeneration?: number;
  disruptedPods?: Record<string, string>;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  expectedPods?: number;
  conditions?: Condition[];
}
