import {
  AdmissionPlugin,
  type Attributes,
  forbidden,
  type Informer,
  Informers,
  type KubeObject,
  newForbidden,
  newNotFound,
  inject,
} from 'kubenest/sdk';

interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

const immortal = new Set(['default', 'kube-system', 'kube-public']);
/** Kinds of which objects may be asked about in a namespace that is not there. */
const accessReviews = new Set(['localsubjectaccessreviews']);

/**
 * Keeps objects out of namespaces that do not exist or are on their way out, and the system's namespaces from being deleted.
 * Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go.
 */
@AdmissionPlugin({
  name: 'NamespaceLifecycle',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
})
export class NamespaceLifecycle {
  readonly #namespaces: Informer<Namespace>;

  constructor(@inject(Informers) informers: Informers) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
  }

  admit(request: Attributes): void {
    const { operation, resource, namespace } = request;
    const isNamespace = resource.group === '' && resource.resource === 'namespaces';
    if (operation === 'DELETE' && isNamespace && immortal.has(request.name)) {
      throw newForbidden(resource, request.name, 'this namespace may not be deleted');
    }
    if (!namespace || isNamespace || operation !== 'CREATE') return;
    if (resource.group === 'authorization.k8s.io' && accessReviews.has(resource.resource)) return;
    const found = this.#namespaces.get('', namespace);
    if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace);
    if (found.status?.phase !== 'Terminating' && found.metadata.deletionTimestamp === undefined) return;
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
}
