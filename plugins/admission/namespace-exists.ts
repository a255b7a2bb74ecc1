import { AdmissionPlugin, type Attributes, type Informer, Informers, inject, newNotFound } from 'kubenest/sdk';

/** Nothing is written in a namespace that does not exist. Upstream: kubernetes/plugin/pkg/admission/namespace/exists/admission.go. */
@AdmissionPlugin({
  name: 'NamespaceExists',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
})
export class NamespaceExists {
  readonly #namespaces: Informer;

  constructor(@inject(Informers) informers: Informers) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  validate({ namespace, kind }: Attributes): void {
    if (!namespace || (kind.group === '' && kind.kind === 'Namespace') || this.#namespaces.get('', namespace)) return;
    throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
  }
}
