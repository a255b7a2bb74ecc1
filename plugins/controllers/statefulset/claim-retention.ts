import { newControllerReference, type OwnerReference } from 'kubenest/sdk';
import type { StatefulSet } from 'kubenest/types/apps_v1';
import type { PersistentVolumeClaim, Pod } from 'kubenest/types/core_v1';
import { isInRange, statefulSets } from './stateful-pods.ts';

const podKind = { group: '', version: 'v1', kind: 'Pod' } as const;

interface Policy {
  readonly deletesWithSet: boolean;
  readonly deletesWhenScaled: boolean;
}

export function policyOf({ spec }: StatefulSet): Policy {
  const { whenDeleted, whenScaled } = spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { deletesWithSet: whenDeleted === 'Delete', deletesWhenScaled: whenScaled === 'Delete' };
}

function refersTo({ apiVersion, kind, name }: OwnerReference, owner: StatefulSet | Pod, type: 'StatefulSet' | 'Pod'): boolean {
  return kind === type && apiVersion === (type === 'Pod' ? 'v1' : 'apps/v1') && name === owner.metadata.name;
}

function isOwnedBy({ metadata }: PersistentVolumeClaim, owner: StatefulSet | Pod): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

/** True if the claim refers to an earlier object of the same name. */
export function isStale({ metadata }: PersistentVolumeClaim, owner: StatefulSet | Pod, type: 'StatefulSet' | 'Pod'): boolean {
  const reference = metadata.ownerReferences?.find((candidate) => refersTo(candidate, owner, type));
  return reference !== undefined && reference.uid !== owner.metadata.uid;
}

/** True if another controller has the claim, so that the policy does not apply. */
export function hasOtherController(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  const { deletesWithSet, deletesWhenScaled } = policyOf(set);
  if (!deletesWithSet && !deletesWhenScaled) return false;
  return (
    claim.metadata.ownerReferences?.some((reference) => {
      if (refersTo(reference, set, 'StatefulSet')) return reference.uid !== set.metadata.uid;
      if (refersTo(reference, pod, 'Pod')) return reference.uid !== pod.metadata.uid;
      return reference.controller ?? false;
    }) ?? false
  );
}

/**
 * Returns the owners of a claim among the set and the pod.
 *
 * | whenDeleted | whenScaled | replica exists | owner |
 * |---|---|---|---|
 * | Retain | Retain | | none |
 * | Delete | Retain | | the set |
 * | Retain | Delete | yes | none |
 * | Delete | Delete | yes | the set |
 * | | Delete | no | the pod |
 */
function ownersOf(set: StatefulSet, pod: Pod): { readonly isSet: boolean; readonly isPod: boolean } {
  const { deletesWithSet, deletesWhenScaled } = policyOf(set);
  const isPod = deletesWhenScaled && !isInRange(set, pod);
  return { isSet: deletesWithSet && !isPod, isPod };
}

/** True if the claim has the owners that the policy requires, or is not to be touched. Upstream: isClaimOwnerUpToDate. */
export function hasOwners(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): boolean {
  if (isStale(claim, set, 'StatefulSet') || isStale(claim, pod, 'Pod')) return true;
  const [ofSet, ofPod] = [isOwnedBy(claim, set), isOwnedBy(claim, pod)];
  if (hasOtherController(claim, set, pod)) return !ofSet && !ofPod;
  const isWeak = claim.metadata.ownerReferences?.some(
    ({ uid, controller }) => !controller && (uid === set.metadata.uid || uid === pod.metadata.uid),
  );
  const { isSet, isPod } = ownersOf(set, pod);
  return !isWeak && ofSet === isSet && ofPod === isPod;
}

/** Returns the claim with the owners that the policy requires. Upstream: updateClaimOwnerRefForSetAndPod. */
export function withOwners(claim: PersistentVolumeClaim, set: StatefulSet, pod: Pod): PersistentVolumeClaim {
  const others = (claim.metadata.ownerReferences ?? []).filter(
    (reference) => !refersTo(reference, set, 'StatefulSet') && !refersTo(reference, pod, 'Pod'),
  );
  const { isSet, isPod } = hasOtherController(claim, set, pod) ? { isSet: false, isPod: false } : ownersOf(set, pod);
  const ownerReferences = [
    ...others,
    ...(isSet ? [newControllerReference(set, statefulSets)] : []),
    ...(isPod ? [newControllerReference(pod, podKind)] : []),
  ];
  return { ...claim, metadata: { ...claim.metadata, ownerReferences } };
}
