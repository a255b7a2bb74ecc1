import { AdmissionPlugin, type Attributes, forbidden, type Informer, Informers, inject, Quantity } from 'kubenest/sdk';
import type { PersistentVolumeClaim, StorageClass } from 'kubenest/kinds';
import { storageClassOf } from '../common/volume-claim.ts';

/**
 * Denies the expansion of claims that are not bound or whose class does not allow it. Upstream:
 * kubernetes/plugin/pkg/admission/storage/persistentvolume/resize/admission.go.
 */
@AdmissionPlugin({
  name: 'PersistentVolumeClaimResize',
  match: [{ groups: [''], resources: ['persistentvolumeclaims'], operations: ['UPDATE'] }],
})
export class PersistentVolumeClaimResize {
  readonly #classes: Informer<StorageClass>;

  constructor(@inject(Informers) informers: Informers) {
    this.#classes = informers.for({ group: 'storage.k8s.io', resource: 'storageclasses' });
  }

  validate(request: Attributes<PersistentVolumeClaim>): void {
    const claim = request.object;
    const old = request.oldObject as PersistentVolumeClaim;
    if (sizeOf(claim).compare(sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') throw forbidden(request, 'Only bound persistent volume claims can be expanded');
    const name = storageClassOf(claim);
    if (name && name === storageClassOf(old) && this.#classes.get('', name)?.allowVolumeExpansion) return;
    throw forbidden(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  }
}

function sizeOf({ spec }: PersistentVolumeClaim): Quantity {
  return Quantity.parse(spec?.resources?.requests?.['storage'] ?? '0');
}
