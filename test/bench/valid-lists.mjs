// Measures how long valid objects with one list or map of the maximum body size block the event loop: each is created,
// replaced with its items in reverse order, patched, applied and deleted. (Invalid objects only reach validation; see
// test/bench/long-lists.mjs.) Prints the longest turn of the event loop in CPU time and the duration of the request, in
// milliseconds; in-process, so it includes the client's work.
//   npm run build && node --experimental-transform-types test/bench/valid-lists.mjs [--over 0] [--only REGEX]
import { parseArgs } from 'node:util';
import { startTestCluster } from 'kubenest/testing';
import { longestTurn } from '../security/longest-turn.ts';

const { values } = parseArgs({ options: { over: { type: 'string', default: '0' }, only: { type: 'string', default: '.' } } });
const bodyBytes = 2_600_000;
const core = '/api/v1/namespaces/default';

/** Returns as many items as fit into a body. */
function fill(make) {
  const items = [];
  for (let bytes = 0, i = 0; bytes < bodyBytes; i++) {
    const item = make(i);
    items.push(item);
    bytes += JSON.stringify(item).length + 1;
  }
  return items;
}

const fillMap = (key, value) => Object.fromEntries(fill((i) => [key(i), value(i)]));
const ip = (i) => `${((i >> 16) & 127) + 1}.${(i >> 8) & 255}.${i & 255}.7`;
const pod = (spec) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

/** Reverses all lists and maps. */
function reversed(value) {
  if (Array.isArray(value)) return value.map(reversed).reverse();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, reversed(each)]));
}

/** Cases: the collection and the object. */
const cases = {
  quota: [
    `${core}/resourcequotas`,
    () => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'a' },
      spec: {
        hard: fillMap(
          (i) => `count/k${i}.example.com`,
          (i) => String(i % 7),
        ),
      },
    }),
  ],
  endpoints: [
    `${core}/endpoints`,
    () => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'a' },
      subsets: [{ addresses: fill((i) => ({ ip: ip(i) })), ports: [{ port: 1 }] }],
    }),
  ],
  subsets: [
    `${core}/endpoints`,
    () => ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'a' },
      subsets: fill((i) => ({ addresses: [{ ip: ip(i) }], ports: [{ port: 1 }] })),
    }),
  ],
  netpol: [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: { podSelector: {}, ingress: [{ from: fill((i) => ({ ipBlock: { cidr: `${ip(i)}/32` } })) }] },
    }),
  ],
  netpolPeers: [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: { podSelector: {}, egress: [{ to: fill(() => ({ podSelector: {} })) }] },
    }),
  ],
  netpolRules: [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: { podSelector: {}, ingress: fill(() => ({})) },
    }),
  ],
  selector: [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: {
        podSelector: {
          matchLabels: fillMap(
            (i) => `k${i}`,
            (i) => `v${i}`,
          ),
        },
      },
    }),
  ],
  expressions: [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: { podSelector: { matchExpressions: fill((i) => ({ key: `k${i}`, operator: 'Exists' })) } },
    }),
  ],
  limits: [
    `${core}/pods`,
    () =>
      pod({
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: {
              limits: fillMap(
                (i) => `example.com/r${i}`,
                () => '1',
              ),
            },
          },
        ],
      }),
  ],
  overhead: [
    '/apis/node.k8s.io/v1/runtimeclasses',
    () => ({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'a' },
      handler: 'h',
      overhead: {
        podFixed: fillMap(
          (i) => `example.com/r${i}`,
          () => '1',
        ),
      },
    }),
  ],
  podTolerations: [`${core}/pods`, () => pod({ tolerations: fill((i) => ({ key: `k${i}`, operator: 'Exists' })) })],
  nodeSelector: [
    `${core}/pods`,
    () =>
      pod({
        nodeSelector: fillMap(
          (i) => `k${i}`,
          (i) => `v${i}`,
        ),
      }),
  ],
  affinity: [
    `${core}/pods`,
    () =>
      pod({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: fill((i) => ({
              weight: 1,
              preference: { matchExpressions: [{ key: `k${i}`, operator: 'Exists' }] },
            })),
          },
        },
      }),
  ],
  podAffinity: [
    `${core}/pods`,
    () =>
      pod({
        affinity: {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: fill((i) => ({
              weight: 1,
              podAffinityTerm: { topologyKey: `k${i}`, labelSelector: { matchLabels: { a: `b${i}` } } },
            })),
          },
        },
      }),
  ],
  spread: [
    `${core}/pods`,
    () => pod({ topologySpreadConstraints: fill((i) => ({ maxSkew: 1, topologyKey: `k${i}`, whenUnsatisfiable: 'DoNotSchedule' })) }),
  ],
  hostAliases: [`${core}/pods`, () => pod({ hostAliases: fill((i) => ({ ip: ip(i), hostnames: [`h${i}`] })) })],
  env: [
    `${core}/pods`,
    () => pod({ containers: [{ name: 'c', image: 'i', env: fill((i) => ({ name: `E${i}`, value: `$(E${i - 1})` })) }] }),
  ],
  ports: [
    `${core}/pods`,
    () => pod({ containers: [{ name: 'c', image: 'i', ports: fill((i) => ({ containerPort: (i % 65535) + 1, hostIP: ip(i) })) }] }),
  ],
  args: [`${core}/pods`, () => pod({ containers: [{ name: 'c', image: 'i', args: fill((i) => `${i}`) }] })],
  sysctls: [`${core}/pods`, () => pod({ securityContext: { sysctls: fill((i) => ({ name: `kernel.s${i}`, value: '1' })) } })],
  gates: [`${core}/pods`, () => pod({ schedulingGates: fill((i) => ({ name: `example.com/g${i}` })) })],
  readinessGates: [`${core}/pods`, () => pod({ readinessGates: fill((i) => ({ conditionType: `example.com/g${i}` })) })],
  pullSecrets: [`${core}/pods`, () => pod({ imagePullSecrets: fill((i) => ({ name: `s${i}` })) })],
  caps: [
    `${core}/pods`,
    () => pod({ containers: [{ name: 'c', image: 'i', securityContext: { capabilities: { add: fill((i) => `C${i}`) } } }] }),
  ],
  clusterrole: [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    () => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'a' },
      rules: fill((i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })),
    }),
  ],
  binding: [
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    () => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'a' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: fill((i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })),
    }),
  ],
  taints: [
    '/api/v1/nodes',
    () => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'a' },
      spec: { taints: fill((i) => ({ key: `k${i}`, effect: 'NoSchedule' })) },
    }),
  ],
  ingress: [
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'a' },
      spec: {
        rules: fill((i) => ({
          host: `h${i}.example.com`,
          http: { paths: [{ path: `/p${i}`, pathType: 'Prefix', backend: { service: { name: 's', port: { number: 1 } } } }] },
        })),
      },
    }),
  ],
  tls: [
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    () => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'a' },
      spec: { defaultBackend: { service: { name: 's', port: { number: 1 } } }, tls: fill((i) => ({ hosts: [`h${i}.example.com`] })) },
    }),
  ],
  flowschema: [
    '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
    () => ({
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'a' },
      spec: {
        priorityLevelConfiguration: { name: 'catch-all' },
        matchingPrecedence: 1000,
        rules: [
          {
            subjects: fill((i) => ({ kind: 'User', user: { name: `u${i}` } })),
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
          },
        ],
      },
    }),
  ],
  managedFields: [
    `${core}/configmaps`,
    () => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'a',
        managedFields: fill((i) => ({
          manager: `m${i}`,
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
        })),
      },
      data: { a: 'b' },
    }),
  ],
  finalizers: [
    `${core}/configmaps`,
    () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', finalizers: fill((i) => `example.com/f${i}`) } }),
  ],
  owners: [
    `${core}/configmaps`,
    () => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', ownerReferences: fill((i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })) },
    }),
  ],
  successPolicy: [
    '/apis/batch/v1/namespaces/default/jobs',
    () => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'a' },
      spec: {
        completionMode: 'Indexed',
        completions: 2,
        parallelism: 1,
        podFailurePolicy: { rules: fill((i) => ({ action: 'Ignore', onPodConditions: [{ type: `t${i}`, status: 'True' }] })).slice(0, 20) },
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i', args: fill((i) => `${i}`) }] } },
      },
    }),
  ],
  deployment: [
    '/apis/apps/v1/namespaces/default/deployments',
    () => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'i' }], tolerations: fill((i) => ({ key: `k${i}`, operator: 'Exists' })) },
        },
      },
    }),
  ],
  slice: [
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
    () => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a' },
      addressType: 'IPv4',
      endpoints: fill((i) => ({ addresses: [ip(i)], hints: { forZones: [{ name: 'a' }] } })).slice(0, 1000),
      ports: [{ port: 1 }],
    }),
  ],
  volumes: [`${core}/pods`, () => pod({ volumes: fill((i) => ({ name: `v${i}`, configMap: { name: 'x' } })) })],
  projected: [
    `${core}/pods`,
    () =>
      pod({
        volumes: [
          { name: 'v', projected: { sources: fill((i) => ({ configMap: { name: `c${i}`, items: [{ key: 'a', path: `p${i}` }] } })) } },
        ],
      }),
  ],
  items: [
    `${core}/pods`,
    () => pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: fill((i) => ({ key: `k${i}`, path: `p${i}` })) } }] }),
  ],
  containers: [`${core}/pods`, () => pod({ containers: fill((i) => ({ name: `c${i}`, image: 'i' })) })],
  pvcRequests: [
    `${core}/persistentvolumeclaims`,
    () => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'a' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: {
          requests: {
            storage: '1Gi',
            ...fillMap(
              (i) => `example.com/r${i}`,
              () => '1',
            ),
          },
        },
      },
    }),
  ],
  limitrange: [
    `${core}/limitranges`,
    () => ({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'a' },
      spec: {
        limits: [
          {
            type: 'Container',
            max: fillMap(
              (i) => `example.com/r${i}`,
              () => '1',
            ),
          },
        ],
      },
    }),
  ],
  limitItems: [
    `${core}/limitranges`,
    () => ({
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'a' },
      spec: { limits: fill((i) => ({ type: `example.com/T${i}`, max: { cpu: '1' } })) },
    }),
  ],
  saSecrets: [
    `${core}/serviceaccounts`,
    () => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' }, secrets: fill((i) => ({ name: `s${i}` })) }),
  ],
  servicePorts: [
    `${core}/services`,
    () => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: {
        selector: { a: 'b' },
        ports: fill((i) => ({ name: `p${i}`, port: (i % 65000) + 1, protocol: ['TCP', 'UDP', 'SCTP'][Math.floor(i / 65000)] })),
      },
    }),
  ],
  externalIPs: [
    `${core}/services`,
    () => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 1 }], externalIPs: fill(ip) } }),
  ],
  webhooks: [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    () => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'a' },
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { url: 'https://127.0.0.1:1' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: fill((i) => ({ apiGroups: ['x.y'], apiVersions: ['v1'], operations: ['CREATE'], resources: [`r${i}`] })),
        },
      ],
    }),
  ],
};
await using cluster = await startTestCluster({ quiet: true });

/** Sends a request and prints its durations. */
async function measure(name, verb, path, request) {
  let status;
  let text;
  const began = performance.now();
  const turn = await longestTurn(async () => {
    const response = await cluster.fetch(path, request);
    status = response.status;
    text = await response.text();
  });
  const took = performance.now() - began;
  const figures = `${turn.toFixed(0).padStart(6)} ${took.toFixed(0).padStart(7)}`;
  if (turn >= Number(values.over))
    console.log(`${name.padEnd(18)} ${verb.padEnd(6)} ${status} ${figures} ${status >= 300 ? text.slice(0, 150) : ''}`);
  return { status, text };
}

const mergePatch = (body) => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/merge-patch+json' },
  body: JSON.stringify(body),
});

for (const [name, [path, make]] of Object.entries(cases)) {
  if (!new RegExp(values.only).test(name)) continue;
  const object = make();
  const made = await measure(name, 'POST', path, { body: JSON.stringify(object) });
  if (made.status >= 300) continue;
  const { resourceVersion } = JSON.parse(made.text).metadata;
  const other = reversed(object);
  await measure(name, 'PUT', `${path}/a`, {
    method: 'PUT',
    body: JSON.stringify({ ...other, metadata: { ...other.metadata, resourceVersion } }),
  });
  await measure(name, 'PATCH', `${path}/a`, mergePatch({ metadata: { labels: { x: 'y' } } }));
  await measure(name, 'APPLY', `${path}/a?fieldManager=z&force=true`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ ...other, metadata: { name: 'a', labels: { q: 'r' } } }),
  });
  await (await cluster.fetch(`${path}/a`, mergePatch({ metadata: { finalizers: null } }))).text();
  await measure(name, 'DELETE', `${path}/a?gracePeriodSeconds=0`, { method: 'DELETE' });
}
