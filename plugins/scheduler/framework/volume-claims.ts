import type { PersistentVolumeClaim, Pod, Volume } from 'kubenest/types/core_v1';

/** Name of the claim of a volume: the named one, or that of an ephemeral volume. */
export function claimNameOf({ metadata }: Pod, { persistentVolumeClaim, ephemeral, name }: Volume): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
  return ephemeral ? `${metadata.name}-${name}` : undefined;
}

/** Names of the claims that a pod uses. */
export function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
}

/** True if the binder has completed the claim. */
export function isBound({ spec, metadata }: PersistentVolumeClaim): boolean {
  return Boolean(spec?.volumeName) && Object.hasOwn(metadata.annotations ?? {}, 'pv.kubernetes.io/bind-completed');
}
