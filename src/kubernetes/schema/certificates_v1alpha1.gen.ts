// The types of k8s.io/api/certificates/v1alpha1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface ClusterTrustBundle extends KubeObject {
  spec?: ClusterTrustBundleSpec;
}

export interface ClusterTrustBundleList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: ClusterTrustBundle[];
}

export interface ClusterTrustBundleSpec {
  signerName?: string;
  trustBundle?: string;
}
