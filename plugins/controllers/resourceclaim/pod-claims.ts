/** The work of the controller for the claims of pods. Upstream: pkg/controller/resourceclaim. */
import { controllerOf, isControlledBy, type SharedInformer } from 'kubenest/sdk';
import type { Pod } from 'kubenest/types/core_v1';
import type { ResourceClaim } from 'kubenest/types/resource_v1';
import { type ClaimReference, claimOf } from '../../common/resource-claims.ts';
import { isPodTerminal } from '../common/pods.ts';

/** Annotation of a generated claim with its name in the pod. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name';
/** Most pods that may use a claim at a time. Upstream: ResourceClaimReservedForMaxSize. */
const maxConsumers = 256;

/** True if the claim may be the pod's: a generated one has the pod as its controller. */
export function isForPod(pod: Pod, claim: ResourceClaim, { isGenerated }: ClaimReference): boolean {
  return !isGenerated || isControlledBy(claim, pod);
}

/** True if the pod uses an allocated claim without a reservation, and there is room for one. */
export function needsReservation({ metadata }: Pod, { status = {} }: ResourceClaim): boolean {
  const { allocation, reservedFor = [] } = status;
  return allocation !== undefined && !reservedFor.some(({ uid }) => uid === metadata.uid) && reservedFor.length < maxConsumers;
}

/** True if no container of the pod runs or will run. */
export function isPodDone(pod: Pod): boolean {
  return isPodTerminal(pod) || (pod.metadata.deletionTimestamp !== undefined && !pod.spec?.nodeName);
}

/** True if the controller has to generate or reserve a claim of the pod. Upstream: podNeedsWork. */
export function podNeedsWork(pod: Pod, claims: Pick<SharedInformer<ResourceClaim>, 'get'>): boolean {
  const { metadata, spec = {} } = pod;
  if (metadata.deletionTimestamp) return false;
  return (spec.resourceClaims ?? []).some((entry) => {
    const reference = claimOf(pod, entry);
    if (!reference) return true;
    if (reference.name === undefined) return false;
    const claim = claims.get(metadata.namespace ?? '', reference.name);
    if (!claim) return entry.resourceClaimTemplateName !== undefined;
    return isForPod(pod, claim, reference) && !!spec.nodeName && needsReservation(pod, claim);
  });
}

/** Returns the start of the name of a generated claim; long names are cut in proportion. */
export function claimNamePrefix(pod: string, entry: string): string {
  const most = 57;
  const whole = `${pod}-${entry}-`;
  if (whole.length <= most) return whole;
  const cut = (text: string): string => text.slice(0, Math.floor((text.length * most) / whole.length));
  return `${cut(pod)}-${cut(entry)}`;
}

/** Returns the pod that a claim was generated for. */
export function owningPod(claim: ResourceClaim): { readonly name: string; readonly uid: string } | undefined {
  const owner = controllerOf(claim);
  return owner?.apiVersion === 'v1' && owner.kind === 'Pod' ? owner : undefined;
}
