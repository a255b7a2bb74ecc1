import {
  AdmissionPlugin,
  type Attributes,
  type AuthorizationAttributes,
  Authorizer,
  forbidden,
  inject,
  type OwnerReference,
  RestMapper,
} from 'kubenest/sdk';
import { semanticDeepEqual } from '#sdk/internal';

/**
 * Requires permission to delete an object whose ownerReferences a user sets (because the garbage collector may then delete
 * it), and permission to set the owner's finalizers for blockOwnerDeletion. Upstream:
 * kubernetes/plugin/pkg/admission/gc/gc_admission.go.
 */
@AdmissionPlugin({
  name: 'OwnerReferencesPermissionEnforcement',
  match: [{ groups: ['*'], resources: ['*'], subresources: ['*'], operations: ['CREATE', 'UPDATE'] }],
})
export class OwnerReferencesPermissionEnforcement {
  constructor(
    @inject(Authorizer) private readonly authorizer: Authorizer,
    @inject(RestMapper) private readonly mapper: RestMapper,
  ) {}

  validate(request: Attributes): void | Promise<void> {
    const { object, oldObject, resource, subresource } = request;
    // The status subresource of pods ignores ownerReferences.
    if (resource.group === '' && resource.resource === 'pods' && subresource === 'status') return;
    const owners = object.metadata?.ownerReferences ?? [];
    const old = oldObject?.metadata.ownerReferences ?? [];
    const isChanged = owners.length !== old.length || owners.some((owner, at) => !semanticDeepEqual(owner, old[at]));
    if (isChanged) return this.#check(request, owners, old);
  }

  async #check(request: Attributes, owners: readonly OwnerReference[], old: readonly OwnerReference[]): Promise<void> {
    if (request.operation !== 'CREATE') await this.#checkDeletion(request);
    const before = new Set(old.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid));
    const blocking = owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !before.has(uid));
    if (blocking.length === 0) return;
    const anything = { apiGroup: '*', apiVersion: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' };
    if ((await this.#ask(request, 'update', anything)).decision === 'Allow') return;
    for (const owner of blocking) await this.#checkFinalizers(request, owner);
  }

  async #checkDeletion(request: Attributes): Promise<void> {
    const { resource, subresource, namespace, name } = request;
    const asked = { apiGroup: resource.group, apiVersion: resource.version, resource: resource.resource, subresource, namespace, name };
    const { decision, reason } = await this.#ask(request, 'delete', asked);
    if (decision !== 'Allow') throw forbidden(request, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
  }

  async #checkFinalizers(request: Attributes, { apiVersion, kind, name }: OwnerReference): Promise<void> {
    const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/', 2) as [string, string]) : ['', apiVersion];
    const mappings = this.mapper.resourcesOf({ group, version, kind });
    if (mappings.length === 0) {
      const problem = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
      throw forbidden(
        request,
        `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${problem}`,
      );
    }
    for (const { resource, namespaced } of mappings) {
      const asked = {
        apiGroup: resource.group,
        apiVersion: resource.version,
        resource: resource.resource,
        subresource: 'finalizers',
        namespace: namespaced ? request.namespace : '',
        name,
      };
      const { decision, reason } = await this.#ask(request, 'update', asked);
      if (decision === 'Allow') continue;
      throw forbidden(
        request,
        `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`,
      );
    }
  }

  async #ask({ user }: Attributes, verb: string, asked: Omit<AuthorizationAttributes, 'user' | 'verb' | 'isResourceRequest' | 'path'>) {
    return this.authorizer.authorize({ ...asked, user, verb, isResourceRequest: true, path: '' });
  }
}
