import type { PersistentVolumeClaim } from 'kubenest/types/core_v1';

/** True if the binder has completed the claim. */
export function isBound({ spec, metadata }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && Object.hasOwn(metadata.annotations ?? {}, 'pv.kubernetes.io/bind-completed');
}
