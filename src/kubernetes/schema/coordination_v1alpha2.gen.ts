// The types of k8s.io/api/coordination/v1alpha2. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface LeaseCandidate extends KubeObject {
  spec?: LeaseCandidateSpec;
}

export interface LeaseCandidateList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: LeaseCandidate[];
}

export interface LeaseCandidateSpec {
  leaseName?: string;
  pingTime?: string;
  renewTime?: string;
  binaryVersion?: string;
  emulationVersion?: string;
  strategy?: string;
}
