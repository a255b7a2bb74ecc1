import { Quantity } from 'kubenest/sdk';
import type { PersistentVolume, PersistentVolumeClaim } from 'kubenest/types/core_v1';
import type { StorageClass } from 'kubenest/types/storage_v1';
import { provisioner } from './storage-classes.ts';

const provisionedBy = 'pv.kubernetes.io/provisioned-by';
/** Name of the driver in volumes: a driver's name, unlike a provisioner's, is a DNS name. */
const driver = 'simulated.kubenest.dev';

/** True if the binder, and the scheduler if the class waits for it, request a volume. Upstream: sig-storage-lib-external-provisioner. */
export function needsVolume({ metadata, spec }: PersistentVolumeClaim, storageClass: StorageClass | undefined): boolean {
  const annotations = metadata.annotations ?? {};
  if (spec?.volumeName || annotations['volume.kubernetes.io/storage-provisioner'] !== provisioner) return false;
  if (storageClass?.provisioner !== provisioner) return false;
  return storageClass.volumeBindingMode !== 'WaitForFirstConsumer' || Object.hasOwn(annotations, 'volume.kubernetes.io/selected-node');
}

/** Returns the volume for a claim. */
export function newVolume({ metadata, spec = {} }: PersistentVolumeClaim, storageClass: StorageClass): PersistentVolume {
  const { namespace, name: claimName, uid, resourceVersion } = metadata;
  const name = `pvc-${uid}`;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [provisionedBy]: provisioner } },
    spec: {
      accessModes: spec.accessModes ?? [],
      capacity: { storage: spec.resources?.requests?.['storage'] ?? '0' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid, resourceVersion },
      csi: { driver, volumeHandle: name },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: spec.volumeMode ?? 'Filesystem',
      ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
      ...(spec.volumeAttributesClassName && { volumeAttributesClassName: spec.volumeAttributesClassName }),
    },
  } as PersistentVolume;
}

export function isSimulated({ metadata }: PersistentVolume): boolean {
  return metadata.annotations?.[provisionedBy] === provisioner;
}

/** True if the binder has released the volume and its data is not to be kept. */
export function isDeletable(volume: PersistentVolume): boolean {
  return isSimulated(volume) && volume.status?.phase === 'Released' && volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
}

/** Returns the requested size of a bound claim that has to grow; undefined if it has that size. */
export function wantedSize({ spec, status }: PersistentVolumeClaim): string | undefined {
  const wanted = spec?.resources?.requests?.['storage'];
  const present = status?.capacity?.['storage'];
  if (status?.phase !== 'Bound' || wanted === undefined || present === undefined) return undefined;
  return Quantity.parse(String(wanted)).compare(Quantity.parse(String(present))) > 0 ? wanted : undefined;
}
