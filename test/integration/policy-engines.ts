/** Webhook configurations as installed by Kyverno and Gatekeeper, with a test engine. */
import type { Json } from './custom-kinds.ts';

const always = { sideEffects: 'NoneOnDryRun', admissionReviewVersions: ['v1'], matchPolicy: 'Equivalent' };
const notNamespace = (name: string): Json => ({ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [name] });
const rule = (apiGroups: string[], resources: string[], operations: string[], scope = '*'): Json => ({
  apiGroups,
  apiVersions: ['*'],
  resources,
  operations,
  scope,
});
const configuration = (kind: string, name: string, webhooks: Json[]): Json => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name, labels: { 'webhook.test/managed-by': name.split('-', 1)[0] } },
  webhooks,
});

/** Port of an engine and its CA (base64 of PEM). */
export interface Engine {
  readonly port: number;
  readonly caBundle: string;
}

/**
 * Configurations of Kyverno 1.13: resource policies that fail closed and open, its own kinds, and everything except its own
 * namespace.
 */
export function kyvernoConfigurations({ port, caBundle }: Engine): Json[] {
  const namespaceSelector = { matchExpressions: [notNamespace('kyverno')] };
  const hook = (name: string, path: string, rules: Json[], more: Json = {}): Json => ({
    name,
    clientConfig: { service: { namespace: 'kyverno', name: 'kyverno-svc', path, port }, caBundle },
    rules,
    failurePolicy: 'Fail',
    timeoutSeconds: 10,
    ...always,
    ...more,
  });
  const notItself = [
    { name: 'exclude-engine', expression: "!request.userInfo.username.startsWith('system:serviceaccount:kyverno:')" },
    { name: 'exclude-nodes', expression: "!('system:nodes' in request.userInfo.groups)" },
  ];
  const written = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  const workloads = [
    rule([''], ['pods', 'pods/ephemeralcontainers', 'replicationcontrollers'], written, 'Namespaced'),
    rule(['apps'], ['daemonsets', 'deployments', 'replicasets', 'statefulsets'], written, 'Namespaced'),
  ];
  const policies = [rule(['kyverno.io'], ['clusterpolicies/*', 'policies/*'], ['CREATE', 'UPDATE'])];
  const engine = { namespaceSelector, matchConditions: notItself };
  return [
    configuration('Mutating', 'kyverno-policy-mutating-webhook-cfg', [hook('mutate-policy.kyverno.svc', '/policymutate', policies)]),
    configuration('Mutating', 'kyverno-resource-mutating-webhook-cfg', [
      hook('mutate.kyverno.svc-fail', '/mutate/fail', workloads, { ...engine, reinvocationPolicy: 'IfNeeded' }),
      hook('mutate.kyverno.svc-ignore', '/mutate/ignore', workloads, { ...engine, failurePolicy: 'Ignore' }),
    ]),
    configuration('Validating', 'kyverno-policy-validating-webhook-cfg', [
      hook('validate-policy.kyverno.svc', '/policyvalidate', policies),
    ]),
    configuration('Validating', 'kyverno-resource-validating-webhook-cfg', [
      hook('validate.kyverno.svc-fail', '/validate/fail', workloads, engine),
      hook('validate.kyverno.svc-ignore', '/validate/ignore', [rule(['*'], ['*/*'], written)], { ...engine, failurePolicy: 'Ignore' }),
    ]),
    configuration('Validating', 'kyverno-ttl-validating-webhook-cfg', [
      hook('kyverno-cleanup-controller.kyverno.svc', '/verifyttl', [rule(['*'], ['*'], ['CREATE', 'UPDATE'])], {
        objectSelector: { matchExpressions: [{ key: 'cleanup.kyverno.io/ttl', operator: 'Exists' }] },
        failurePolicy: 'Ignore',
        timeoutSeconds: 2,
      }),
    ]),
  ];
}

/**
 * Configurations of Gatekeeper 3.18: everything without the ignore label, failing open, and the label itself, failing
 * closed.
 */
export function gatekeeperConfigurations({ port, caBundle }: Engine): Json[] {
  const namespaceSelector = {
    matchExpressions: [{ key: 'admission.gatekeeper.sh/ignore', operator: 'DoesNotExist' }, notNamespace('gatekeeper-system')],
  };
  const hook = (name: string, path: string, rules: Json[], more: Json): Json => ({
    name,
    clientConfig: { service: { namespace: 'gatekeeper-system', name: 'gatekeeper-webhook-service', path, port }, caBundle },
    rules,
    ...always,
    matchPolicy: 'Exact',
    sideEffects: 'None',
    ...more,
  });
  const open = { failurePolicy: 'Ignore', namespaceSelector, timeoutSeconds: 1 };
  const subresources = ['pods/ephemeralcontainers', 'pods/exec', 'pods/log', 'pods/eviction', 'services/proxy', 'deployments/scale'];
  return [
    configuration('Mutating', 'gatekeeper-mutating-webhook-configuration', [
      hook('mutation.gatekeeper.sh', '/v1/mutate', [rule(['*'], ['*'], ['CREATE', 'UPDATE'])], { ...open, reinvocationPolicy: 'Never' }),
    ]),
    configuration('Validating', 'gatekeeper-validating-webhook-configuration', [
      hook('validation.gatekeeper.sh', '/v1/admit', [rule(['*'], ['*', ...subresources], ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])], open),
      hook('check-ignore-label.gatekeeper.sh', '/v1/admitlabel', [rule([''], ['namespaces'], ['CREATE', 'UPDATE'])], {
        failurePolicy: 'Fail',
        namespaceSelector: { matchExpressions: [notNamespace('gatekeeper-system')] },
        timeoutSeconds: 3,
      }),
    ]),
  ];
}

/**
 * Configurations of other operators, which match nothing that the test writes; each has several rules and an unreachable
 * address.
 */
export function otherConfigurations(count: number, { caBundle }: Engine): Json[] {
  return Array.from({ length: count }, (_, at) => {
    const sort = at % 2 === 0 ? 'Validating' : 'Mutating';
    const hooks = ['a', 'b', 'c'].map((letter) => ({
      name: `${letter}.operator-${at}.example.com`,
      clientConfig: { url: `https://127.0.0.1:1/${letter}`, caBundle },
      rules: [rule([`operator-${at}.example.com`], ['*', '*/status'], ['*']), rule([`more-${at}.example.com`], ['things'], ['*'])],
      ...always,
    }));
    return configuration(sort, `operator-${at}`, hooks);
  });
}

type Verdict = Json;
const allowed: Verdict = { allowed: true };
const denied = (message: string, code = 400): Verdict => ({ allowed: false, status: { message, code } });
const patched = (...operations: Json[]): Verdict => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

/** Returns the verdict on a review at one of the paths. */
export function verdict(path: string, request: Json): Verdict {
  const { kind, object, name, namespace } = request;
  const labels = object?.metadata.labels ?? {};
  switch (path) {
    case '/mutate/fail':
      if (kind.kind !== 'Pod' || !object || labels['kyverno'] !== undefined) return allowed;
      return patched({ op: 'add', path: '/metadata/labels/kyverno', value: 'added' });
    case '/v1/mutate':
      if (kind.kind !== 'Pod') return allowed;
      return object.metadata.labels
        ? patched({ op: 'add', path: '/metadata/labels/gatekeeper', value: 'added' })
        : patched({ op: 'add', path: '/metadata/labels', value: { gatekeeper: 'added' } });
    case '/validate/fail':
      if (kind.kind !== 'Pod' || !object || labels.team) return allowed;
      return denied(
        `\n\nresource Pod/${namespace}/${name} was blocked due to the following policies \n\nrequire-labels:\n  check-team: 'validation error: the label team is required'\n`,
      );
    case '/validate/ignore':
      return { ...allowed, warnings: labels.team === 'unknown' ? ['policy known-teams.check: the team is not known'] : [] };
    case '/policyvalidate':
      return object.spec?.rules?.length > 0 ? allowed : denied('spec.rules: Required value');
    case '/v1/admit':
      return object?.spec?.replicas > 5 ? denied('[max-replicas] at most 5 replicas', 403) : allowed;
    case '/v1/admitlabel':
      if (labels['admission.gatekeeper.sh/ignore'] === undefined) return allowed;
      return denied(`only exempt namespace can have the admission.gatekeeper.sh/ignore label`, 422);
    default:
      return allowed;
  }
}
