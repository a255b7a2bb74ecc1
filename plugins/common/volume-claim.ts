import type { KubeObject } from 'kubenest/sdk';

/** Annotation older than the field; it takes precedence. */
export const betaClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** An object with a storage class: a claim or a volume. */
interface OfClass extends KubeObject {
  spec?: { storageClassName?: string };
}

/**
 * Returns the class of a claim or a volume; empty if it has none. Upstream: kubernetes/pkg/apis/core/helper
 * (GetPersistentVolumeClaimClass).
 */
export function storageClassOf({ metadata, spec }: OfClass): string {
  return metadata.annotations?.[betaClassAnnotation] ?? spec?.storageClassName ?? '';
}
