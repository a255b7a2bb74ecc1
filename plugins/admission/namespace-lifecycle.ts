import {
  AdmissionPlugin,
  type Attributes,
  Client,
  Clock,
  forbidden,
  type Informer,
  Informers,
  newForbidden,
  newNotFound,
  inject,
} from 'kubenest/sdk';
import type { Namespace } from 'kubenest/kinds';

/** Period after a deletion in which the store is read. Upstream: forceLiveLookupTTL. */
const forceLiveLookupMs = 30_000;
const immortal = new Set(['default', 'kube-system', 'kube-public']);
/** Review kinds that are allowed in a missing namespace. */
const accessReviews = new Set(['localsubjectaccessreviews']);

/**
 * Denies creation in missing or terminating namespaces, and deletion of system namespaces. Upstream:
 * apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go.
 */
@AdmissionPlugin({
  name: 'NamespaceLifecycle',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
})
export class NamespaceLifecycle {
  readonly #namespaces: Informer<Namespace>;

  /** Recently deleted namespaces with the time until which the store is read instead of the informer. */
  readonly #deleted = new Map<string, number>();

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) private readonly client: Client,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes): void | Promise<void> {
    const { operation, resource, namespace } = request;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (operation === 'DELETE' && isNamespace) {
      if (immortal.has(request.name)) throw newForbidden(resource, request.name, 'this namespace may not be deleted');
      this.#noteDeletion(request.name);
    }
    if (!namespace || isNamespace || operation === 'DELETE') return;
    if (resource.group === 'authorization.k8s.io' && accessReviews.has(resource.resource)) return;
    const found = this.#namespaces.get('', namespace);
    if (!found || this.#isDeleted(namespace)) return this.#checkPresent(request, namespace);
    if (operation === 'CREATE') checkAlive(request, namespace, found);
  }

  /** Reads the namespace from the store, because the informer may lag behind other servers on the same store. */
  async #checkPresent(request: Attributes, namespace: string): Promise<void> {
    const found = await this.client.get<Namespace>({ group: '', version: 'v1', resource: 'namespaces' }, '', namespace);
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
    if (request.operation === 'CREATE') checkAlive(request, namespace, found);
  }

  #noteDeletion(name: string): void {
    const now = this.clock.now();
    for (const [other, until] of this.#deleted) {
      if (until > now) break;
      this.#deleted.delete(other);
    }
    this.#deleted.delete(name);
    this.#deleted.set(name, now + forceLiveLookupMs);
  }

  #isDeleted(name: string): boolean {
    return this.#deleted.size > 0 && (this.#deleted.get(name) ?? 0) > this.clock.now();
  }
}

function checkAlive(request: Attributes, namespace: string, { status, metadata }: Namespace): void {
  if (status?.phase !== 'Terminating' && metadata.deletionTimestamp === undefined) return;
  const denied = forbidden(request, `unable to create new content in namespace ${namespace} because it is being terminated`);
  denied.status.details = {
    ...denied.status.details,
    causes: [
      ...(denied.status.details?.causes ?? []),
      { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
    ],
  };
  throw denied;
}
