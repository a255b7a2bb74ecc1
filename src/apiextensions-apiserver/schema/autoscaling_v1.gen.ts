// The types of k8s.io/api/autoscaling/v1. Written by `npm run generate`; do not edit.
import type { KubeObject } from '#apimachinery/meta/types';

export interface Scale extends KubeObject {
  spec?: ScaleSpec;
  status?: ScaleStatus;
}

export interface ScaleSpec {
  replicas?: number;
}

export interface ScaleStatus {
  replicas?: number;
  selector?: string;
}
