import { AdmissionPlugin, type Attributes, Client, type Informer, Informers, inject, isAlreadyExists } from 'kubenest/sdk';
import { forbiddenBy } from '#sdk/internal';

/**
 * Creates the namespace of a new object if it does not exist. Upstream:
 * kubernetes/plugin/pkg/admission/namespace/autoprovision/admission.go.
 */
@AdmissionPlugin({
  name: 'NamespaceAutoProvision',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE'] }],
})
export class NamespaceAutoProvision {
  readonly #namespaces: Informer;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) private readonly client: Client,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes): void | Promise<void> {
    const { dryRun, namespace, kind } = request;
    if (dryRun || !namespace || (kind.group === '' && kind.kind === 'Namespace') || this.#namespaces.get('', namespace)) return;
    return this.#create(request);
  }

  async #create(request: Attributes): Promise<void> {
    const target = { group: '', version: 'v1', resource: 'namespaces' };
    try {
      await this.client.create(target, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: request.namespace } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw forbiddenBy(request, error as Error);
    }
  }
}
