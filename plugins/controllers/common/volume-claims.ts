import { isControlledBy, type SharedInformer } from 'kubenest/sdk';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { claimNames } from '../../common/pod-claims.ts';

/** Index of the pods by the claims that they use: `namespace/name`. */
export const podsByClaim = 'persistentVolumeClaim';

/** Adds the index of pods by claim. */
export function indexPodsByClaim(pods: SharedInformer<Pod>): void {
  pods.addIndex(podsByClaim, (pod) => claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`));
}

/** True if the claim was created for an ephemeral volume of the pod. Upstream: component-helpers/storage/ephemeral.VolumeIsForPod. */
export function isClaimOfPod(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return claim.metadata.namespace === pod.metadata.namespace && isControlledBy(claim, pod);
}
