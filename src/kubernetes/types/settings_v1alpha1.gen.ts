// The types of k8s.io/api/settings/v1alpha1 for packages. Written by `npm run generate`; do not edit.
import type { EnvFromSource, EnvVar, Volume, VolumeMount } from './core_v1.gen.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta_v1.gen.ts';

export type PodPreset = {
  kind: 'PodPreset';
  apiVersion: 'settings.k8s.io/v1alpha1';
  metadata: ObjectMeta;
  spec?: PodPresetSpec;
};

export type PodPresetList = {
  kind: 'PodPresetList';
  apiVersion: 'settings.k8s.io/v1alpha1';
  metadata: ListMeta;
  items: PodPreset[];
};

export interface PodPresetSpec {
  selector?: LabelSelector;
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  volumes?: Volume[];
  volumeMounts?: VolumeMount[];
}
