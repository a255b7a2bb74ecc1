// The types of k8s.io/api/coordination/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export interface LeaseList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: Lease[];
}

export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
  strategy?: string;
  preferredHolder?: string;
}
