import { Quantity } from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { selectorOf } from '../../common/selectors.ts';
import { storageClassOf } from '../../common/volume-claim.ts';

const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => Quantity.parse(String(spec?.resources?.requests?.['storage'] ?? '0'));
const capacityOf = ({ spec }: PersistentVolume): Quantity => Quantity.parse(String(spec?.capacity?.['storage'] ?? '0'));

/** True if the volume is reserved for the claim, or bound to it. Upstream: IsVolumeBoundToClaim. */
export function isReservedFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef;
  if (reference?.name !== metadata.name || reference?.namespace !== metadata.namespace) return false;
  return !reference?.uid || reference.uid === metadata.uid;
}

export function hasVolumeModeOf({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem');
}

function hasAccessModesOf({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode));
}

function hasAttributesClassOf({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (spec?.volumeAttributesClassName ?? '') === (claim.spec?.volumeAttributesClassName ?? '');
}

/** Returns why a claim cannot have the volume that it names; undefined if it can. Upstream: checkVolumeSatisfyClaim. */
export function mismatchOf(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return 'requested PV is too small';
  if (storageClassOf(volume) !== storageClassOf(claim)) return 'storageClassName does not match';
  if (!hasAttributesClassOf(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!hasVolumeModeOf(volume, claim)) return 'incompatible volumeMode';
  return hasAccessModesOf(volume, claim) ? undefined : 'incompatible accessMode';
}

/**
 * Returns the volume for a claim: one that is reserved for it, or the smallest available one that fits, among those with the fewest access
 * modes. With `isDelayed`, only a reserved one: the scheduler chooses the others. Upstream: persistentVolumeOrderedIndex.findByClaim and
 * FindMatchingVolume.
 */
export function bestMatch(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  isDelayed: boolean,
): PersistentVolume | undefined {
  const candidates = volumes.filter((volume) => hasAccessModesOf(volume, claim) && isUsable(volume, claim));
  const modes = (volume: PersistentVolume): number => new Set(volume.spec?.accessModes).size;
  candidates.sort((a, b) => modes(a) - modes(b) || capacityOf(a).compare(capacityOf(b)));
  const selector = claim.spec?.selector && selectorOf(claim.spec.selector);
  const isFree = ({ status, metadata }: PersistentVolume): boolean =>
    status?.phase === 'Available' && (!selector || selector.matches(metadata.labels ?? {}));
  const isFound = (volume: PersistentVolume): boolean =>
    isReservedFor(volume, claim) || (!isDelayed && isFree(volume) && storageClassOf(volume) === storageClassOf(claim));
  const first = candidates.find(isFound);
  if (!first) return undefined;
  return candidates.find((volume) => modes(volume) === modes(first) && isReservedFor(volume, claim)) ?? first;
}

/** True if only its phase, class or labels can exclude the volume. */
function isUsable(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.metadata.deletionTimestamp || (volume.spec?.claimRef && !isReservedFor(volume, claim))) return false;
  return capacityOf(volume).compare(requestOf(claim)) >= 0 && hasVolumeModeOf(volume, claim) && hasAttributesClassOf(volume, claim);
}
