import { AdmissionPlugin, type Attributes } from 'kubenest/sdk';

const finalizers: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  volumeattributesclasses: 'kubernetes.io/vac-protection',
};

/**
 * Adds finalizers to volumes, claims and attribute classes, which protect them while they are in use. Upstream:
 * kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go.
 */
@AdmissionPlugin({
  name: 'StorageObjectInUseProtection',
  match: [
    { groups: [''], resources: ['persistentvolumes', 'persistentvolumeclaims'], operations: ['CREATE'] },
    { groups: ['storage.k8s.io'], resources: ['volumeattributesclasses'], operations: ['CREATE'] },
  ],
})
export class StorageObjectInUseProtection {
  admit({ resource, object }: Attributes): void {
    const finalizer = finalizers[resource.resource] as string;
    if (!object.metadata.finalizers?.includes(finalizer)) (object.metadata.finalizers ??= []).push(finalizer);
  }
}
