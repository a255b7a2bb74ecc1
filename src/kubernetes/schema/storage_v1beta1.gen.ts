// The types of k8s.io/api/storage/v1beta1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';

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
