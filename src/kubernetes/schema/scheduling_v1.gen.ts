// The types of k8s.io/api/scheduling/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface PriorityClass extends KubeObject {
  value?: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: string;
}

export interface PriorityClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PriorityClass[];
}
