import { AdmissionPlugin, type Attributes, type Informer, Informers, type KubeObject, inject } from 'kubenest/sdk';
import { defaultClassOf } from './default-class.ts';

interface Ingress extends KubeObject {
  spec?: { ingressClassName?: string };
}

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

  admit(request: Attributes): void {
    const ingress = request.object as Ingress;
    if (ingress.spec?.ingressClassName !== undefined || ingress.metadata.annotations?.[classAnnotation] !== undefined) return;
    const name = defaultClassOf(this.#classes, defaultAnnotations)?.metadata.name;
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
  }
}
