// The types of k8s.io/api/storage/v1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core_v1.gen.ts';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface CSIDriver extends KubeObject {
  spec?: CSIDriverSpec;
}

export interface CSIDriverList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: CSIDriver[];
}

export interface CSIDriverSpec {
  attachRequired?: boolean;
  podInfoOnMount?: boolean;
  volumeLifecycleModes?: string[];
  storageCapacity?: boolean;
  fsGroupPolicy?: string;
  tokenRequests?: TokenRequest[];
  requiresRepublish?: boolean;
  seLinuxMount?: boolean;
  nodeAllocatableUpdatePeriodSeconds?: number;
  serviceAccountTokenInSecrets?: boolean;
  preventPodSchedulingIfMissing?: boolean;
}

export interface CSINode extends KubeObject {
  spec?: CSINodeSpec;
}

export interface CSINodeDriver {
  name?: string;
  nodeID?: string;
  topologyKeys?: string[];
  allocatable?: VolumeNodeResources;
}

export interface CSINodeList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: CSINode[];
}

export interface CSINodeSpec {
  drivers?: CSINodeDriver[];
}

export interface CSIStorageCapacity extends KubeObject {
  nodeTopology?: LabelSelector;
  storageClassName?: string;
  capacity?: string;
  maximumVolumeSize?: string;
}

export interface CSIStorageCapacityList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: CSIStorageCapacity[];
}

export interface StorageClass extends KubeObject {
  provisioner?: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  mountOptions?: string[];
  allowVolumeExpansion?: boolean;
  volumeBindingMode?: string;
  allowedTopologies?: TopologySelectorTerm[];
}

export interface StorageClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: StorageClass[];
}

export interface TokenRequest {
  audience?: string;
  expirationSeconds?: number;
}

export interface VolumeAttachment extends KubeObject {
  spec?: VolumeAttachmentSpec;
  status?: VolumeAttachmentStatus;
}

export interface VolumeAttachmentList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: VolumeAttachment[];
}

export interface VolumeAttachmentSource {
  persistentVolumeName?: string;
  inlineVolumeSpec?: PersistentVolumeSpec;
}

export interface VolumeAttachmentSpec {
  attacher?: string;
  source?: VolumeAttachmentSource;
  nodeName?: string;
}

export interface VolumeAttachmentStatus {
  attached?: boolean;
  attachmentMetadata?: Record<string, string>;
  attachError?: VolumeError;
  detachError?: VolumeError;
}

export interface VolumeAttributesClass extends KubeObject {
  driverName?: string;
  parameters?: Record<string, string>;
}

export interface VolumeAttributesClassList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: VolumeAttributesClass[];
}

export interface VolumeError {
  time?: string;
  message?: string;
  errorCode?: number;
}

export interface VolumeNodeResources {
  count?: number;
}
