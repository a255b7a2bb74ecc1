import type {
  AuthorizationAttributes,
  AuthorizationResult,
  Authorizer,
  Informer,
  Informers,
  NonResourceRule,
  ResourceRule,
  UserInfo,
  UserRules,
} from 'kubenest/sdk';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from 'kubenest/kinds';
import { type PolicyRule, ruleAllows } from './rules.ts';

type Binding = ClusterRoleBinding | RoleBinding;
type Subject = NonNullable<Binding['subjects']>[number];
type RoleRef = Binding['roleRef'];

const group = 'rbac.authorization.k8s.io';
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: '' };

/** A binding for one of its subjects. */
interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

/**
 * Role-based access control with the server's roles and bindings. Bindings are indexed by subject, so that a decision visits
 * only the bindings of the user; after a change the index is rebuilt on the next request. Upstream:
 * kubernetes/plugin/pkg/auth/authorizer/rbac/rbac.go, kubernetes/pkg/registry/rbac/validation/rule.go.
 */
export class RBAC implements Authorizer {
  readonly name = 'RBAC';
  readonly #roles: Informer<Role>;
  readonly #clusterRoles: Informer<ClusterRole>;
  readonly #roleBindings: Informer<RoleBinding>;
  readonly #clusterRoleBindings: Informer<ClusterRoleBinding>;
  readonly #subscriptions: Disposable[];
  /** Cluster-wide grants by subject. */
  #clusterIndex: ReadonlyMap<string, readonly Grant[]> | undefined;
  readonly #namespaceIndexes = new Map<string, ReadonlyMap<string, readonly Grant[]>>();

  constructor(informers: Informers) {
    this.#roles = informers.for({ group, resource: 'roles' });
    this.#clusterRoles = informers.for({ group, resource: 'clusterroles' });
    this.#roleBindings = informers.for({ group, resource: 'rolebindings' });
    this.#clusterRoleBindings = informers.for({ group, resource: 'clusterrolebindings' });
    this.#subscriptions = [
      this.#clusterRoleBindings.subscribe(() => {
        this.#clusterIndex = undefined;
      }),
      this.#roleBindings.subscribe((_, binding) => {
        this.#namespaceIndexes.delete(binding.metadata.namespace ?? '');
      }),
    ];
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationResult {
    const missing: string[] = [];
    const clusterWide = this.#find(attributes, this.#clusterGrants(), '', missing);
    if (clusterWide) return clusterWide;
    if (attributes.namespace) {
      const inNamespace = this.#find(attributes, this.#namespaceGrants(attributes.namespace), attributes.namespace, missing);
      if (inNamespace) return inNamespace;
    }
    return missing.length === 0
      ? noOpinion
      : { decision: 'NoOpinion', reason: `RBAC: ${missing.length === 1 ? missing[0] : `[${missing.join(', ')}]`}` };
  }

  rulesFor(user: UserInfo, namespace: string): UserRules {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    const errors: string[] = [];
    const collect = (index: ReadonlyMap<string, readonly Grant[]>, scope: string): void => {
      for (const { roleRef } of bindingsOf(index, user)) {
        const rules = this.#rulesOf(roleRef, scope);
        if (!rules) errors.push(missingRole(roleRef));
        for (const { verbs = [], apiGroups, resources, resourceNames, nonResourceURLs } of rules ?? []) {
          if (resources?.length) resourceRules.push({ verbs, apiGroups, resources, resourceNames });
          if (nonResourceURLs?.length) nonResourceRules.push({ verbs, nonResourceURLs });
        }
      }
    };
    collect(this.#clusterGrants(), '');
    if (namespace) collect(this.#namespaceGrants(namespace), namespace);
    return { resourceRules, nonResourceRules, incomplete: false, errors };
  }

  #find(
    attributes: AuthorizationAttributes,
    index: ReadonlyMap<string, readonly Grant[]>,
    namespace: string,
    missing: string[],
  ): AuthorizationResult | undefined {
    for (const key of subjectKeysOf(attributes.user)) {
      for (const { binding, subject } of index.get(key) ?? []) {
        const rules = this.#rulesOf(binding.roleRef, namespace);
        if (!rules) {
          missing.push(missingRole(binding.roleRef));
          continue;
        }
        if (rules.some((rule) => ruleAllows(rule, attributes))) return { decision: 'Allow', reason: reasonOf(binding, subject, namespace) };
      }
    }
    return undefined;
  }

  #rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = roleRef.kind === 'Role' ? this.#roles.get(namespace, roleRef.name) : this.#clusterRoles.get('', roleRef.name);
    return role && (role.rules ?? []);
  }

  #clusterGrants(): ReadonlyMap<string, readonly Grant[]> {
    return (this.#clusterIndex ??= indexBySubject(this.#clusterRoleBindings.list(), ''));
  }

  #namespaceGrants(namespace: string): ReadonlyMap<string, readonly Grant[]> {
    let index = this.#namespaceIndexes.get(namespace);
    if (!index) {
      index = indexBySubject(this.#roleBindings.list(namespace), namespace);
      this.#namespaceIndexes.set(namespace, index);
    }
    return index;
  }

  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}

function missingRole({ kind, name }: RoleRef): string {
  return `${kind.toLowerCase()}.${group} ${JSON.stringify(name)} not found`;
}

/** Returns each binding once, even if several of its subjects match the user. */
function bindingsOf(index: ReadonlyMap<string, readonly Grant[]>, user: UserInfo): Set<Binding> {
  const bindings = new Set<Binding>();
  for (const key of subjectKeysOf(user)) for (const { binding } of index.get(key) ?? []) bindings.add(binding);
  return bindings;
}

function* subjectKeysOf(user: AuthorizationAttributes['user']): Iterable<string> {
  yield `User/${user.name}`;
  for (const name of user.groups) yield `Group/${name}`;
}

/** Indexes bindings. Service accounts are indexed by their user name; a subject without a namespace uses the binding's. */
function indexBySubject(bindings: readonly Binding[], namespace: string): Map<string, Grant[]> {
  const index = new Map<string, Grant[]>();
  for (const binding of bindings) {
    for (const subject of binding.subjects ?? []) {
      const key =
        subject.kind === 'ServiceAccount'
          ? `User/system:serviceaccount:${subject.namespace || namespace}:${subject.name}`
          : `${subject.kind}/${subject.name}`;
      const grants = index.get(key);
      if (grants) grants.push({ binding, subject });
      else index.set(key, [{ binding, subject }]);
    }
  }
  return index;
}

function reasonOf(binding: Binding, subject: Subject, namespace: string): string {
  const name = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? ''}` : subject.name;
  const { roleRef, metadata } = binding;
  const what = namespace
    ? `RoleBinding ${JSON.stringify(`${metadata.name}/${namespace}`)}`
    : `ClusterRoleBinding ${JSON.stringify(metadata.name)}`;
  return `RBAC: allowed by ${what} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(name)}`;
}
