import { AdmissionPlugin, type Attributes, Client, type Informer, Informers, inject, newNotFound } from 'kubenest/sdk';

/** Denies writes in namespaces that do not exist. Upstream: kubernetes/plugin/pkg/admission/namespace/exists/admission.go. */
@AdmissionPlugin({
  name: 'NamespaceExists',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
})
export class NamespaceExists {
  readonly #namespaces: Informer;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) private readonly client: Client,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  validate({ namespace, kind }: Attributes): void | Promise<void> {
    if (!namespace || (kind.group === '' && kind.kind === 'Namespace') || this.#namespaces.get('', namespace)) return;
    return this.#find(namespace);
  }

  /** Reads the namespace from the store, because another server may have just created it. */
  async #find(namespace: string): Promise<void> {
    const found = await this.client.get({ group: '', version: 'v1', resource: 'namespaces' }, '', namespace);
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
  }
}
