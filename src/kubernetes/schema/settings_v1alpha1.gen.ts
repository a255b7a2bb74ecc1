// The types of k8s.io/api/settings/v1alpha1. Written by `npm run generate`; do not edit.
import type { KubeObject, ListMeta } from '#apimachinery/meta/types';
import type { EnvFromSource, EnvVar, Volume, VolumeMount } from './core_v1.gen.ts';
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';

export interface PodPreset extends KubeObject {
  spec?: PodPresetSpec;
}

export interface PodPresetList {
  kind?: string;
  apiVersion?: string;
  metadata?: ListMeta;
  items?: PodPreset[];
}

export interface PodPresetSpec {
  selector?: LabelSelector;
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  volumes?: Volume[];
  volumeMounts?: VolumeMount[];
}
