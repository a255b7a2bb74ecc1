// The types of k8s.io/api/certificates/v1beta1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition } from '#apimachinery/meta/schema/meta_v1.gen';

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

export interface PodCertificateRequest extends KubeObject {
  spec?: PodCertificateRequestSpec;
  status?: PodCertificateRequestStatus;
}

export interface PodCertificateRequestList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PodCertificateRequest[];
}

export interface PodCertificateRequestSpec {
  signerName?: string;
  podName?: string;
  podUID?: string;
  serviceAccountName?: string;
  serviceAccountUID?: string;
  nodeName?: string;
  nodeUID?: string;
  maxExpirationSeconds?: number;
  pkixPublicKey?: string;
  proofOfPossession?: string;
  stubPKCS10Request?: string;
  unverifiedUserAnnotations?: Record<string, string>;
}

export interface PodCertificateRequestStatus {
  conditions?: Condition[];
  certificateChain?: string;
  notBefore?: string;
  beginRefreshAt?: string;
  notAfter?: string;
}
