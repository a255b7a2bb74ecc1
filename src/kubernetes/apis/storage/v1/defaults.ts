/**
 * Defaults of storage classes, CSI drivers and volume attachments. Upstream: pkg/apis/storage/v1/defaults.go and zz_generated.defaults.go.
 */
import { defaultPersistentVolumeSource } from '#kubernetes/apis/core/v1/defaults';
import type { CSIDriver, StorageClass, VolumeAttachment } from '#kubernetes/schema/storage_v1.gen';

export function defaultStorageClass(storageClass: StorageClass): void {
  storageClass.reclaimPolicy ??= 'Delete';
  storageClass.volumeBindingMode ??= 'Immediate';
}

export function defaultCsiDriver(driver: CSIDriver): void {
  const spec = (driver.spec ??= {});
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  if (!spec.volumeLifecycleModes?.length) spec.volumeLifecycleModes = ['Persistent'];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}

export function defaultVolumeAttachment({ spec }: VolumeAttachment): void {
  const inline = spec?.source?.inlineVolumeSpec;
  if (inline !== undefined) defaultPersistentVolumeSource(inline);
}
