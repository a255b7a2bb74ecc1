// The types of k8s.io/api/storagemigration/v1beta1 for packages. Written by `npm run generate`; do not edit.
import type { Condition, GroupResource, ListMeta, ObjectMeta } from './meta_v1.gen.ts';

/** StorageVersionMigration represents a migration of stored data to the latest storage version. */
export type StorageVersionMigration = {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: 'StorageVersionMigration';
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion: 'storagemigration.k8s.io/v1beta1';
  /**
   * Standard object metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata: ObjectMeta & { name: string };
  /** Specification of the migration. */
  spec: StorageVersionMigrationSpec;
  /** Status of the migration. */
  status?: StorageVersionMigrationStatus;
};

/** StorageVersionMigrationList is a collection of storage version migrations. */
export type StorageVersionMigrationList = {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: 'StorageVersionMigrationList';
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion: 'storagemigration.k8s.io/v1beta1';
  /**
   * Standard list metadata More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata: ListMeta;
  /** Items is the list of StorageVersionMigration */
  items: StorageVersionMigration[];
};

/** Spec of the storage version migration. */
export interface StorageVersionMigrationSpec {
  /** The resource that is being migrated. The migrator sends requests to the endpoint serving the resource. Immutable. */
  resource: GroupResource;
}

/** Status of the storage version migration. */
export interface StorageVersionMigrationStatus {
  /** The latest available observations of the migration's current state. */
  conditions?: Condition[];
  /**
   * ResourceVersion to compare with the GC cache for performing the migration. This is the current resource version of given
   * group, version and resource when kube-controller-manager first observes this StorageVersionMigration resource.
   */
  resourceVersion?: string;
}
