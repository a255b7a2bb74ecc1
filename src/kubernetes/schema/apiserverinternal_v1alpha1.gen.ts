// The types of k8s.io/api/apiserverinternal/v1alpha1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

export interface ServerStorageVersion {
  apiServerID?: string;
  encodingVersion?: string;
  decodableVersions?: string[];
  servedVersions?: string[];
}

export interface StorageVersion extends KubeObject {
  spec?: StorageVersionSpec;
  status?: StorageVersionStatus;
}

export interface StorageVersionCondition {
  type?: string;
  status?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface StorageVersionList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: StorageVersion[];
}

export type StorageVersionSpec = unknown;

export interface StorageVersionStatus {
  storageVersions?: ServerStorageVersion[];
  commonEncodingVersion?: string;
  conditions?: StorageVersionCondition[];
}
