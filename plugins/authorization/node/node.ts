import {
  type AuthorizationAttributes,
  type AuthorizationResult,
  type Authorizer,
  type FeatureGates,
  groupNames,
  type Informers,
  type UserInfo,
  type UserRules,
} from 'kubenest/sdk';
import { type PolicyRule, ruleAllows } from '../rbac/rules.ts';
import { NodeGraph } from './node-graph.ts';
import { nodeRules } from './node-rules.ts';

const prefix = 'system:node:';
const leaseNamespace = 'kube-node-lease';
const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const reads = ['get', 'list', 'watch'];
const ownObjectVerbs = ['get', 'create', 'update', 'patch', 'delete'];

const no = (reason: string): AuthorizationResult => ({ decision: 'NoOpinion', reason });
const nothing = no('');

type Rule = (node: string, request: AuthorizationAttributes) => AuthorizationResult;

/**
 * `--authorization-mode=Node`: allows a kubelet (`system:node:NAME` in group system:nodes) the node rules and reading the
 * secrets, config maps, claims, volumes and service accounts that pods on its node refer to. Upstream:
 * plugin/pkg/auth/authorizer/node/node_authorizer.go.
 */
export class Node implements Authorizer {
  readonly name = 'Node';
  readonly #graph: NodeGraph;
  readonly #generalRules: readonly PolicyRule[];
  readonly #readsServiceAccounts: boolean;
  /** Rules by `group/resource`. */
  readonly #rules: ReadonlyMap<string, Rule>;

  constructor(informers: Informers, features: FeatureGates) {
    const isEnabled = (feature: string) => features.enabled(feature);
    const asksForCertificates = isEnabled('PodCertificateRequest') && isEnabled('AuthorizeNodeWithSelectors');
    this.#readsServiceAccounts = isEnabled('KubeletServiceAccountTokenForCredentialProviders') || isEnabled('PodCertificateRequest');
    this.#generalRules = nodeRules(isEnabled);
    this.#graph = new NodeGraph(informers, asksForCertificates);
    this.#rules = new Map<string, Rule>([
      ['/secrets', this.#readNamespaced],
      ['/configmaps', this.#readNamespaced],
      ['/persistentvolumeclaims', this.#claim],
      ['/persistentvolumes', this.#get],
      ['resource.k8s.io/resourceclaims', this.#get],
      ['storage.k8s.io/volumeattachments', this.#get],
      ['/serviceaccounts', this.#serviceAccount],
      ['coordination.k8s.io/leases', authorizeLease],
      ['storage.k8s.io/csinodes', authorizeCSINode],
      ['resource.k8s.io/resourceslices', this.#resourceSlice],
      ['/nodes', authorizeNode],
      ['/pods', this.#pod],
      ['certificates.k8s.io/podcertificaterequests', asksForCertificates ? this.#podCertificateRequest : () => nothing],
    ]);
  }

  authorize(request: AuthorizationAttributes): AuthorizationResult {
    const node = nodeOf(request.user);
    if (node === undefined) return nothing;
    if (node === '') return no(`unknown node for user ${JSON.stringify(request.user.name)}`);
    const rule = request.isResourceRequest ? this.#rules.get(`${request.apiGroup}/${request.resource}`) : undefined;
    if (rule) return rule(node, request);
    return this.#generalRules.some((one) => ruleAllows(one, request)) ? allow : nothing;
  }

  /** Rules of nodes cannot be listed. */
  rulesFor(user: UserInfo): UserRules {
    const isNode = nodeOf(user) !== undefined;
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: isNode,
      errors: isNode ? ['node authorizer does not support user rule resolution'] : [],
    };
  }

  [Symbol.dispose](): void {
    this.#graph[Symbol.dispose]();
  }

  readonly #reachable: Rule = (node, { resource, namespace, name }) => {
    if (name === '') return no('No Object name found');
    const isReached = this.#graph.reaches(node, resource, namespace, name);
    return isReached ? allow : no(`no relationship found between node '${node}' and this object`);
  };

  readonly #get: Rule = (node, request) => {
    if (request.verb !== 'get') return no('can only get individual resources of this type');
    return request.subresource === '' ? this.#reachable(node, request) : no('cannot get subresource');
  };

  readonly #readNamespaced: Rule = (node, request) => {
    if (!reads.includes(request.verb)) return no('can only read resources of this type');
    if (request.subresource !== '') return no('cannot read subresource');
    return request.namespace === '' ? no('can only read namespaced object of this type') : this.#reachable(node, request);
  };

  readonly #claim: Rule = (node, request) => {
    if (request.subresource !== 'status') return this.#get(node, request);
    const isUpdate = request.verb === 'update' || request.verb === 'patch';
    return isUpdate ? this.#reachable(node, request) : no('can only get/update/patch this type');
  };

  readonly #serviceAccount: Rule = (node, request) => {
    const { verb, name, subresource } = request;
    if (verb === 'get' && subresource === '')
      return this.#readsServiceAccounts ? this.#readNamespaced(node, request) : no('not allowed to get service accounts');
    if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts');
    return subresource === 'token' ? this.#reachable(node, request) : no('can only create token subresource of serviceaccount');
  };

  readonly #resourceSlice: Rule = (node, request) => {
    if (request.subresource !== '') return no('cannot authorize ResourceSlice subresources');
    switch (request.verb) {
      case 'create':
        return allow;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return this.#reachable(node, request);
      case 'watch':
      case 'list':
      case 'deletecollection':
        return selectsNode(request, node) ? allow : no('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return no(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  };

  readonly #podCertificateRequest: Rule = (node, request) => {
    if (request.subresource !== '') return no('nodes may not access the status subresource of PodCertificateRequests');
    switch (request.verb) {
      case 'create':
        return allow;
      case 'get':
        return this.#reachable(node, request);
      case 'list':
      case 'watch':
        return selectsNode(request, node) ? allow : no('can only list/watch podcertificaterequests with nodeName field selector');
      default:
        return no(`nodes may not ${request.verb} podcertificaterequests`);
    }
  };

  readonly #pod: Rule = (node, request) => {
    const { verb, subresource, name } = request;
    switch (subresource) {
      case '':
        if (verb === 'create' || verb === 'delete') return allow;
        if (verb === 'get') return this.#get(node, request);
        if (verb !== 'list' && verb !== 'watch') return nothing;
        if (selectsNode(request, node)) return allow;
        return name === '' ? no('can only list/watch pods with spec.nodeName field selector') : this.#reachable(node, request);
      case 'status':
        return verb === 'update' || verb === 'patch' ? allow : nothing;
      case 'eviction':
        return verb === 'create' ? allow : nothing;
      default:
        return nothing;
    }
  };
}

/** Returns the name of a node's user: empty if it has none, undefined for other users. Upstream: pkg/auth/nodeidentifier. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(prefix) || !groups.includes(groupNames.nodes)) return undefined;
  return name.slice(prefix.length);
}

function selectsNode({ fieldSelector = [] }: AuthorizationAttributes, node: string): boolean {
  return fieldSelector.some(
    ({ key, operator, values }) => key === 'spec.nodeName' && operator === 'In' && values.length === 1 && values[0] === node,
  );
}

const authorizeLease: Rule = (node, { verb, namespace, name }) => {
  if (!ownObjectVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a node lease');
  if (namespace !== leaseNamespace) return no(`can only access leases in the "${leaseNamespace}" system namespace`);
  return verb === 'create' || name === node ? allow : no('can only access node lease with the same name as the requesting node');
};

const authorizeCSINode: Rule = (node, { verb, subresource, name }) => {
  if (!ownObjectVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return no('cannot authorize CSINode subresources');
  return verb === 'create' || name === node ? allow : no('can only access CSINode with the same name as the requesting node');
};

/** Allows writes to any node; NodeRestriction, which sees the object, limits them to the node's own. */
const authorizeNode: Rule = (node, { verb, subresource, name }) => {
  const isUpdate = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isUpdate ? allow : nothing;
  if (subresource !== '') return nothing;
  if (isUpdate || verb === 'create') return allow;
  if (!reads.includes(verb)) return nothing;
  if (name === node) return allow;
  return name === ''
    ? no(`node '${node}' cannot read all nodes, only its own Node object`)
    : no(`node '${node}' cannot read '${name}', only its own Node object`);
};
