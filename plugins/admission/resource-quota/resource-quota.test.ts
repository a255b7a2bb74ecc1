import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Attributes, type Client, deepCopy, type KubeObject, newConflict } from 'kubenest/sdk';
import { admissionTable, fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import { describe, expect, it } from 'vitest';
import { object, pod } from '../test-objects.ts';
import { PodEvaluator } from '../../common/quota/pod-evaluator.ts';
import { checkRequest } from './check-request.ts';
import { QuotaAccountant } from './quota-accountant.ts';
import { ResourceQuota } from './resource-quota.ts';

type List = Record<string, string>;
const quota = (name: string, hard: List, used: List, spec: object = {}): KubeObject =>
  object('v1', 'ResourceQuota', { spec: { hard, ...spec }, status: { hard, used } }, { name, namespace: 'ns', resourceVersion: '1' });

/** A fake store of quotas with compare-and-swap. */
function store(...quotas: KubeObject[]) {
  const client = fakeClient({
    list: async (_target, namespace) => quotas.filter(({ metadata }) => metadata.namespace === namespace),
    async update(_target, _namespace, name, change) {
      await nextTurn();
      const at = quotas.findIndex(({ metadata }) => metadata.name === name);
      const next = change(deepCopy(quotas[at]!));
      if (next)
        quotas[at] = { ...next, metadata: { ...next.metadata, resourceVersion: String(Number(next.metadata.resourceVersion) + 1) } };
      return next && quotas[at];
    },
  });
  return { client, quotas, informers: fakeInformers({ resourcequotas: quotas }) };
}

const sized = (cpu: string, metadata = {}) => pod({ containers: [{ name: 'main', resources: { requests: { cpu } } }] }, metadata);
const claim = (storage: string, storageClassName?: string) =>
  object('v1', 'PersistentVolumeClaim', { spec: { storageClassName, resources: { requests: { storage } } } }, { namespace: 'ns' });
const service = (type: string, ports: number) =>
  object('v1', 'Service', { spec: { type, ports: Array.from({ length: ports }, () => ({})) } }, { namespace: 'ns' });

admissionTable(ResourceQuota, [{ name: 'a namespace without a quota', object: sized('8') }], store());
admissionTable(
  ResourceQuota,
  [
    {
      name: 'a status update of a claim with a quota without status',
      subresource: 'status',
      object: claim('1'),
      oldObject: claim('1'),
      denied: /status unknown for quota: q, resources: persistentvolumeclaims$/,
    },
  ],
  store(quota('q', { persistentvolumeclaims: '1' }, {})),
);
const bestEffort = store(quota('q', { pods: '0' }, { pods: '0' }, { scopes: ['BestEffort'] }));
admissionTable(
  ResourceQuota,
  [
    {
      name: 'pod-level resources without requests, whatever the containers request',
      object: pod({ resources: {}, containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] }),
      denied: /exceeded quota/,
    },
    { name: 'a pod whose status has another QoS class', object: { ...pod(), status: { qosClass: 'Burstable' } } },
  ],
  bestEffort,
);
admissionTable(
  ResourceQuota,
  [
    { name: 'a pod within the quota', object: sized('500m') },
    {
      name: 'a pod beyond the quota',
      object: sized('2'),
      denied: /^pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=500m, limited: requests.cpu=1$/,
    },
    { name: 'a pod without requests', object: pod(), denied: /failed quota: q: must specify requests.cpu for: main/ },
    {
      name: 'an init container without requests',
      object: pod({ containers: [{ name: 'a', resources: { requests: { cpu: '1m' } } }], initContainers: [{ name: 'b' }] }),
      denied: /must specify requests.cpu for: b/,
    },
    { name: 'a dry run charges nothing', object: sized('500m'), dryRun: true },
    { name: 'a second pod within the quota', object: sized('500m') },
    { name: 'a config map', object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }) },
    {
      name: 'a config map beyond the quota',
      object: object('v1', 'ConfigMap', {}, { namespace: 'ns' }),
      denied: /requested: count\/configmaps=1, used: count\/configmaps=1/,
    },
    { name: 'a custom resource', resource: 'widgets', object: object('example.com/v1', 'Widget', {}, { namespace: 'ns' }) },
    {
      name: 'a custom resource beyond the quota',
      resource: 'widgets',
      object: object('example.com/v1', 'Widget', {}, { namespace: 'ns' }),
      denied:
        /exceeded quota: q, requested: count\/widgets.example.com=1, used: count\/widgets.example.com=1, limited: count\/widgets.example.com=1/,
    },
    { name: 'another namespace', object: { ...sized('8'), metadata: { name: 'x', namespace: 'other' } } },
    { name: 'an event is never charged', object: object('v1', 'Event', {}, { namespace: 'ns' }) },
  ],
  store(
    quota(
      'q',
      { 'requests.cpu': '1', 'count/configmaps': '1', 'count/widgets.example.com': '1', 'count/events': '0' },
      { 'requests.cpu': '0', 'count/configmaps': '0', 'count/widgets.example.com': '0', 'count/events': '0' },
    ),
  ),
);
admissionTable(
  ResourceQuota,
  [{ name: 'a quota without status', object: sized('1m'), denied: /status unknown for quota: q, resources: cpu,pods/ }],
  store(quota('q', { cpu: '1', pods: '1' }, {})),
);
admissionTable(
  ResourceQuota,
  [
    { name: 'a claim', object: claim('1Gi', 'fast') },
    { name: 'a claim expansion within the quota', object: claim('2Gi', 'fast'), oldObject: claim('1Gi', 'fast') },
    {
      name: 'a claim expansion beyond the quota',
      object: claim('4Gi', 'fast'),
      oldObject: claim('2Gi', 'fast'),
      denied:
        /requested: fast.storageclass.storage.k8s.io\/requests.storage=2Gi, used: fast.storageclass.storage.k8s.io\/requests.storage=2Gi, limited: fast/,
    },
    { name: 'a service', object: service('NodePort', 2) },
    { name: 'a service with more ports', object: service('NodePort', 3), oldObject: service('NodePort', 2) },
    {
      name: 'a balancer',
      object: service('LoadBalancer', 1),
      denied: /requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0/,
    },
    { name: 'a service without node ports', object: service('ClusterIP', 9) },
  ],
  store(
    quota(
      'q',
      { 'fast.storageclass.storage.k8s.io/requests.storage': '3Gi', 'services.nodeports': '4', 'services.loadbalancers': '0' },
      { 'fast.storageclass.storage.k8s.io/requests.storage': '0', 'services.nodeports': '0', 'services.loadbalancers': '0' },
    ),
  ),
);

const scoped = (scopes: string[]) => store(quota('q', { pods: '0' }, { pods: '0' }, { scopes }));
const denied = /exceeded quota: q, requested: pods=1/;
const deadline = { activeDeadlineSeconds: 60 };
const crossing = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['other'] }] } } };
admissionTable(
  ResourceQuota,
  [
    { name: 'terminating', object: pod(deadline), denied },
    { name: 'not', object: pod() },
  ],
  scoped(['Terminating']),
);
admissionTable(
  ResourceQuota,
  [
    { name: 'not terminating', object: pod(), denied },
    { name: 'is', object: pod(deadline) },
  ],
  scoped(['NotTerminating']),
);
admissionTable(
  ResourceQuota,
  [
    { name: 'best effort', object: pod(), denied },
    { name: 'not', object: sized('1') },
  ],
  scoped(['BestEffort']),
);
admissionTable(
  ResourceQuota,
  [
    { name: 'not best effort', object: sized('1'), denied },
    { name: 'is', object: pod() },
  ],
  scoped(['NotBestEffort']),
);
admissionTable(
  ResourceQuota,
  [
    { name: 'crossing', object: pod(crossing), denied },
    { name: 'not', object: pod() },
  ],
  scoped(['CrossNamespacePodAffinity']),
);
admissionTable(
  ResourceQuota,
  [
    { name: "of the quota's class", object: pod({ priorityClassName: 'high' }), denied },
    { name: 'of another class', object: pod({ priorityClassName: 'low' }) },
    { name: 'without a class', object: pod() },
  ],
  store(
    quota(
      'q',
      { pods: '0' },
      { pods: '0' },
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
    ),
  ),
);

const limited = {
  configuration: {
    limitedResources: [
      { resource: 'persistentvolumeclaims', matchContains: ['gold.storageclass.storage.k8s.io/requests.storage'] },
      { resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['critical'] }] },
    ],
  },
};
admissionTable(
  ResourceQuota,
  [
    {
      name: 'a limited resource requires a quota',
      object: claim('1Gi', 'gold'),
      denied: /insufficient quota to consume: gold.storageclass.storage.k8s.io\/requests.storage/,
    },
    { name: 'an unlimited resource requires none', object: claim('1Gi', 'fast') },
    { name: 'other pods require none', object: pod({ priorityClassName: 'low' }) },
  ],
  { ...store(), ...limited },
);

describe('QuotaAccountant', () => {
  const attributes = (): Attributes =>
    ({
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subresource: '',
      namespace: 'ns',
      name: 'x',
      object: sized('1m'),
      oldObject: undefined,
      dryRun: false,
    }) as unknown as Attributes;
  const check = (states: Parameters<typeof checkRequest>[0], request: Attributes) => checkRequest(states, request, new PodEvaluator(), []);

  it('admits as many requests as the quota allows, in a few writes', async () => {
    const { client, quotas, informers } = store(quota('q', { pods: '10' }, { pods: '3' }));
    let writes = 0;
    const counting: Client = {
      ...client,
      update(...args) {
        writes += 1;
        return client.update(...args);
      },
    };
    const accountant = new QuotaAccountant(informers.for({ group: '', resource: 'resourcequotas' }), counting, check);
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => accountant.charge(attributes())));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(quotas[0]).toMatchObject({ status: { used: { pods: '10' } } });
    expect(writes).toBeLessThanOrEqual(2);
  });

  it('checks again after a conflict with another server', async () => {
    const { client, quotas, informers } = store(quota('q', { pods: '10' }, { pods: '3' }));
    let first = true;
    const raced: Client = {
      ...client,
      async update(...args) {
        if (first) {
          first = false;
          quotas[0] = { ...quota('q', { pods: '10' }, { pods: '9' }), metadata: { ...quotas[0]!.metadata, resourceVersion: '7' } };
        }
        return client.update(...args);
      },
    };
    const accountant = new QuotaAccountant(informers.for({ group: '', resource: 'resourcequotas' }), raced, check);
    const results = await Promise.allSettled([accountant.charge(attributes()), accountant.charge(attributes())]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(quotas[0]).toMatchObject({ status: { used: { pods: '10' } } });
  });

  it('rejects all requests after repeated conflicts', async () => {
    const { client, informers } = store(quota('q', { pods: '10' }, { pods: '3' }));
    const hopeless: Client = { ...client, update: async () => undefined };
    const accountant = new QuotaAccountant(informers.for({ group: '', resource: 'resourcequotas' }), hopeless, check);
    const conflict = newConflict({ group: '', resource: 'resourcequotas' }, 'q', 'the object has been modified');
    await expect(accountant.charge(attributes())).rejects.toThrow(conflict.message);
  });
});
