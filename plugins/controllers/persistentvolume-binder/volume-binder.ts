import { type ControllerClient, deepEqual, type EventRecorder, type EventType, Quantity } from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from 'kubenest/types/core_v1';
import { bindCompleted, boundByController, hasAnnotation } from './annotations.ts';
import { isReservedFor } from './match-volume.ts';

export const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' } as const;
export const volumes = { group: '', version: 'v1', resource: 'persistentvolumes', kind: 'PersistentVolume' } as const;

const preResizeCapacity = 'volume.alpha.kubernetes.io/pre-resize-capacity';

/**
 * Writes the two sides of a binding. Each write has the resourceVersion of the object that was read, so that a stale one is a conflict.
 * Upstream: pkg/controller/volume/persistentvolume/pv_controller.go.
 */
export class VolumeBinder {
  constructor(
    private readonly client: ControllerClient,
    private readonly recorder: EventRecorder,
  ) {}

  /** Binds both objects to each other, the volume first, and sets their phases. */
  async bind(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
    const bound = await this.setVolumePhase(await this.#bindVolume(volume, claim), 'Bound');
    await this.setClaimStatus(await this.#bindClaim(claim, bound), 'Bound', bound);
  }

  /** Rolls the binding of a volume back. A volume that was reserved by a user stays reserved. */
  async unbind(volume: PersistentVolume): Promise<void> {
    const { annotations: { [boundByController]: byController, ...annotations } = {}, ...metadata } = volume.metadata;
    const { claimRef: { uid: _, ...reserved } = {}, ...spec } = volume.spec ?? {};
    const unbound = await this.client.replace<PersistentVolume>(volumes, {
      ...volume,
      metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata,
      spec: byController === undefined ? { ...spec, claimRef: reserved } : spec,
    });
    await this.setVolumePhase(unbound, 'Available');
  }

  async setVolumePhase(volume: PersistentVolume, phase: string, message?: string): Promise<PersistentVolume> {
    if (volume.status?.phase === phase) return volume;
    const { message: _, ...status } = volume.status ?? {};
    return this.client.replace<PersistentVolume>(
      { ...volumes, subresource: 'status' },
      { ...volume, status: { ...status, phase, ...(message && { message }) } },
    );
  }

  /** Sets the phase Failed, with an event when it changes. */
  async failVolume(volume: PersistentVolume, reason: string, message: string): Promise<void> {
    if (volume.status?.phase === 'Failed') return;
    this.recorder.event(await this.setVolumePhase(volume, 'Failed', message), 'Warning', reason, message);
  }

  /** Sets the phase of a claim, with an event when it changes. */
  async setClaimPhaseWithEvent(
    claim: PersistentVolumeClaim,
    phase: string,
    type: EventType,
    reason: string,
    message: string,
  ): Promise<void> {
    if (claim.status?.phase === phase) return;
    this.recorder.event(await this.setClaimStatus(claim, phase, undefined), type, reason, message);
  }

  /** Sets the phase of a claim and what follows from its volume. */
  async setClaimStatus(claim: PersistentVolumeClaim, phase: string, volume: PersistentVolume | undefined): Promise<PersistentVolumeClaim> {
    const status = claimStatus(claim.status, phase, volume);
    if (deepEqual(status, claim.status ?? {})) return claim;
    return this.client.replace<PersistentVolumeClaim>({ ...claims, subresource: 'status' }, { ...claim, status });
  }

  async #bindVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<PersistentVolume> {
    const isReserved = isReservedFor(volume, claim);
    const { name, namespace, uid, resourceVersion } = claim.metadata;
    if (isReserved && volume.spec?.claimRef?.uid === uid) return volume;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
    const annotations = isReserved ? undefined : { annotations: { ...volume.metadata.annotations, [boundByController]: 'yes' } };
    return this.client.replace(volumes, {
      ...volume,
      metadata: { ...volume.metadata, ...annotations },
      spec: { ...volume.spec, claimRef },
    } as PersistentVolume);
  }

  async #bindClaim(claim: PersistentVolumeClaim, { metadata: { name } }: PersistentVolume): Promise<PersistentVolumeClaim> {
    const isNamed = claim.spec?.volumeName === name;
    if (isNamed && hasAnnotation(claim, bindCompleted)) return claim;
    const annotations = { ...claim.metadata.annotations, ...(!isNamed && { [boundByController]: 'yes' }), [bindCompleted]: 'yes' };
    return this.client.replace(claims, {
      ...claim,
      metadata: { ...claim.metadata, annotations },
      spec: { ...claim.spec, volumeName: name },
    } as PersistentVolumeClaim);
  }
}

/**
 * The status of a claim in a phase. The capacity is that of the volume when the claim becomes bound: later it may differ on purpose, while
 * a file system is resized. Upstream: updateClaimStatus.
 */
export function claimStatus(
  old: PersistentVolumeClaimStatus = {},
  phase: string,
  volume: PersistentVolume | undefined,
): PersistentVolumeClaimStatus {
  const { accessModes: _, capacity, currentVolumeAttributesClassName, ...kept } = old;
  if (!volume) return { ...kept, phase };
  const { accessModes, volumeAttributesClassName } = volume.spec ?? {};
  const attributesClass = old.phase === 'Pending' && phase === 'Bound' ? volumeAttributesClassName : currentVolumeAttributesClassName;
  const newCapacity = old.phase === phase ? capacity : capacityAtBinding(volume, capacity);
  return {
    ...kept,
    phase,
    ...(accessModes && { accessModes }),
    ...(newCapacity && { capacity: newCapacity }),
    ...(attributesClass && { currentVolumeAttributesClassName: attributesClass }),
  };
}

type Capacity = PersistentVolumeClaimStatus['capacity'];

function capacityAtBinding({ metadata, spec }: PersistentVolume, old: Capacity): Capacity {
  const capacity = spec?.capacity?.['storage'];
  if (capacity === undefined) throw new Error(`PersistentVolume "${metadata.name}" is without a storage capacity`);
  const beforeResize = metadata.annotations?.[preResizeCapacity];
  if (beforeResize !== undefined) return { ...old, storage: beforeResize };
  const isSame = old?.['storage'] !== undefined && Quantity.parse(String(old['storage'])).equals(Quantity.parse(String(capacity)));
  return isSame ? old : spec?.capacity;
}
