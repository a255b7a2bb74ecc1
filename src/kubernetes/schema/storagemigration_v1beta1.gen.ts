// The types of k8s.io/api/storagemigration/v1beta1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { Condition, GroupResource } from '#apimachinery/meta/schema/meta_v1.gen';

export interface StorageVersionMigration extends KubeObject {
  spec?: StorageVersionMigrationSpec;
  status?: StorageVersionMigrationStatus;
}

export interface StorageVersionMigrationList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: StorageVersionMigration[];
}

export interface StorageVersionMigrationSpec {
  resource?: GroupResource;
}

export interface StorageVersionMigrationStatus {
  conditions?: Condition[];
  resourceVersion?: string;
}
