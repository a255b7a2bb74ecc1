import type { Pod, Volume } from 'kubenest/types/core_v1';

/** Returns the name of the claim of a volume: the named one, or that of an ephemeral volume. */
export function claimNameOf({ metadata }: Pod, { persistentVolumeClaim, ephemeral, name }: Volume): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName;
  return ephemeral ? `${metadata.name}-${name}` : undefined;
}

/** Names of the claims that a pod uses, with those of its ephemeral volumes. Upstream: pkg/controller/volume/common. */
export function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => claimNameOf(pod, volume) ?? []);
}
