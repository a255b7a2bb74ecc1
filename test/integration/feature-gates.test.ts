/** Feature gates that allow or drop fields like kube-apiserver v1.36.3. */
import { describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from 'kubenest/testing';

interface Case {
  readonly name: string;
  readonly path: string;
  readonly spec: object;
  /** Expected part of the returned spec, or the reason of the rejection. */
  readonly want: object | RegExp;
}

const pod = (name: string, spec: object, container: object, want: object | RegExp): Case => ({
  name,
  path: '/api/v1/namespaces/default/pods',
  spec: { ...spec, containers: [{ name: 'c', image: 'i', ...container }], automountServiceAccountToken: false },
  want,
});
const scaler = (name: string, spec: object, want: object | RegExp): Case => ({
  name,
  path: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, ...spec },
  want,
});
const set = (name: string, rollingUpdate: object, want: object | RegExp): Case => ({
  name,
  path: '/apis/apps/v1/namespaces/default/statefulsets',
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
  },
  want,
});
const claim = (name: string, dataSourceRef: object, want: object | RegExp): Case => ({
  name,
  path: '/api/v1/namespaces/default/persistentvolumeclaims',
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSourceRef },
  want,
});
const driver = (name: string, spec: object, want: object | RegExp): Case => ({
  name,
  path: '/apis/storage.k8s.io/v1/csidrivers',
  spec,
  want,
});

const external = { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } };
const bundle = { volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'a', path: 'b' } }] } }] };
const lessThan = { tolerations: [{ key: 'a', operator: 'Lt', value: '5', effect: 'NoSchedule' }] };
const tolerance = { behavior: { scaleUp: { tolerance: '100m' } } };
const other = { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' };
const rules = { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }] };
const envFile = [{ name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } }];
const volume = { volumes: [{ name: 'v', emptyDir: {} }] };

async function check(cluster: TestCluster, { path, spec, want }: Case): Promise<void> {
  const response = await cluster.fetch(`${path}?dryRun=All`, { body: { metadata: { name: 'a' }, spec } });
  const body = (await response.json()) as { spec?: object; message?: string };
  if (want instanceof RegExp) expect([response.status, body.message]).toEqual([422, expect.stringMatching(want)]);
  else expect([response.status, body.spec]).toEqual([201, expect.objectContaining(want)]);
}

const on = [
  'HPAScaleToZero',
  'MaxUnavailableStatefulSet',
  'ContainerStopSignals',
  'TaintTolerationComparisonOperators',
  'UserNamespacesHostNetworkSupport',
  'SELinuxMount',
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'CrossNamespaceVolumeDataSource',
  'VolumeLimitScaling',
];
const claimOf = (name: string, spec: object, want: object | RegExp): Case => ({
  name,
  path: '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
  spec,
  want,
});
const slice = (name: string, spec: object, want: object | RegExp): Case => ({
  name,
  path: '/apis/resource.k8s.io/v1/resourceslices',
  spec: { driver: 'x.io', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n', ...spec },
  want,
});
const device = {
  name: 'd',
  taints: [{ key: 'a', effect: 'NoSchedule' }],
  consumesCounters: [{ counterSet: 's', counters: { c: { value: '1' } } }],
  bindingConditions: ['a'],
  bindingFailureConditions: ['b'],
  bindsToNode: true,
  allowMultipleAllocations: true,
  capacity: { c: { value: '10', requestPolicy: { default: '1', validValues: ['1', '2'] } } },
};
const exactly = { deviceClassName: 'c', tolerations: [{ operator: 'Exists' }], capacity: { requests: { c: '1' } } };
const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } };
const off = [
  'HPAConfigurableTolerance',
  'HostnameOverride',
  'PodLevelResources',
  'InPlacePodLevelResourcesVerticalScaling',
  'ContainerRestartRules',
  'RestartAllContainersOnContainerExits',
  'EnvFiles',
  'DRAConsumableCapacity',
  'DRADeviceBindingConditions',
  'DRADeviceTaints',
  'DRAPartitionableDevices',
  'DRAPrioritizedList',
  'MatchLabelKeysInPodTopologySpread',
  'MatchLabelKeysInPodTopologySpreadSelectorMerge',
];

describe.each([
  {
    gates: on.map((gate) => `${gate}=true`).join(),
    cases: [
      scaler('no replicas', { minReplicas: 0, metrics: [external] }, { minReplicas: 0 }),
      scaler('a negative minimum', { minReplicas: -1 }, /must be greater than or equal to 0/),
      set(
        'a number of pods',
        { maxUnavailable: 2 },
        { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2, partition: 0 } } },
      ),
      set('none', {}, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, partition: 0 } } }),
      pod('a stop signal', { os: { name: 'linux' } }, { lifecycle: { stopSignal: 'SIGUSR1' } }, { os: { name: 'linux' } }),
      pod(
        'a stop signal without an operating system',
        {},
        { lifecycle: { stopSignal: 'SIGUSR1' } },
        /may not be set for containers with empty/,
      ),
      pod('a comparison', lessThan, {}, { tolerations: expect.arrayContaining(lessThan.tolerations) as unknown }),
      pod('users of the host network', { hostUsers: false, hostNetwork: true }, {}, { hostUsers: false }),
      pod(
        'a mount option',
        { securityContext: { seLinuxChangePolicy: 'MountOption' } },
        {},
        { securityContext: { seLinuxChangePolicy: 'MountOption' } },
      ),
      pod(
        'a trust bundle',
        bundle,
        {},
        {
          volumes: [
            expect.objectContaining({ projected: expect.objectContaining({ sources: bundle.volumes[0]?.projected.sources }) as unknown }),
          ],
        },
      ),
      claim('another namespace', other, { dataSourceRef: expect.objectContaining(other) as unknown }),
      driver('no word', {}, { preventPodSchedulingIfMissing: false }),
    ],
  },
  {
    gates: off.map((gate) => `${gate}=false`).join(),
    cases: [
      scaler('a tolerance', tolerance, {
        behavior: { scaleUp: expect.not.objectContaining({ tolerance: '100m' }) as unknown, scaleDown: expect.anything() as unknown },
      }),
      pod('another hostname', { hostnameOverride: 'abc' }, {}, { containers: expect.anything() as unknown, restartPolicy: 'Always' }),
      pod('a restart policy', { restartPolicy: 'Never' }, rules, { containers: [expect.not.objectContaining({ restartPolicy: 'Never' })] }),
      pod(
        'a sidecar',
        { initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always' }] },
        {},
        { initContainers: [expect.objectContaining({ restartPolicy: 'Always' })] },
      ),
      slice('a device', { devices: [device] }, { devices: [{ name: 'd', capacity: { c: { value: '10' } } }] }),
      claimOf(
        'a request',
        { devices: { requests: [{ name: 'r', exactly }] } },
        { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } }] } },
      ),
      claimOf(
        'alternatives',
        {
          devices: {
            requests: [{ name: 'r', firstAvailable: [{ name: 'f', deviceClassName: 'c' }] }],
            constraints: [{ distinctAttribute: 'x.io/a' }],
          },
        },
        /exactly one of `exactly` or `firstAvailable` is required, spec.devices.constraints\[0\].matchAttribute: Required value/,
      ),
      pod(
        'keys of a spread',
        { topologySpreadConstraints: [{ ...spread, matchLabelKeys: ['a'] }] },
        {},
        { topologySpreadConstraints: [spread] },
      ),
      pod('a file', volume, { env: envFile }, /must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`$/),
    ],
  },
  {
    gates: '',
    cases: [
      scaler('no replicas', { minReplicas: 0, metrics: [external] }, /must be greater than or equal to 1/),
      set('a number of pods', { maxUnavailable: 2 }, { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } }),
      pod('a comparison', lessThan, {}, /Unsupported value: "Lt"/),
      pod('users of the host network', { hostUsers: false, hostNetwork: true }, {}, /hostNetwork/),
      pod('a mount option', { securityContext: { seLinuxChangePolicy: 'MountOption' } }, {}, /Unsupported value: "MountOption"/),
      scaler('a tolerance', tolerance, {
        behavior: { scaleUp: expect.objectContaining({ tolerance: '100m' }) as unknown, scaleDown: expect.anything() as unknown },
      }),
      pod('another hostname', { hostnameOverride: 'abc' }, {}, { hostnameOverride: 'abc' }),
      pod('a file', volume, { env: envFile }, { volumes: expect.anything() as unknown }),
    ],
  },
])('--feature-gates=$gates', ({ gates, cases }) => {
  it('handles each field like kube-apiserver', async () => {
    await using cluster = await startTestCluster({ flags: [`--feature-gates=${gates}`, '--disable-admission-plugins=ServiceAccount'] });
    for (const one of cases)
      await check(cluster, one).catch((error: Error) => Promise.reject(new Error(`${one.name}: ${error.message}`, { cause: error })));
  });
});

it('the quality of service is that of the remaining fields', async () => {
  await using cluster = await startTestCluster({
    flags: ['--feature-gates=PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false'],
  });
  const { path, spec } = pod('', { resources: { limits: { cpu: '1' } } }, {}, {});
  const made = (await (await cluster.fetch(path, { body: { metadata: { name: 'a' }, spec } })).json()) as { status: { qosClass: string } };
  expect(made.status.qosClass).toBe('BestEffort');
});

it('service names of DNS-1035 are required without RelaxedServiceNameValidation, and label keys are not merged into spread constraints', async () => {
  await using cluster = await startTestCluster({
    flags: ['--feature-gates=RelaxedServiceNameValidation=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false'],
  });
  const message = async (path: string, body: object): Promise<string | undefined> => {
    const response = await cluster.fetch(`${path}?dryRun=All`, { body });
    return ((await response.json()) as { message?: string }).message;
  };
  expect(await message('/api/v1/namespaces/default/services', { metadata: { name: '1a' }, spec: { ports: [{ port: 80 }] } })).toMatch(
    /metadata.name: Invalid value: "1a": a DNS-1035 label/,
  );
  const backend = { service: { name: '1a', port: { number: 80 } } };
  expect(
    await message('/apis/networking.k8s.io/v1/namespaces/default/ingresses', {
      metadata: { name: 'a' },
      spec: { defaultBackend: backend },
    }),
  ).toMatch(/spec.defaultBackend.service.name: Invalid value: "1a": a DNS-1035 label/);
  const { path, spec } = pod('', { topologySpreadConstraints: [{ ...spread, matchLabelKeys: ['q'] }] }, {}, {});
  const body = { metadata: { name: 'a', labels: { q: 'r' } }, spec };
  const made = (await (await cluster.fetch(`${path}?dryRun=All`, { body })).json()) as { spec: { topologySpreadConstraints: object[] } };
  expect(made.spec.topologySpreadConstraints).toEqual([{ ...spread, matchLabelKeys: ['q'] }]);
});

it.each([
  ['', 'gzip'],
  ['APIResponseCompression=false', null],
])('compression of long responses with --feature-gates=%s: %s', async (gates, encoding) => {
  await using cluster = await startTestCluster({ flags: [`--feature-gates=${gates}`] });
  const body = { metadata: { name: 'a' }, data: { a: 'x'.repeat(200_000) } };
  const path = '/api/v1/namespaces/default/configmaps';
  expect((await cluster.fetch(path, { body })).status).toBe(201);
  const response = await cluster.fetch(path, { headers: { 'accept-encoding': 'gzip' } });
  expect(response.headers.get('content-encoding')).toBe(encoding);
});

interface Step {
  readonly name: string;
  readonly path: string;
  /** Body of a POST. */
  readonly create?: object;
  /** Body of a merge patch. */
  readonly patch?: object;
  readonly want: { readonly status: number; readonly body?: object };
}

const inDefault = '/api/v1/namespaces/default';
const merge = { 'content-type': 'application/merge-patch+json' };
const containers = [{ name: 'c', image: 'i' }];
const affinity = (zone: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
});
const costly = { 'controller.kubernetes.io/pod-deletion-cost': 'much' };
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const replicaSetSpec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers } } };

/** Answers of kube-apiserver v1.36.3 with these gates. */
const steps: readonly Step[] = [
  {
    name: 'a pod with an invalid deletion cost',
    path: `${inDefault}/pods`,
    create: { metadata: { name: 'a', annotations: costly }, spec: { containers } },
    want: { status: 201 },
  },
  {
    name: 'the status of a pod',
    path: `${inDefault}/pods/a/status`,
    patch: {
      status: {
        nominatedNodeName: 'm',
        allocatedResources: { cpu: '1' },
        containerStatuses: [
          {
            ...containers[0],
            imageID: '',
            ready: false,
            restartCount: 0,
            allocatedResourcesStatus: [{ name: 'claim:k', resources: [{ resourceID: 'r', health: 'Healthy' }] }],
          },
        ],
      },
    },
    want: {
      status: 200,
      body: {
        status: {
          nominatedNodeName: 'm',
          containerStatuses: [expect.not.objectContaining({ allocatedResourcesStatus: expect.anything() as unknown })],
        },
      },
    },
  },
  {
    name: 'a binding',
    path: `${inDefault}/pods/a/binding`,
    create: { metadata: { name: 'a' }, target: { kind: 'Node', name: 'n' } },
    want: { status: 201 },
  },
  {
    name: 'another nominated node of a bound pod',
    path: `${inDefault}/pods/a/status`,
    patch: { status: { nominatedNodeName: 'o' } },
    want: { status: 200, body: { spec: { nodeName: 'n' }, status: { nominatedNodeName: 'o' } } },
  },
  {
    name: 'a ReplicaSet',
    path: '/apis/apps/v1/namespaces/default/replicasets',
    create: { metadata: { name: 'a' }, spec: replicaSetSpec },
    want: { status: 201 },
  },
  {
    name: 'terminating replicas',
    path: '/apis/apps/v1/namespaces/default/replicasets/a/status',
    patch: { status: { replicas: 1, terminatingReplicas: 2 } },
    want: { status: 200, body: { status: expect.not.objectContaining({ terminatingReplicas: 2 }) as object } },
  },
  {
    name: 'a volume',
    path: '/api/v1/persistentvolumes',
    create: {
      metadata: { name: 'a' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' }, nodeAffinity: affinity('a') },
    },
    want: { status: 201 },
  },
  {
    name: 'another node affinity of a volume',
    path: '/api/v1/persistentvolumes/a',
    patch: { spec: { nodeAffinity: affinity('b') } },
    want: { status: 200, body: { spec: { nodeAffinity: affinity('b') } } },
  },
  {
    name: 'a suspended Job',
    path: jobs,
    create: { metadata: { name: 'a' }, spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers } } } },
    want: { status: 201 },
  },
  {
    name: 'its node selector',
    path: `${jobs}/a`,
    patch: { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } },
    want: { status: 200 },
  },
  {
    name: 'its resources',
    path: `${jobs}/a`,
    patch: { spec: { template: { spec: { containers: [{ ...containers[0], resources: { limits: { cpu: '1' } } }] } } } },
    want: { status: 422, body: { reason: 'Invalid', message: expect.stringContaining('field is immutable') as string } },
  },
];

it('gates that change validation and status have the effect that they have upstream', async () => {
  const disabled = [
    'ClearingNominatedNodeNameAfterBinding',
    'DeploymentReplicaSetTerminatingReplicas',
    'InPlacePodLevelResourcesVerticalScaling',
    'MutablePodResourcesForSuspendedJobs',
    'MutableSchedulingDirectivesForSuspendedJobs',
    'PodDeletionCost',
    'ResourceHealthStatus',
    'ResourceHealthStatusMessage',
    'StorageVersionHash',
  ].map((gate) => `${gate}=false`);
  await using cluster = await startTestCluster({ flags: [`--feature-gates=MutablePVNodeAffinity=true,${disabled.join()}`] });
  for (const { name, path, create, patch, want } of steps) {
    const response = await cluster.fetch(path, patch ? { method: 'PATCH', headers: merge, body: patch } : { body: create ?? {} });
    expect({ name, status: response.status, body: await response.json() }).toMatchObject({ name, ...want });
  }
  const { resources } = (await (await cluster.fetch('/api/v1')).json()) as { resources: object[] };
  expect(resources.filter((resource) => 'storageVersionHash' in resource)).toEqual([]);
});

it('another uid in a token request only causes a warning', async () => {
  await using cluster = await startTestCluster({
    flags: ['--feature-gates=TokenRequestServiceAccountUIDValidation=false'],
  });
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  expect((await cluster.fetch(accounts, { body: { metadata: { name: 'sa' } } })).status).toBe(201);
  const requested = await cluster.fetch(`${accounts}/sa/token`, { body: { metadata: { uid: 'x' } } });
  expect(await requested.json()).toMatchObject({ metadata: { uid: 'x' }, status: { token: expect.any(String) as unknown } });
  expect(requested.headers.get('warning')).toMatch(
    /the UID in the token request \(x\) does not match .* but TokenRequestServiceAccountUIDValidation is not enabled/,
  );
});

/**
 * Objects with an ambiguous address in each field that may have one without the gate, by path; the second is the body of a status patch.
 */
const ambiguous: readonly (readonly [path: string, body: object, status?: object])[] = [
  [`${inDefault}/endpoints`, { subsets: [{ addresses: [{ ip: '010.0.0.1' }] }] }],
  [
    `${inDefault}/services`,
    {
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.0.0.010',
        externalIPs: ['::ffff:1.2.3.4'],
        loadBalancerSourceRanges: ['10.0.0.1/8'],
        ports: [{ port: 80 }],
      },
    },
    { status: { loadBalancer: { ingress: [{ ip: '010.0.0.1' }] } } },
  ],
  [
    `${inDefault}/pods`,
    { spec: { containers, dnsConfig: { nameservers: ['010.0.0.1'] }, hostAliases: [{ ip: '::ffff:1.2.3.4', hostnames: ['a'] }] } },
    { status: { podIPs: [{ ip: '010.0.0.1' }], hostIP: '010.0.0.1', hostIPs: [{ ip: '010.0.0.1' }] } },
  ],
  ['/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', { addressType: 'IPv4', endpoints: [{ addresses: ['010.0.0.1'] }] }],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
    { spec: { defaultBackend: { service: { name: 'a', port: { number: 1 } } } } },
    { status: { loadBalancer: { ingress: [{ ip: '::ffff:1.2.3.4' }] } } },
  ],
  [
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/08', except: ['10.0.0.1/16'] } }] }] } },
  ],
  ['/api/v1/nodes', { spec: { podCIDR: '10.0.0.1/8', podCIDRs: ['10.0.0.1/8'] } }],
];

describe.each([true, false])('addresses, documents and service CIDRs: gates %s', (isOn) => {
  const gates = ['StrictIPCIDRValidation', 'OpenAPIEnums', 'ServiceCIDRStatusFieldWiping', 'RemoteRequestHeaderUID'];
  it('ambiguous addresses, values of fields, a status by the main resource', async () => {
    await using cluster = await startTestCluster({ flags: [`--feature-gates=${gates.map((gate) => `${gate}=${isOn}`).join()}`] });
    const ask = async (path: string, init?: object): Promise<[number, unknown]> => {
      const response = await cluster.fetch(path, init);
      return [response.status, await response.json()];
    };
    for (const [path, body, status] of ambiguous) {
      const [created] = await ask(`${path}?dryRun=All`, { body: { metadata: { name: 'a' }, ...body } });
      expect([path, created]).toEqual([path, isOn && !path.endsWith('ingresses') ? 422 : 201]);
      if (!status) continue;
      const harmless = path.endsWith('services')
        ? { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }
        : path.endsWith('pods')
          ? { spec: { containers } }
          : body;
      expect((await ask(path, { body: { metadata: { name: 'a' }, ...harmless } }))[0]).toBe(201);
      const [patched] = await ask(`${path}/a/status`, { method: 'PATCH', headers: merge, body: status });
      expect([path, patched]).toEqual([path, isOn ? 422 : 200]);
    }
    const [, document] = await ask('/openapi/v3/api/v1');
    const protocol = (document as { components: { schemas: Record<string, { properties: Record<string, object> }> } }).components.schemas[
      'io.k8s.api.core.v1.ContainerPort'
    ]?.properties['protocol'];
    expect(protocol).toEqual({
      description: expect.stringMatching(isOn ? /Possible enum values/ : /Defaults to "TCP".$/) as string,
      type: 'string',
      default: 'TCP',
      ...(isOn && { enum: ['SCTP', 'TCP', 'UDP'] }),
    });
    const conditions = [{ type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' }];
    const cidrs = '/apis/networking.k8s.io/v1/servicecidrs';
    const range = { metadata: { name: 'a' }, spec: { cidrs: ['172.30.0.0/24'] }, status: { conditions } };
    const [, made] = await ask(cidrs, { body: range });
    expect(made).toMatchObject({ status: isOn ? {} : { conditions } });
    const fields = (made as { metadata: { managedFields: { fieldsV1: object }[] } }).metadata.managedFields.map(({ fieldsV1 }) => fieldsV1);
    expect(fields.some((owned) => 'f:status' in owned)).toBe(!isOn);
    const [, information] = await ask('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
    expect('requestheader-uid-headers' in (information as { data: object }).data).toBe(isOn);
  });
});
