import { type ControllerClient, isAlreadyExists } from 'kubenest/sdk';
import type { StorageClass } from 'kubenest/types/storage_v1';

export const storageClasses = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' } as const;
/** Name of the simulated provisioner in classes and annotations. */
export const provisioner = 'kubenest.dev/simulated';
const defaultAnnotation = 'storageclass.kubernetes.io/is-default-class';

function storageClass(name: string, volumeBindingMode: string, isDefault: boolean): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, ...(isDefault && { annotations: { [defaultAnnotation]: 'true' } }) },
    provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode,
    allowVolumeExpansion: true,
  };
}

/**
 * Creates the classes `standard`, which waits for the first consumer, and `immediate`, unless they exist. `standard` is the default class
 * unless there is one already.
 */
export async function createStorageClasses(client: ControllerClient): Promise<void> {
  const existing = await client.list<StorageClass>(storageClasses, '');
  const hasDefault = existing.some(({ metadata }) => metadata.annotations?.[defaultAnnotation] === 'true');
  const wanted = [storageClass('standard', 'WaitForFirstConsumer', !hasDefault), storageClass('immediate', 'Immediate', false)];
  for (const missing of wanted) {
    if (existing.some(({ metadata }) => metadata.name === missing.metadata.name)) continue;
    try {
      await client.create(storageClasses, missing);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
