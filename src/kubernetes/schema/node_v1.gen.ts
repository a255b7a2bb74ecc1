// The types of k8s.io/api/node/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Toleration } from './core_v1.gen.ts';

export interface Overhead {
  podFixed?: Record<string, string>;
}

export interface RuntimeClass extends KubeObject {
  handler?: string;
  overhead?: Overhead;
  scheduling?: Scheduling;
}

export interface RuntimeClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: RuntimeClass[];
}

export interface Scheduling {
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
}
