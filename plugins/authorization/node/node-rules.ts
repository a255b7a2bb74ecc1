import type { PolicyRule } from '../rbac/rules.ts';

const read = ['get', 'list', 'watch'];
const rule = (apiGroups: readonly string[], resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups,
  resources,
  verbs,
});

/**
 * Returns the rules of all nodes, for requests that do not depend on a specific object. Upstream:
 * plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go (NodeRules).
 */
export const nodeRules = (isEnabled: (feature: string) => boolean): readonly PolicyRule[] => [
  rule(['authentication.k8s.io'], ['tokenreviews'], ['create']),
  rule(['authorization.k8s.io'], ['subjectaccessreviews', 'localsubjectaccessreviews'], ['create']),
  rule([''], ['services'], read),
  rule(['', 'events.k8s.io'], ['events'], ['create', 'update', 'patch']),
  rule([''], ['endpoints'], ['get']),
  rule(['certificates.k8s.io'], ['certificatesigningrequests'], ['create', ...read]),
  rule(['storage.k8s.io'], ['csidrivers'], read),
  rule(['node.k8s.io'], ['runtimeclasses'], read),
  ...(isEnabled('ClusterTrustBundle') ? [rule(['certificates.k8s.io'], ['clustertrustbundles'], read)] : []),
];
