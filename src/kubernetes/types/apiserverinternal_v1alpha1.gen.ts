// The types of k8s.io/api/apiserverinternal/v1alpha1 for packages. Written by `npm run generate`; do not edit.
import type { ListMeta, ObjectMeta } from './meta_v1.gen.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export type StorageVersionConditionType = 'AllEncodingVersionsEqual' | (string & {});

/**
 * An API server instance reports the version it can decode and the version it encodes objects to when persisting objects in the
 * backend.
 */
export interface ServerStorageVersion {
  /** apiServerID is the ID of the reporting API server. */
  apiServerID: string;
  /** encodingVersion the API server encodes the object to when persisting it in the backend (e.g., etcd). */
  encodingVersion: string;
  /**
   * decodableVersions are the encoding versions the API server can handle to decode. The API server can decode objects encoded in
   * these versions. The encodingVersion must be included in the decodableVersions.
   */
  decodableVersions: string[];
  /** servedVersions lists all versions the API server can serve. DecodableVersions must include all ServedVersions. */
  servedVersions?: string[];
}

/** Storage version of a specific resource. */
export type StorageVersion = {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: 'StorageVersion';
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion: 'internal.apiserver.k8s.io/v1alpha1';
  /** metadata is the standard object metadata. The name is <group>.<resource>. */
  metadata: ObjectMeta & { name: string };
  /** spec is an empty spec. It is here to comply with Kubernetes API style. */
  spec?: StorageVersionSpec;
  /** status on the version the API server instance can decode from and encode objects to when persisting objects in the backend. */
  status?: StorageVersionStatus;
};

/** Describes the state of the storageVersion at a certain point. */
export interface StorageVersionCondition {
  /** type of the condition. */
  type: StorageVersionConditionType;
  /** status of the condition, one of True, False, Unknown. */
  status: ConditionStatus;
  /** observedGeneration represents the .metadata.generation that the condition was set based upon, if field is set. */
  observedGeneration?: number;
  /** lastTransitionTime is the last time the condition transitioned from one status to another. */
  lastTransitionTime?: string;
  /** reason for the condition's last transition. */
  reason: string;
  /** message is a human readable string indicating details about the transition. */
  message: string;
}

/** A list of StorageVersions. */
export type StorageVersionList = {
  /**
   * Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the
   * client submits requests to. Cannot be updated. In CamelCase. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
   */
  kind: 'StorageVersionList';
  /**
   * APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the
   * latest internal value, and may reject unrecognized values. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
   */
  apiVersion: 'internal.apiserver.k8s.io/v1alpha1';
  /**
   * Standard list metadata. More info:
   * https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
   */
  metadata: ListMeta;
  /** Items holds a list of StorageVersion */
  items: StorageVersion[];
};

/** StorageVersionSpec is an empty spec. */
export type StorageVersionSpec = unknown;

/**
 * API server instances report the versions they can decode and the version they encode objects to when persisting objects in the
 * backend.
 */
export interface StorageVersionStatus {
  /** storageVersions lists the reported versions per API server instance. */
  storageVersions?: ServerStorageVersion[];
  /**
   * commonEncodingVersion is set to an encoding storage version if all API server instances share that same version. If they
   * don't share one storage version, this field is left empty. API servers should finish updating its storageVersionStatus entry
   * before serving write operations, so that this field will be in sync with the reality.
   */
  commonEncodingVersion?: string;
  /** conditions lists the latest available observations of the storageVersion's state. */
  conditions?: StorageVersionCondition[];
}
