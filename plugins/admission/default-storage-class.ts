import { AdmissionPlugin, type Attributes, type Informer, Informers, inject } from 'kubenest/sdk';
import type { PersistentVolumeClaim } from 'kubenest/kinds';
import { defaultClassOf } from './default-class.ts';
import { betaClassAnnotation } from '../common/volume-claim.ts';

const defaultAnnotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/**
 * Sets the default storage class, if there is one, in claims without a class. Upstream:
 * kubernetes/plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
 */
@AdmissionPlugin({ name: 'DefaultStorageClass', match: [{ groups: [''], resources: ['persistentvolumeclaims'], operations: ['CREATE'] }] })
export class DefaultStorageClass {
  readonly #classes: Informer;

  constructor(@inject(Informers) informers: Informers) {
    this.#classes = informers.for({ group: 'storage.k8s.io', resource: 'storageclasses' });
  }

  admit({ object: claim }: Attributes<PersistentVolumeClaim>): void {
    // An empty name explicitly requests no class.
    if (claim.spec?.storageClassName !== undefined || claim.metadata.annotations?.[betaClassAnnotation] !== undefined) return;
    const name = defaultClassOf(this.#classes, defaultAnnotations)?.metadata.name;
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
  }
}
