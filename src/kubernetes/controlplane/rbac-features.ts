import type { KubeObject } from '#apimachinery/meta/types';

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Additional rules of a default cluster role, inserted before its last `before` rules. */
interface AddedRules {
  readonly role: string;
  readonly rules: readonly Rule[];
  readonly before?: number;
}

/** Additions of a feature to the default roles and bindings. */
interface FeatureRbac {
  readonly clusterroles?: readonly KubeObject[];
  readonly clusterrolebindings?: readonly KubeObject[];
  readonly added?: readonly AddedRules[];
}

/** A rule of a default role that exists only with a feature that is on by default. */
const ofDefaultFeatures: readonly { readonly feature: string; readonly role: string; readonly resource: string }[] = [
  { feature: 'KubeletServiceAccountTokenForCredentialProviders', role: 'system:node', resource: 'serviceaccounts' },
];

/** Roles and bindings that upstream creates or extends by default. */
export interface RbacTable {
  readonly clusterroles: readonly KubeObject[];
  readonly clusterrolebindings: readonly KubeObject[];
  readonly roles: readonly KubeObject[];
  readonly rolebindings: readonly KubeObject[];
}

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;
const read = ['get', 'list', 'watch'];
const rule = (apiGroups: readonly string[], resources: readonly string[], verbs: readonly string[]): Rule => ({
  verbs,
  apiGroups,
  resources,
});
const metadata = (name: string) => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

function newRole(name: string, rules: readonly Rule[]): KubeObject {
  return { apiVersion, kind: 'ClusterRole', metadata: metadata(name), rules };
}

function newBinding(name: string, subject: Readonly<Record<string, string>>): KubeObject {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name),
    subjects: [subject],
    roleRef: { apiGroup: group, kind: 'ClusterRole', name },
  };
}

/** Returns the role of a controller of kube-controller-manager, and its binding to the controller's service account. */
function controller(name: string, ...rules: Rule[]): Required<Pick<FeatureRbac, 'clusterroles' | 'clusterrolebindings'>> {
  const role = `system:controller:${name}`;
  return {
    clusterroles: [newRole(role, rules)],
    clusterrolebindings: [newBinding(role, { kind: 'ServiceAccount', name, namespace: 'kube-system' })],
  };
}

const events = rule(['', 'events.k8s.io'], ['events'], ['create', 'patch', 'update']);
const certificates = ['certificates.k8s.io'];
const resource = ['resource.k8s.io'];
const scheduling = ['scheduling.k8s.io'];
const bundles = rule(certificates, ['clustertrustbundles'], read);
const bundleDiscovery = 'system:cluster-trust-bundle-discovery';
const bundlePublisher = controller(
  'kube-apiserver-serving-clustertrustbundle-publisher',
  { ...rule(certificates, ['signers'], ['attest']), resourceNames: ['kubernetes.io/kube-apiserver-serving'] },
  rule(certificates, ['clustertrustbundles'], ['create', 'delete', 'list', 'update', 'watch']),
  events,
);

/** By feature gate. Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/{policy,controller_policy}.go. */
const byFeature: Readonly<Record<string, FeatureRbac>> = {
  GenericWorkload: {
    ...controller(
      'podgroup-protection-controller',
      rule(scheduling, ['podgroups'], ['get', 'list', 'update', 'watch']),
      rule([''], ['pods'], read),
    ),
    added: [
      {
        role: 'system:aggregate-to-edit',
        rules: [rule(scheduling, ['podgroups', 'workloads'], ['create', 'delete', 'deletecollection', 'patch', 'update'])],
      },
      { role: 'system:aggregate-to-view', rules: [rule(scheduling, ['podgroups', 'podgroups/status', 'workloads'], read)] },
      {
        role: 'system:kube-scheduler',
        rules: [rule(scheduling, ['podgroups'], read), rule(scheduling, ['podgroups/status'], ['patch', 'update'])],
      },
    ],
  },
  ClusterTrustBundle: {
    clusterroles: [newRole(bundleDiscovery, [bundles]), ...bundlePublisher.clusterroles],
    clusterrolebindings: [
      newBinding(bundleDiscovery, { kind: 'Group', apiGroup: group, name: 'system:serviceaccounts' }),
      ...bundlePublisher.clusterrolebindings,
    ],
    added: [{ role: 'system:node', rules: [bundles], before: 1 }],
  },
  PodCertificateRequest: {
    ...controller('podcertificaterequestcleaner', rule(certificates, ['podcertificaterequests'], ['delete', ...read])),
    added: [{ role: 'system:node', rules: [rule(certificates, ['podcertificaterequests'], ['create', ...read])] }],
  },
  DRAResourcePoolStatus: controller(
    'resourcepoolstatusrequest-controller',
    rule(resource, ['resourcepoolstatusrequests'], ['delete', ...read]),
    rule(resource, ['resourcepoolstatusrequests/status'], ['patch', 'update']),
    rule(resource, ['resourceslices'], read),
    rule(resource, ['resourceclaims'], read),
    events,
  ),
  DRAWorkloadResourceClaims: {
    added: [
      {
        role: 'system:controller:resource-claim-controller',
        rules: [rule(scheduling, ['podgroups'], read), rule(scheduling, ['podgroups/status'], ['patch', 'update'])],
        before: 1,
      },
    ],
  },
  WorkloadWithJob: {
    added: [{ role: 'system:controller:job-controller', rules: [rule(scheduling, ['podgroups', 'workloads'], ['create', ...read])] }],
  },
  StorageVersionMigrator: controller(
    'storage-version-migrator-controller',
    rule(['*'], ['*'], ['create', 'list', 'patch']),
    rule(['apiextensions.k8s.io'], ['customresourcedefinitions'], ['get']),
    rule(['apiextensions.k8s.io'], ['customresourcedefinitions/status'], ['patch']),
    rule(['storagemigration.k8s.io'], ['storageversionmigrations/status'], ['update']),
  ),
};

/** Returns the default roles and bindings, including those of the enabled features. */
export function withFeatures(table: RbacTable, isEnabled: (feature: string) => boolean): RbacTable {
  const on = Object.entries(byFeature).flatMap(([feature, rbac]) => (isEnabled(feature) ? [rbac] : []));
  const added = on.flatMap((rbac) => rbac.added ?? []);
  const removed = ofDefaultFeatures.filter(({ feature }) => !isEnabled(feature));
  return {
    ...table,
    clusterroles: [
      ...table.clusterroles.map((role) => withRules(withoutRules(role, removed), added)),
      ...on.flatMap((rbac) => rbac.clusterroles ?? []),
    ],
    clusterrolebindings: [...table.clusterrolebindings, ...on.flatMap((rbac) => rbac.clusterrolebindings ?? [])],
  };
}

function withRules(role: KubeObject, added: readonly AddedRules[]): KubeObject {
  const own = added.filter((one) => one.role === role.metadata.name);
  if (own.length === 0) return role;
  const rules = [...((role as { rules?: readonly Rule[] }).rules ?? [])];
  for (const { rules: more, before = 0 } of own) rules.splice(rules.length - before, 0, ...more);
  return { ...role, rules };
}

function withoutRules(role: KubeObject, removed: typeof ofDefaultFeatures): KubeObject {
  const own = removed.filter((one) => one.role === role.metadata.name);
  if (own.length === 0) return role;
  const rules = (role as { rules?: readonly Rule[] }).rules ?? [];
  return { ...role, rules: rules.filter(({ resources }) => !own.some((one) => resources.length === 1 && resources[0] === one.resource)) };
}
