import type { Attributes, Client, Clock, KubeObject } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers, fakeServices } from 'kubenest/sdk/testing';
import { expect, it } from 'vitest';
import { AlwaysAdmit, AlwaysDeny } from './always.ts';
import { DefaultIngressClass } from './default-ingress-class.ts';
import { DefaultStorageClass } from './default-storage-class.ts';
import { DefaultTolerationSeconds } from './default-toleration-seconds.ts';
import { DenyServiceExternalIPs } from './deny-service-external-ips.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';
import { Priority } from './priority.ts';
import { ServiceAccountAdmission } from './service-account.ts';
import { StorageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { TaintNodesByCondition } from './taint-nodes-by-condition.ts';

const object = (
  apiVersion: string,
  kind: string,
  rest: Record<string, unknown> = {},
  metadata: KubeObject['metadata'] = {},
): KubeObject => ({ apiVersion, kind, metadata: { name: 'x', ...metadata }, ...rest });
const inNamespace = { namespace: 'ns' };
const pod = (spec: Record<string, unknown> = {}, annotations?: Record<string, string>): KubeObject =>
  object('v1', 'Pod', { spec: { containers: [{ name: 'main' }], ...spec } }, { ...inNamespace, ...(annotations && { annotations }) });
const service = (...externalIPs: string[]): KubeObject => object('v1', 'Service', { spec: { externalIPs } }, inNamespace);

admissionTable(AlwaysAdmit, [{ name: 'admits', object: pod() }]);
admissionTable(AlwaysDeny, [{ name: 'denies', object: pod(), denied: /denying all modifications/ }]);

admissionTable(DenyServiceExternalIPs, [
  { name: 'create without externalIPs', object: service() },
  { name: 'create with externalIPs', object: service('1.1.1.1'), denied: /Use of external IPs is denied by admission control/ },
  { name: 'reordering on update', object: service('1.1.1.1', '2.2.2.2'), oldObject: service('2.2.2.2', '1.1.1.1') },
  { name: 'adding one on update', object: service('1.1.1.1', '3.3.3.3'), oldObject: service('1.1.1.1'), denied: /denied/ },
]);

admissionTable(TaintNodesByCondition, [
  {
    name: 'a new node is tainted',
    object: object('v1', 'Node'),
    want: { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } },
  },
  {
    name: 'an already tainted node stays unchanged',
    object: object('v1', 'Node', { spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } }),
  },
  { name: 'an update changes nothing', object: object('v1', 'Node'), oldObject: object('v1', 'Node') },
]);

admissionTable(StorageObjectInUseProtection, [
  {
    name: 'a claim is protected',
    object: object('v1', 'PersistentVolumeClaim', {}, inNamespace),
    want: { metadata: { name: 'x', namespace: 'ns', finalizers: ['kubernetes.io/pvc-protection'] } },
  },
  {
    name: 'a volume is protected',
    object: object('v1', 'PersistentVolume'),
    want: { metadata: { name: 'x', finalizers: ['kubernetes.io/pv-protection'] } },
  },
  { name: 'once', object: object('v1', 'PersistentVolume', {}, { finalizers: ['kubernetes.io/pv-protection'] }) },
]);

const tolerate = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
admissionTable(DefaultTolerationSeconds, [
  {
    name: 'both are added',
    object: pod(),
    want: {
      spec: {
        containers: [{ name: 'main' }],
        tolerations: [tolerate('node.kubernetes.io/not-ready'), tolerate('node.kubernetes.io/unreachable')],
      },
    },
  },
  { name: 'a pod that tolerates everything stays unchanged', object: pod({ tolerations: [{ operator: 'Exists' }] }) },
  {
    name: 'a toleration of another effect does not count',
    object: pod({
      tolerations: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }, tolerate('node.kubernetes.io/unreachable')],
    }),
    want: {
      spec: {
        containers: [{ name: 'main' }],
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
          tolerate('node.kubernetes.io/unreachable'),
          tolerate('node.kubernetes.io/not-ready'),
        ],
      },
    },
  },
]);

const storageClass = (name: string, creationTimestamp: string): KubeObject =>
  object(
    'storage.k8s.io/v1',
    'StorageClass',
    {},
    { name, creationTimestamp, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  );
const claim = (spec: Record<string, unknown>): KubeObject => object('v1', 'PersistentVolumeClaim', { spec }, inNamespace);
admissionTable(
  DefaultStorageClass,
  [
    { name: 'the newest default class is used', object: claim({}), want: { spec: { storageClassName: 'new' } } },
    { name: 'an explicit class stays', object: claim({ storageClassName: 'mine' }) },
    { name: 'an explicitly empty class stays', object: claim({ storageClassName: '' }) },
  ],
  {
    informers: fakeInformers({
      'storageclasses.storage.k8s.io': [storageClass('old', '2020-01-01T00:00:00Z'), storageClass('new', '2021-01-01T00:00:00Z')],
    }),
  },
);
admissionTable(DefaultIngressClass, [
  { name: 'nothing changes without a default class', object: object('networking.k8s.io/v1', 'Ingress', { spec: {} }, inNamespace) },
]);

const priorities = fakeInformers({
  'priorityclasses.scheduling.k8s.io': [
    object('scheduling.k8s.io/v1', 'PriorityClass', { value: 1000 }, { name: 'high' }),
    object('scheduling.k8s.io/v1', 'PriorityClass', { value: 10, globalDefault: true, preemptionPolicy: 'Never' }, { name: 'usual' }),
  ],
});
const containers = [{ name: 'main' }];
admissionTable(
  Priority,
  [
    {
      name: 'the default class',
      object: pod(),
      want: { spec: { containers, priorityClassName: 'usual', priority: 10, preemptionPolicy: 'Never' } },
    },
    {
      name: 'an explicit class',
      object: pod({ priorityClassName: 'high' }),
      want: { spec: { containers, priorityClassName: 'high', priority: 1000, preemptionPolicy: 'PreemptLowerPriority' } },
    },
    { name: 'an unknown class', object: pod({ priorityClassName: 'none' }), denied: /no PriorityClass with name none was found/ },
    {
      name: 'a priority that differs from the class',
      object: pod({ priorityClassName: 'high', priority: 1 }),
      denied: /the integer value of priority \(1\) must not be provided/,
    },
    { name: 'an update keeps the priority', object: pod(), oldObject: pod({ priority: 10 }), want: { spec: { containers, priority: 10 } } },
    {
      name: 'a second default',
      object: object('scheduling.k8s.io/v1', 'PriorityClass', { value: 1, globalDefault: true }, { name: 'other' }),
      denied: /usual is already marked as default/,
    },
  ],
  { informers: priorities },
);

const namespaces = fakeInformers({
  namespaces: [
    object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'ns' }),
    object('v1', 'Namespace', { status: { phase: 'Terminating' } }, { name: 'going' }),
  ],
});
const configMap = (namespace: string): KubeObject => object('v1', 'ConfigMap', {}, { namespace });
/** A store with objects that the informers have not received. */
const live = (...objects: KubeObject[]): Client =>
  fakeClient({
    get: async (_, namespace, name) => objects.find(({ metadata }) => (metadata.namespace ?? '') === namespace && metadata.name === name),
  });
const newNamespaces = live(
  object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'new' }),
  object('v1', 'Namespace', { status: { phase: 'Terminating' } }, { name: 'just-deleted' }),
);
let seconds = 0;
const clock: Clock = { ...fakeServices().clock, now: () => seconds * 1_000 };
const lagging = new NamespaceLifecycle(
  fakeInformers({ namespaces: [object('v1', 'Namespace', { status: { phase: 'Active' } }, { name: 'just-deleted' })] }),
  newNamespaces,
  clock,
);
admissionTable(lagging, [
  { name: 'an object in a namespace that the informer has not received', object: configMap('new') },
  {
    name: 'the deletion of a namespace',
    oldObject: object('v1', 'Namespace', {}, { name: 'just-deleted' }),
    operation: 'DELETE',
  },
  {
    name: 'an object in a namespace whose deletion the informer has not received',
    object: configMap('just-deleted'),
    denied: /because it is being terminated/,
  },
]);
it('reads a deleted namespace from the store for 30 seconds', async () => {
  const admitted = async (): Promise<boolean> => {
    const created = { operation: 'CREATE', resource: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'just-deleted' };
    try {
      await lagging.admit(created as Attributes);
      return true;
    } catch {
      return false;
    }
  };
  seconds = 29;
  expect(await admitted()).toBe(false);
  seconds = 31;
  expect(await admitted()).toBe(true);
});
admissionTable(new NamespaceLifecycle(namespaces, newNamespaces, clock), [
  { name: 'an object in an existing namespace', object: configMap('ns') },
  { name: 'an object in a missing namespace', object: configMap('none'), denied: /namespaces "none" not found/ },
  {
    name: 'an object in a terminating namespace',
    object: configMap('going'),
    denied: /unable to create new content in namespace going because it is being terminated/,
  },
  { name: 'an update in a terminating namespace', object: configMap('going'), oldObject: configMap('going') },
  {
    name: 'an update in a missing namespace',
    object: configMap('none'),
    oldObject: configMap('none'),
    denied: /namespaces "none" not found/,
  },
  { name: 'the deletion of a namespace', oldObject: object('v1', 'Namespace', {}, { name: 'ns' }), operation: 'DELETE' },
  {
    name: 'the deletion of a system namespace',
    oldObject: object('v1', 'Namespace', {}, { name: 'kube-system' }),
    operation: 'DELETE',
    denied: /this namespace may not be deleted/,
  },
]);

const accounts = fakeInformers({
  serviceaccounts: [
    object(
      'v1',
      'ServiceAccount',
      { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'pull' }] },
      { name: 'default', namespace: 'ns' },
    ),
    object(
      'v1',
      'ServiceAccount',
      { automountServiceAccountToken: false, secrets: [{ name: 'own' }] },
      { name: 'strict', namespace: 'ns', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    ),
  ],
});
const mirror = { 'kubernetes.io/config.mirror': 'x' };
const newAccount = live(object('v1', 'ServiceAccount', { automountServiceAccountToken: false }, { name: 'new', namespace: 'ns' }));
admissionTable(new ServiceAccountAdmission(accounts, newAccount), [
  {
    name: 'an account that the informer has not received',
    object: pod({ serviceAccountName: 'new' }),
    want: { spec: { containers, serviceAccountName: 'new', serviceAccount: 'new' } },
  },
  {
    name: 'the default account and its pull secrets',
    object: pod(),
    want: { spec: { containers, serviceAccountName: 'default', serviceAccount: 'default', imagePullSecrets: [{ name: 'pull' }] } },
  },
  {
    name: 'a missing account',
    object: pod({ serviceAccountName: 'none' }),
    denied: /error looking up service account ns\/none: serviceaccount "none" not found/,
  },
  {
    name: 'an unlisted secret of a restricted account, in a volume',
    object: pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'foreign' } }] }),
    denied: /volume with secret.secretName="foreign" is not allowed/,
  },
  {
    name: 'an unlisted secret of a restricted account, in an init container',
    object: pod({ serviceAccountName: 'strict', initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'foreign' } }] }] }),
    denied: /init container i with envFrom referencing/,
  },
  {
    name: 'a listed secret',
    object: pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 'own' } }] }),
    want: { kind: 'Pod' },
  },
  {
    name: 'an unlisted secret in an ephemeral container',
    subresource: 'ephemeralcontainers',
    oldObject: pod(),
    object: pod({
      serviceAccountName: 'strict',
      ephemeralContainers: [{ name: 'e', env: [{ name: 'K', valueFrom: { secretKeyRef: { name: 'foreign' } } }] }],
    }),
    fails: /^ephemeral container e with envVar K/,
  },
  {
    name: 'an unnamed volume beside the token volume',
    object: pod({ volumes: [{ emptyDir: {} }, { name: 'kube-api-access-here' }], automountServiceAccountToken: true }),
    want: {
      spec: {
        containers: [
          {
            name: 'main',
            volumeMounts: [{ name: 'kube-api-access-here', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
          },
        ],
        volumes: [{ emptyDir: {} }, { name: 'kube-api-access-here' }],
        automountServiceAccountToken: true,
        serviceAccountName: 'default',
        serviceAccount: 'default',
        imagePullSecrets: [{ name: 'pull' }],
      },
    },
  },
  {
    name: 'an account name with a path separator',
    object: pod({ serviceAccountName: 'a/b' }),
    denied: /ns\/a\/b: invalid resource name "a\/b": \[may not contain '\/'\]$/,
  },
  {
    name: 'a mirror pod with an account',
    object: pod({ serviceAccountName: 'strict' }, mirror),
    denied: /a mirror pod may not reference service accounts/,
  },
  {
    name: 'a mirror pod with a secret',
    object: pod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, mirror),
    denied: /a mirror pod may not reference secrets/,
  },
  {
    name: 'a mirror pod with a secret of a disk volume',
    object: pod({ volumes: [{ name: 'v', iscsi: { secretRef: { name: 's' } } }] }, mirror),
    denied: /a mirror pod may not reference secrets/,
  },
  { name: 'a mirror pod with an unnamed pull secret', object: pod({ imagePullSecrets: [{}] }, mirror) },
]);
