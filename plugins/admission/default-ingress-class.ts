import { AdmissionPlugin, type Attributes, type Informer, Informers, inject } from 'kubenest/sdk';
import type { Ingress } from 'kubenest/kinds';
import { defaultClassOf } from './default-class.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const defaultAnnotations = ['ingressclass.kubernetes.io/is-default-class'];

/**
 * Sets the default ingress class, if there is one, in ingresses without a class. Upstream:
 * kubernetes/plugin/pkg/admission/network/defaultingressclass/admission.go.
 */
@AdmissionPlugin({
  name: 'DefaultIngressClass',
  match: [{ groups: ['networking.k8s.io'], resources: ['ingresses'], operations: ['CREATE'] }],
})
export class DefaultIngressClass {
  readonly #classes: Informer;

  constructor(@inject(Informers) informers: Informers) {
    this.#classes = informers.for({ group: 'networking.k8s.io', resource: 'ingressclasses' });
  }

  admit({ object: ingress }: Attributes<Ingress>): void {
    if (ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[classAnnotation] !== undefined) return;
    const name = defaultClassOf(this.#classes, defaultAnnotations)?.metadata.name;
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
  }
}
