/** The ResourceClaims of pods. Upstream: k8s.io/dynamic-resource-allocation/resourceclaim. */
import type { Pod, PodResourceClaim } from 'kubenest/types/core_v1';

/** Finalizer of allocated claims. */
export const claimFinalizer = 'resource.kubernetes.io/delete-protection';

/** The claim of a pod. */
export interface ClaimReference {
  /** Undefined if the claim is not needed. */
  readonly name: string | undefined;
  /** True for a claim from a template, which the pod has to own. */
  readonly isGenerated: boolean;
}

/** Returns the claim that an entry of the pod refers to; undefined if it has yet to be generated. Upstream: Name. */
export function claimOf({ status }: Pod, { name, resourceClaimName }: PodResourceClaim): ClaimReference | undefined {
  if (resourceClaimName !== undefined) return { name: resourceClaimName, isGenerated: false };
  const generated = status?.resourceClaimStatuses?.find((one) => one.name === name);
  return generated && { name: generated.resourceClaimName, isGenerated: true };
}
