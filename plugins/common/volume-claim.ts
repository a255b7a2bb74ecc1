import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';

/** Annotation older than the field; it takes precedence. */
export const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/**
 * Returns the class of a claim or a volume; empty if it has none. Upstream: kubernetes/pkg/apis/core/helper
 * (GetPersistentVolumeClaimClass).
 */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}
