import 'reflect-metadata';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admissionPlugins } from '#cmd/builtin-plugins';
import { startTestCluster, type TestCluster } from '#testing/index';
import { HttpsClient } from './https-client.ts';
import { startWebhook, type WebhookServer } from './webhook-server.ts';

type Request = readonly [method: string, path: string, body?: object, as?: string];

/** A request that a plugin changes or denies. */
interface Case {
  readonly flags?: readonly string[];
  /** Configuration of the plugin. */
  readonly configuration?: object;
  /** Preceding requests, which must succeed. */
  readonly before?: readonly Request[];
  readonly request: Request;
  /** Expected part of the response. */
  readonly want?: object;
  readonly denied?: RegExp;
}

const ns = '/api/v1/namespaces/default';
const group = (name: string): string => `/apis/${name}/namespaces/default`;
const registration = '/apis/admissionregistration.k8s.io/v1';
const pod = (name: string, spec: object = {}, container: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'main', image: 'image', ...container }], ...spec },
});
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const volume = (source: object) => ({
  metadata: { name: 'v' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source },
});
const node = (status: object = {}, labels: object = {}): Request[] => [
  ['POST', '/api/v1/nodes', { metadata: { name: 'n', labels } }],
  ['PATCH', '/api/v1/nodes/n/status', { status }],
];
const privileged = pod('p', {}, { securityContext: { privileged: true } });
const workloads = ['--feature-gates=GenericWorkload=true', '--runtime-config=scheduling.k8s.io/v1alpha2=true'];
const podGroup = (spec: object, more: object = {}) => ({ metadata: { name: 'g', ...more }, spec });
const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
const signer = 'example.com/signer';
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
const configMap: Request = ['POST', `${ns}/configmaps`, { metadata: { name: 'c' } }];
const labelled = { metadata: { labels: { added: 'yes' } } };

let webhook: WebhookServer;
let folder: string;
let trustBundle: string;
let certificateRequest: string;
const clusters: TestCluster[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-each-'));
  webhook = await startWebhook(({ kind, apiVersion, request }, { path }) => {
    if (kind === 'ImageReview') return { kind, apiVersion, status: { allowed: false, reason: 'not of ours' } };
    const patch = Buffer.from('[{"op":"add","path":"/metadata/labels","value":{"added":"yes"}}]').toString('base64');
    const verdict = path === '/mutate' ? { allowed: true, patchType: 'JSONPatch', patch } : { allowed: false, status: { message: 'no' } };
    return { kind, apiVersion, response: { uid: request.uid, ...verdict } };
  });
  trustBundle = webhook.certificateAuthority;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await x509.Pkcs10CertificateRequestGenerator.create({ name: 'CN=jane,O=system:masters', keys, signingAlgorithm: algorithm });
  certificateRequest = Buffer.from(made.toString('pem')).toString('base64');
});
afterAll(async () => {
  for (const cluster of clusters) await cluster[Symbol.asyncDispose]();
  webhook[Symbol.dispose]();
  await rm(folder, { recursive: true });
});

const csr = (signerName: string) => ({
  metadata: { name: 'r' },
  spec: { request: certificateRequest, signerName, usages: ['client auth'] },
});
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
/** A configuration with one webhook of this test. */
const hooks = (kind: string, path: string) => ({
  metadata: { name: 'h' },
  webhooks: [
    {
      name: 'hook.example.com',
      clientConfig: { url: `https://127.0.0.1:${webhook.port}${path}`, caBundle: Buffer.from(trustBundle).toString('base64') },
      rules,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
  kind,
  apiVersion: 'admissionregistration.k8s.io/v1',
});
const policy = (rest: object) => ({ metadata: { name: 'p' }, spec: { matchConstraints: { resourceRules: rules }, ...rest } });
const kubeconfig = () => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'c' } }],
  clusters: [
    {
      name: 'c',
      cluster: {
        server: `https://127.0.0.1:${webhook.port}/images`,
        'certificate-authority-data': Buffer.from(trustBundle).toString('base64'),
      },
    },
  ],
});

/** Cases by plugin, built when the test runs, because some refer to objects created earlier. */
const cases: Readonly<Record<string, () => Case>> = {
  AlwaysAdmit: () => ({ request: configMap, want: { metadata: { name: 'c' } } }),
  NamespaceAutoProvision: () => ({
    request: ['POST', '/api/v1/namespaces/new/configmaps', { metadata: { name: 'c' } }],
    want: { metadata: { namespace: 'new' } },
  }),
  NamespaceLifecycle: () => ({ request: ['DELETE', '/api/v1/namespaces/default'], denied: /this namespace may not be deleted$/ }),
  NamespaceExists: () => ({
    flags: ['--disable-admission-plugins=NamespaceLifecycle'],
    request: ['POST', '/api/v1/namespaces/none/configmaps', { metadata: { name: 'c' } }],
    denied: /^namespaces "none" not found$/,
  }),
  SecurityContextDeny: () => ({
    request: ['POST', `${ns}/pods`, pod('p', { securityContext: { runAsUser: 1 } })],
    denied: /RunAsUser is forbidden$/,
  }),
  LimitPodHardAntiAffinityTopology: () => {
    const term = { topologyKey: 'zone', labelSelector: {} };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    return {
      request: ['POST', `${ns}/pods`, pod('p', { affinity })],
      denied: /has TopologyKey zone but only key kubernetes.io\/hostname is allowed$/,
    };
  },
  PodPreset: () => ({
    before: [
      [
        'POST',
        `${group('settings.k8s.io/v1alpha1')}/podpresets`,
        { metadata: { name: 'd' }, spec: { selector: {}, env: [{ name: 'A', value: 'b' }] } },
      ],
    ],
    request: ['POST', `${ns}/pods`, pod('p')],
    want: { spec: { containers: [{ env: [{ name: 'A', value: 'b' }] }] } },
  }),
  LimitRanger: () => ({
    before: [['POST', `${ns}/limitranges`, { metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }]],
    request: ['POST', `${ns}/pods`, pod('p')],
    want: { spec: { containers: [{ resources: { limits: { cpu: '1' } } }] } },
  }),
  ServiceAccount: () => ({ request: ['POST', `${ns}/pods`, pod('p')], denied: /error looking up service account default\/default/ }),
  NodeRestriction: () => ({
    request: ['POST', `${ns}/pods`, pod('p', { nodeName: 'n' }), 'system:node:n'],
    denied: /node "n" can only create mirror pods$/,
  }),
  TaintNodesByCondition: () => ({
    request: node()[0] as Request,
    want: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
  }),
  AlwaysPullImages: () => ({
    request: ['POST', `${ns}/pods`, pod('p', {}, { imagePullPolicy: 'Never' })],
    want: { spec: { containers: [{ imagePullPolicy: 'Always' }] } },
  }),
  ImagePolicyWebhook: () => ({
    configuration: { imagePolicy: { kubeConfigFile: join(folder, 'kubeconfig') } },
    request: ['POST', `${ns}/pods`, pod('p')],
    denied: /image policy webhook backend denied one or more images: not of ours$/,
  }),
  PodSecurity: () => ({
    before: [['PATCH', ns, { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }]],
    request: ['POST', `${ns}/pods`, pod('p', { hostNetwork: true })],
    denied: /violates PodSecurity "baseline:latest": host namespaces \(hostNetwork=true\)$/,
  }),
  PodSecurityPolicy: () => ({
    request: ['POST', `${ns}/pods`, pod('p')],
    denied: /PodSecurityPolicy: no providers available to validate pod request$/,
  }),
  PodNodeSelector: () => ({
    configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=all' } },
    request: ['POST', `${ns}/pods`, pod('p')],
    want: { spec: { nodeSelector: { pool: 'all' } } },
  }),
  Priority: () => ({
    before: [['POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 7 }]],
    request: ['POST', `${ns}/pods`, pod('p', { priorityClassName: 'high' })],
    want: { spec: { priority: 7, preemptionPolicy: 'PreemptLowerPriority' } },
  }),
  DefaultTolerationSeconds: () => ({
    request: ['POST', `${ns}/pods`, pod('p')],
    want: {
      spec: { tolerations: [{ key: 'node.kubernetes.io/not-ready', tolerationSeconds: 300 }, { key: 'node.kubernetes.io/unreachable' }] },
    },
  }),
  PodTolerationRestriction: () => ({
    before: [
      [
        'PATCH',
        ns,
        { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/tolerationsWhitelist': '[{"key":"a","operator":"Exists"}]' } } },
      ],
    ],
    request: ['POST', `${ns}/pods`, pod('p', { tolerations: [{ key: 'b', operator: 'Exists' }] })],
    denied: /pod tolerations .*whitelist/,
  }),
  DenyEscalatingExec: () => ({
    flags: ['--allow-privileged=true'],
    before: [['POST', `${ns}/pods`, privileged]],
    request: ['POST', `${ns}/pods/p/exec?command=x`],
    denied: /cannot exec into or attach to a privileged container$/,
  }),
  DenyExecOnPrivileged: () => ({
    flags: ['--allow-privileged=true'],
    before: [['POST', `${ns}/pods`, privileged]],
    request: ['POST', `${ns}/pods/p/attach`],
    denied: /cannot exec into or attach to a privileged container$/,
  }),
  EventRateLimit: () => ({
    configuration: {
      apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      limits: [{ type: 'Server', qps: 1, burst: 1 }],
    },
    before: [['POST', `${ns}/events`, { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } }]],
    request: ['POST', `${ns}/events`, { metadata: { name: 'f' }, involvedObject: { namespace: 'default' } }],
    denied: /limit reached on type Server for key/,
  }),
  ExtendedResourceToleration: () => ({
    request: [
      'POST',
      `${ns}/pods`,
      pod('p', {}, { resources: { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } } }),
    ],
    want: {
      spec: { tolerations: expect.arrayContaining([{ key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }]) as unknown },
    },
  }),
  PersistentVolumeLabel: () => ({
    configuration: { volumes: [{ source: 'gcePersistentDisk', labels: { 'topology.kubernetes.io/zone': 'a' } }] },
    request: ['POST', '/api/v1/persistentvolumes', volume({ gcePersistentDisk: { pdName: 'd' } })],
    want: { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } },
  }),
  DefaultStorageClass: () => ({
    before: [
      [
        'POST',
        '/apis/storage.k8s.io/v1/storageclasses',
        { metadata: { name: 's', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }, provisioner: 'example.com/p' },
      ],
    ],
    request: ['POST', `${ns}/persistentvolumeclaims`, { metadata: { name: 'c' }, spec: claim }],
    want: { spec: { storageClassName: 's' } },
  }),
  StorageObjectInUseProtection: () => ({
    request: ['POST', '/api/v1/persistentvolumes', volume({ hostPath: { path: '/x' } })],
    want: { metadata: { finalizers: ['kubernetes.io/pv-protection'] } },
  }),
  PodGroupProtection: () => ({
    flags: workloads,
    request: ['POST', `${group('scheduling.k8s.io/v1alpha2')}/podgroups`, podGroup(gang)],
    want: { metadata: { finalizers: ['scheduling.k8s.io/podgroup-protection'] } },
  }),
  OwnerReferencesPermissionEnforcement: () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', blockOwnerDeletion: true };
    return {
      request: ['POST', `${ns}/configmaps`, { metadata: { name: 'c', ownerReferences: [owner] } }, 'jane'],
      denied: /cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on/,
    };
  },
  PersistentVolumeClaimResize: () => ({
    before: [
      ['POST', `${ns}/persistentvolumeclaims`, { metadata: { name: 'c' }, spec: { ...claim, storageClassName: 'none' } }],
      ['PATCH', `${ns}/persistentvolumeclaims/c/status`, { status: { phase: 'Bound' } }],
    ],
    request: ['PATCH', `${ns}/persistentvolumeclaims/c`, { spec: { resources: { requests: { storage: '2Gi' } } } }],
    denied: /only dynamically provisioned pvc can be resized/,
  }),
  RuntimeClass: () => ({
    request: ['POST', `${ns}/pods`, pod('p', { runtimeClassName: 'none' })],
    denied: /pod rejected: RuntimeClass "none" not found$/,
  }),
  CertificateApproval: () => ({
    before: [['POST', csrs, csr(signer)]],
    request: ['PATCH', `${csrs}/r/approval`, { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } }, 'jane'],
    denied: /user not permitted to approve requests with signerName "example.com\/signer"$/,
  }),
  CertificateSigning: () => ({
    before: [['POST', csrs, csr(signer)]],
    request: ['PATCH', `${csrs}/r/status`, { status: { certificate: Buffer.from(trustBundle).toString('base64') } }, 'jane'],
    denied: /user not permitted to sign requests with signerName "example.com\/signer"$/,
  }),
  ClusterTrustBundleAttest: () => ({
    flags: ['--feature-gates=ClusterTrustBundle=true', '--runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true'],
    request: [
      'POST',
      '/apis/certificates.k8s.io/v1beta1/clustertrustbundles',
      { metadata: { name: 'example.com:signer:a' }, spec: { signerName: signer, trustBundle } },
      'jane',
    ],
    denied: /user not permitted to attest for signerName "example.com\/signer"$/,
  }),
  CertificateSubjectRestriction: () => ({
    request: ['POST', csrs, csr('kubernetes.io/kube-apiserver-client')],
    denied: /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed$/,
  }),
  DefaultIngressClass: () => ({
    before: [
      [
        'POST',
        '/apis/networking.k8s.io/v1/ingressclasses',
        {
          metadata: { name: 'i', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
          spec: { controller: 'example.com/c' },
        },
      ],
    ],
    request: [
      'POST',
      `${group('networking.k8s.io/v1')}/ingresses`,
      { metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    ],
    want: { spec: { ingressClassName: 'i' } },
  }),
  DenyServiceExternalIPs: () => ({
    request: ['POST', `${ns}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], externalIPs: ['1.1.1.1'] } }],
    denied: /Use of external IPs is denied by admission control$/,
  }),
  PodTopologyLabels: () => ({
    before: node({}, { 'topology.kubernetes.io/zone': 'a' }),
    request: ['POST', `${ns}/pods`, pod('p', { nodeName: 'n' })],
    want: { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } },
  }),
  PodGroupWorkloadExists: () => ({
    flags: workloads,
    request: [
      'POST',
      `${group('scheduling.k8s.io/v1alpha2')}/podgroups`,
      podGroup({ ...gang, podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } } }),
    ],
    denied: /PodGroup rejected: Workload "w" not found$/,
  }),
  NodeDeclaredFeatureValidator: () => ({
    before: [
      ...node({ allocatable: { cpu: '9', memory: '9Gi' } }),
      ['POST', `${ns}/pods`, pod('p', { nodeName: 'n', resources: { requests: { cpu: '1' } } })],
    ],
    request: ['PATCH', `${ns}/pods/p/resize`, { spec: { resources: { requests: { cpu: '2' } } } }],
    denied: /pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "n"$/,
  }),
  JobValidation: () => {
    const template = {
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'image' }], schedulingGroup: { podGroupName: 'g' } },
    };
    return {
      flags: workloads,
      before: [
        ['POST', `${group('scheduling.k8s.io/v1alpha2')}/podgroups`, podGroup(gang)],
        ['POST', `${group('batch/v1')}/jobs`, { metadata: { name: 'j' }, spec: { parallelism: 2, template } }],
      ],
      request: ['PATCH', `${group('batch/v1')}/jobs/j`, { spec: { parallelism: 3 } }],
      denied: /cannot change parallelism for a Job referencing gang-scheduled PodGroup "g"$/,
    };
  },
  PodResizeValidator: () => ({
    before: [
      ...node({ allocatable: { cpu: '1', memory: '1Gi' } }),
      ['POST', `${ns}/pods`, pod('p', { nodeName: 'n' }, { resources: { requests: { cpu: '1' } } })],
    ],
    request: [
      'PATCH',
      `${ns}/pods/p/resize`,
      { spec: { containers: [{ name: 'main', image: 'image', resources: { requests: { cpu: '2' } } }] } },
    ],
    denied: /node didn't have enough allocatable resources: cpu, requested: 2000, allocatable: 1000$/,
  }),
  MutatingAdmissionPolicy: () => {
    const applyConfiguration = { expression: 'Object{metadata: Object.metadata{labels: {"added": "yes"}}}' };
    const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration }];
    return {
      before: [
        ['POST', `${registration}/mutatingadmissionpolicies`, policy({ reinvocationPolicy: 'Never', mutations })],
        ['POST', `${registration}/mutatingadmissionpolicybindings`, { metadata: { name: 'p' }, spec: { policyName: 'p' } }],
      ],
      request: configMap,
      want: labelled,
    };
  },
  MutatingAdmissionWebhook: () => ({
    before: [['POST', `${registration}/mutatingwebhookconfigurations`, hooks('MutatingWebhookConfiguration', '/mutate')]],
    request: configMap,
    want: labelled,
  }),
  ValidatingAdmissionPolicy: () => ({
    before: [
      ['POST', `${registration}/validatingadmissionpolicies`, policy({ validations: [{ expression: 'false', message: 'no' }] })],
      [
        'POST',
        `${registration}/validatingadmissionpolicybindings`,
        { metadata: { name: 'p' }, spec: { policyName: 'p', validationActions: ['Deny'] } },
      ],
    ],
    request: configMap,
    denied: /ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no$/,
  }),
  ValidatingAdmissionWebhook: () => ({
    before: [['POST', `${registration}/validatingwebhookconfigurations`, hooks('ValidatingWebhookConfiguration', '/validate')]],
    request: configMap,
    denied: /^admission webhook "hook.example.com" denied the request: no$/,
  }),
  ResourceQuota: () => ({
    before: [
      ['POST', `${ns}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '0' } } }],
      ['PATCH', `${ns}/resourcequotas/q/status`, { status: { hard: { 'count/configmaps': '0' }, used: { 'count/configmaps': '0' } } }],
    ],
    request: configMap,
    denied: /exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=0, limited: count\/configmaps=0$/,
  }),
  AlwaysDeny: () => ({ request: configMap, denied: /admission control is denying all modifications$/ }),
};

/** Permissions of `jane`: to write the objects that the plugins check. */
const janes = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name: 'jane' },
};
const objects = [
  {
    ...janes,
    kind: 'ClusterRole',
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status', 'clustertrustbundles'],
        verbs: ['create', 'patch', 'update'],
      },
    ],
  },
  {
    ...janes,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'jane' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  },
];

async function startWith(name: string, { flags = [], configuration }: Case): Promise<TestCluster> {
  const configured: string[] = [];
  if (configuration) {
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig()));
    const file = join(folder, `${name}.json`);
    const document = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins: [{ name, configuration }] };
    await writeFile(file, JSON.stringify(document));
    configured.push(`--admission-control-config-file=${file}`);
  }
  const cluster = await startTestCluster({
    listen: true,
    quiet: true,
    flags: [`--enable-admission-plugins=${name}`, ...flags, ...configured],
    users: [{ name: 'jane' }, { name: 'system:node:n', groups: ['system:nodes', 'system:masters'] }],
    // AlwaysDeny would deny the preparations, too.
    objects: name === 'AlwaysDeny' ? [] : objects,
  });
  clusters.push(cluster);
  return cluster;
}

describe('each built-in admission plugin', () => {
  it('is covered by this table', () => {
    expect(Object.keys(cases).sort()).toEqual([...admissionPlugins.keys()].sort());
  });

  it.each(Object.entries(cases))('%s works over HTTPS', async (name, make) => {
    const made = make();
    const cluster = await startWith(name, made);
    using client = new HttpsClient(cluster);
    for (const request of made.before ?? []) {
      const { status, body } = await client.call(...request);
      expect(status, body.message).toBeLessThan(300);
    }
    const { status, body } = await client.call(...made.request);
    if (made.denied) {
      expect(body.message).toMatch(made.denied);
      expect(status).toBeGreaterThanOrEqual(400);
    } else {
      expect(body.message).toBeUndefined();
      expect(body).toMatchObject(made.want ?? {});
    }
  });
});
