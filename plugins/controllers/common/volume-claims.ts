import { isControlledBy, type SharedInformer } from 'kubenest/sdk';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';

/** Index of the pods by the claims that they use: `namespace/name`. */
export const podsByClaim = 'persistentVolumeClaim';

/** Adds the index of pods by claim. */
export function indexPodsByClaim(pods: SharedInformer<Pod>): void {
  pods.addIndex(podsByClaim, (pod) => claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`));
}

/** Names of the claims that a pod uses, with those of its ephemeral volumes. Upstream: pkg/controller/volume/common. */
export function claimNamesOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName ?? ''];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
}

/** Name of the class of a claim or volume; empty if it has none. Upstream: GetPersistentVolumeClaimClass. */
export function classNameOf({
  metadata,
  spec,
}: Pick<PersistentVolumeClaim, 'metadata'> & { spec?: { storageClassName?: string } }): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
}

/** True if the claim was created for an ephemeral volume of the pod. Upstream: component-helpers/storage/ephemeral.VolumeIsForPod. */
export function isClaimOfPod(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return claim.metadata.namespace === pod.metadata.namespace && isControlledBy(claim, pod);
}
