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
const off = [
  'HPAConfigurableTolerance',
  'HostnameOverride',
  'PodLevelResources',
  'InPlacePodLevelResourcesVerticalScaling',
  'ContainerRestartRules',
  'RestartAllContainersOnContainerExits',
  'EnvFiles',
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

it('changes of the node affinity of a volume are allowed', async () => {
  await using cluster = await startTestCluster({ flags: ['--feature-gates=MutablePVNodeAffinity=true'] });
  const volumes = '/api/v1/persistentvolumes';
  const nodeAffinity = (value: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
  });
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    csi: { driver: 'd', volumeHandle: 'h' },
    nodeAffinity: nodeAffinity('a'),
  };
  expect((await cluster.fetch(volumes, { body: { metadata: { name: 'v' }, spec } })).status).toBe(201);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await cluster.fetch(`${volumes}/v`, { method: 'PATCH', headers, body: { spec: { nodeAffinity: nodeAffinity('b') } } });
  expect(patched.status).toBe(200);
});

it('the annotation, status field and UID of disabled features are not validated and not kept', async () => {
  const gates = ['DeploymentReplicaSetTerminatingReplicas', 'PodDeletionCost', 'TokenRequestServiceAccountUIDValidation'];
  await using cluster = await startTestCluster({
    flags: [`--feature-gates=${gates.map((gate) => `${gate}=false`).join()}`, '--disable-admission-plugins=ServiceAccount'],
  });
  const made = async (path: string, body: object): Promise<void> => expect((await cluster.fetch(path, { body })).status, path).toBe(201);
  const container = { name: 'c', image: 'i' };
  await made('/api/v1/namespaces/default/pods', {
    metadata: { name: 'a', annotations: { 'controller.kubernetes.io/pod-deletion-cost': 'much' } },
    spec: { containers: [container] },
  });

  const headers = { 'content-type': 'application/merge-patch+json' };
  const body = { status: { terminatingReplicas: 1 } };
  for (const resource of ['deployments', 'replicasets']) {
    const path = `/apis/apps/v1/namespaces/default/${resource}`;
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
    await made(path, { metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } });
    const patched = await cluster.fetch(`${path}/a/status`, { method: 'PATCH', headers, body });
    expect(await patched.json(), resource).toMatchObject({ status: expect.not.objectContaining(body.status) as unknown });
  }

  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await made(accounts, { metadata: { name: 'sa' } });
  const requested = await cluster.fetch(`${accounts}/sa/token`, { body: { metadata: { uid: 'x' } } });
  expect(await requested.json()).toMatchObject({ metadata: { uid: 'x' }, status: { token: expect.any(String) as unknown } });
  expect(requested.headers.get('warning')).toMatch(
    /the UID in the token request \(x\) does not match .* but TokenRequestServiceAccountUIDValidation is not enabled/,
  );
});
