import { newBadRequest, newForbidden, newNotFound } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { quoteList } from '#apimachinery/runtime/quote';
import { groupNames, type UserInfo } from '#apiserver/request/user-info';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import type { StoreHooks, WriteRequest } from '#apiserver/registry/write';
import type { ClusterRole, Role, RoleBinding, RoleRef } from '#kubernetes/schema/rbac_v1.gen';
import { describeRules, type Rule, uncoveredRules } from './rule-cover.ts';

const group = 'rbac.authorization.k8s.io';
const fullAuthority: readonly Rule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Dependencies of the checks, which exist only after the stores. */
export interface EscalationParts {
  readonly informers: Informers;
  readonly authorizer: Authorizer;
  /** Resolves the rules of roles and bindings, even if another authorizer is in use. */
  readonly rules: Required<Pick<Authorizer, 'rulesFor'>>;
}

/**
 * Prevents privilege escalation: writing a role needs all of its permissions or the verb `escalate`; writing a binding needs all
 * permissions of its role or the verb `bind`. Members of system:masters are exempt. Upstream:
 * kubernetes/pkg/registry/rbac/{role,clusterrole,rolebinding,clusterrolebinding}/policybased.
 */
export class EscalationCheck {
  /** Store hooks by `group/resource`. */
  readonly hooks: ReadonlyMap<string, StoreHooks>;
  #parts: EscalationParts | undefined;

  constructor() {
    const role = (resource: string): StoreHooks => this.#hooks((object, old, request) => this.#checkRole(resource, object, old, request));
    const binding = (resource: string): StoreHooks => this.#hooks((object, _, request) => this.#checkBinding(resource, object, request));
    this.hooks = new Map([
      [`${group}/roles`, role('roles')],
      [`${group}/clusterroles`, role('clusterroles')],
      [`${group}/rolebindings`, binding('rolebindings')],
      [`${group}/clusterrolebindings`, binding('clusterrolebindings')],
    ]);
  }

  /** Sets the dependencies. It must be called before the first request. */
  connect(parts: EscalationParts): void {
    this.#parts = parts;
  }

  get #connected(): EscalationParts {
    if (!this.#parts) throw new Error('cannot authorize writes of roles: EscalationCheck.connect was not called');
    return this.#parts;
  }

  #hooks(check: (object: KubeObject, old: KubeObject | undefined, request: WriteRequest) => Promise<void>): StoreHooks {
    const guarded = async (object: KubeObject, old: KubeObject | undefined, request: WriteRequest): Promise<undefined> => {
      if (request.user.groups.includes(groupNames.privileged)) return;
      if (old && changesOnlyForCollection(object, old)) return;
      await check(object, old, request);
    };
    return {
      beginCreate: (object, request) => guarded(object, undefined, request),
      beginUpdate: (object, old, request) => guarded(object, old, request),
    };
  }

  async #checkRole(resource: string, object: KubeObject, old: KubeObject | undefined, request: WriteRequest): Promise<void> {
    const name = object.metadata.name ?? '';
    if (await this.#allows(request, { verb: 'escalate', resource, name: old ? name : '', namespace: request.namespace })) return;
    const { rules = [], aggregationRule } = object as ClusterRole & Role;
    const problem = await this.#escalation(request.user, request.namespace, rules);
    if (problem !== undefined) throw newForbidden({ group, resource }, name, problem);
    const aggregates =
      aggregationRule?.clusterRoleSelectors?.length || (old as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors?.length;
    if (aggregates && (await this.#escalation(request.user, '', fullAuthority)) !== undefined)
      throw newForbidden({ group, resource }, name, 'must have cluster-admin privileges to use the aggregationRule');
  }

  async #checkBinding(resource: string, object: KubeObject, request: WriteRequest): Promise<void> {
    const { roleRef = {} } = object as RoleBinding;
    const { kind = '', name = '' } = roleRef;
    const named = kind === 'ClusterRole' ? 'clusterroles' : kind === 'Role' ? 'roles' : undefined;
    if (named && (await this.#allows(request, { verb: 'bind', resource: named, name, namespace: request.namespace }))) return;
    const problem = await this.#escalation(request.user, request.namespace, this.#rulesOf(resource, roleRef, request.namespace));
    if (problem !== undefined) throw newForbidden({ group, resource }, object.metadata.name ?? '', problem);
  }

  #rulesOf(resource: string, { kind = '', name = '' }: RoleRef, namespace: string): readonly Rule[] {
    if (kind !== 'Role' && kind !== 'ClusterRole') throw new Error(`unsupported role reference kind: ${JSON.stringify(kind)}`);
    const source = kind === 'Role' ? 'roles' : 'clusterroles';
    // As upstream's storage, which reads the role by its key.
    if (kind === 'Role' && namespace === '') throw newBadRequest('Namespace parameter required.');
    if (name === '') throw newBadRequest('Name parameter required.');
    const role = this.#connected.informers.for<Role>({ group, resource: source }).get(kind === 'Role' ? namespace : '', name);
    // As upstream, the error names the resource that is written.
    if (!role) throw newNotFound({ group, resource }, name);
    return role.rules ?? [];
  }

  /** Returns the reason why the user may not grant these rules; undefined if the user may. */
  async #escalation(user: UserInfo, namespace: string, rules: readonly Rule[]): Promise<string | undefined> {
    const { resourceRules, nonResourceRules, errors } = await this.#connected.rules.rulesFor(user, namespace);
    const missing = uncoveredRules([...resourceRules, ...nonResourceRules], rules);
    if (missing.length === 0) return undefined;
    const message = `user ${JSON.stringify(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}`;
    return errors.length > 0 ? `${message}; resolution errors: [${errors.join(' ')}]` : message;
  }

  async #allows({ user }: WriteRequest, what: Pick<AuthorizationAttributes, 'verb' | 'resource' | 'name' | 'namespace'>): Promise<boolean> {
    const attributes = { ...what, user, isResourceRequest: true, apiGroup: group, apiVersion: '*', subresource: '', path: '' };
    return (await this.#connected.authorizer.authorize(attributes)).decision === 'Allow';
  }
}

/** True if only finalizers or owner references change: the garbage collector writes them without having the permissions itself. */
function changesOnlyForCollection(object: KubeObject, old: KubeObject): boolean {
  return deepEqual(withoutCollectionFields(object), withoutCollectionFields(old));
}

function withoutCollectionFields(object: KubeObject): KubeObject {
  const { ownerReferences: _, finalizers: __, managedFields: ___, ...metadata } = object.metadata;
  return { ...object, metadata };
}
