import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { etcd, type EtcdServer, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { type Answer, type KubeApiserver, kubeApiserver, noKubeApiserver, startKubeApiserver } from '../servers/kube-apiserver.ts';

type Ask = KubeApiserver['fetch'];

/** One object of a kind, of each way in which objects are stored. */
const samples: readonly { readonly path: string; readonly object: object; readonly change: object }[] = [
  {
    path: '/api/v1/namespaces/default/configmaps',
    object: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'ä' }, binaryData: { b: 'AAEC' } },
    change: { data: { a: 'c' } },
  },
  {
    path: '/api/v1/namespaces/default/services',
    object: { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 80, targetPort: 'web' }], selector: { app: 'a' } } },
    change: { spec: { sessionAffinity: 'ClientIP' } },
  },
  {
    path: '/apis/apps/v1/namespaces/default/deployments',
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: {
          metadata: { labels: { app: 'a' } },
          spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '100m', memory: '1Gi' } } }] },
        },
      },
    },
    change: { spec: { replicas: 3 } },
  },
  {
    path: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    object: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' },
        targetCPUUtilizationPercentage: 50,
      },
    },
    change: { spec: { maxReplicas: 5 } },
  },
  {
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    object: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2026-01-02T03:04:05.678901Z',
      action: 'Do',
      reason: 'Test',
      reportingController: 'example.com/test',
      reportingInstance: 'one',
      regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      type: 'Normal',
    },
    change: { metadata: { labels: { a: 'b' } } },
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
    change: { metadata: { annotations: { a: 'b' } } },
  },
];

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
};

function definitionOf(plural: string): object {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  return {
    ...definition,
    metadata: { name: `${plural}.example.com` },
    spec: { ...definition.spec, names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` } },
  };
}

function asking(cluster: TestCluster): Ask {
  return async (path, { method, body } = {}) => {
    const response = await cluster.fetch(path, { ...(method && { method }), ...(body !== undefined && { body: body as object }) });
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? ((await response.json()) as Answer['body']) : { text: await response.text() } };
  };
}

async function eventually(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await ask();
    if (answer.status === status || attempt === 100) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

if (etcd === undefined || kubeApiserver === undefined)
  it('needs etcd and kube-apiserver', ({ skip }) => skip(etcd ? noKubeApiserver : noEtcd));
else {
  describe('kubenest and kube-apiserver on one etcd', () => {
    let store: EtcdServer;
    let reference: KubeApiserver;
    let cluster: TestCluster;
    let ours: Ask;
    beforeAll(async () => {
      store = await startEtcd();
      reference = await startKubeApiserver(store.url);
      cluster = await startTestCluster({ storage: { etcdUrl: store.url } });
      ours = asking(cluster);
    }, 60_000);
    afterAll(async () => {
      await cluster[Symbol.asyncDispose]();
      await reference[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    });

    const both = (writer: 'kubenest' | 'kube-apiserver'): [Ask, Ask] =>
      writer === 'kubenest' ? [ours, reference.fetch] : [reference.fetch, ours];

    it.each(samples.flatMap((sample) => (['kubenest', 'kube-apiserver'] as const).map((writer) => ({ ...sample, writer }))))(
      '$writer writes to $path what the other reads, changes and deletes',
      async ({ path, object, change, writer }) => {
        const [write, read] = both(writer);
        const name = `by-${writer}`;
        const created = await write(path, { body: { ...object, metadata: { name } } });
        expect(created.status).toBe(201);
        expect((await read(`${path}/${name}`)).body).toEqual(created.body);
        const present = (await read(`${path}/${name}`)).body as { readonly metadata: object; readonly spec?: object };
        const changes = change as { readonly metadata?: object; readonly spec?: object };
        const changed = await read(`${path}/${name}`, {
          method: 'PUT',
          body: {
            ...present,
            ...change,
            metadata: { ...present.metadata, ...changes.metadata },
            ...(present.spec && { spec: { ...present.spec, ...changes.spec } }),
          },
        });
        expect(changed.status).toBe(200);
        expect((await write(`${path}/${name}`)).body).toEqual(changed.body);
        expect((await write(`${path}/${name}`, { method: 'DELETE' })).status).toBe(200);
        expect((await eventually(() => read(`${path}/${name}`), 404)).status).toBe(404);
      },
    );

    it.each(['kubenest', 'kube-apiserver'] as const)('%s defines a kind that both serve', async (writer) => {
      const [write, read] = both(writer);
      const plural = writer === 'kubenest' ? 'widgets' : 'gadgets';
      expect((await write('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definitionOf(plural) })).status).toBe(201);
      const path = `/apis/example.com/v1/namespaces/default/${plural}`;
      await eventually(() => write(path), 200);
      await eventually(() => read(path), 200);
      const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
      const object = { apiVersion: 'example.com/v1', kind, metadata: { name: 'a' }, spec: { size: 3, big: 9007199254740991, f: 0.5 } };
      const created = await write(path, { body: object });
      expect(created.status).toBe(201);
      expect((await read(`${path}/a`)).body).toEqual(created.body);
    });

    it('lists are equal', async () => {
      for (const path of [
        '/api/v1/namespaces',
        '/api/v1/services',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
      ]) {
        const [mine, theirs] = await Promise.all([ours(path), reference.fetch(path)]);
        expect(mine.body['items']).toEqual(theirs.body['items']);
      }
    });

    it('one does not overwrite what the other was faster with', async () => {
      const path = '/api/v1/namespaces/default/configmaps';
      const { body } = await ours(path, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'raced' } } });
      expect((await reference.fetch(`${path}/raced`, { method: 'PUT', body: { ...body, data: { a: 'theirs' } } })).status).toBe(200);
      expect((await ours(`${path}/raced`, { method: 'PUT', body: { ...body, data: { a: 'ours' } } })).status).toBe(409);
    });
  });
}
