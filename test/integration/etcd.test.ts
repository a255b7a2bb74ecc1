import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authority } from '#cmd/certificates/issue';
import { completeStorage } from '#cmd/options/complete';
import { readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import type { StorageConfig } from '#cmd/server-config';
import { openEtcdStorage } from '#plugins/storage/etcd/open-etcd-storage';
import { startTestCluster, type TestCluster } from '#testing/index';
import { etcd, type EtcdServer, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { type Answer, type KubeApiserver, kubeApiserver, noKubeApiserver, startKubeApiserver } from '../servers/kube-apiserver.ts';

type Ask = KubeApiserver['fetch'];

/** One object of each storage form. */
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

function definitionOf(plural: string): object {
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1, -1);
  return newDefinition({ kind, more: { additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] } });
}

async function storageOf(flags: readonly string[]): Promise<StorageConfig> {
  const command = await readServerOptions(['--storage-backend=etcd3', ...flags]);
  if (!('options' in command)) throw new Error('missing flags');
  return (await completeStorage(command.options)).config;
}

/** Returns the lines of a watch as they arrive. */
async function watchedBy(text: () => Promise<AsyncIterable<Uint8Array>>): Promise<{ readonly types: (name: string) => string[] }> {
  let all = '';
  const body = await text();
  void (async () => {
    for await (const chunk of body) all += new TextDecoder().decode(chunk);
  })().catch(() => {});
  return {
    types: (name) =>
      all
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { readonly type: string; readonly object: { readonly metadata: { readonly name?: string } } })
        .filter(({ object }) => object.metadata.name === name)
        .map(({ type }) => type),
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
  it('requires etcd and kube-apiserver', ({ skip }) => skip(etcd ? noKubeApiserver : noEtcd));
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
      '$writer writes to $path, and the other reads, updates and deletes it',
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

    it('a watch on one receives the writes of the other', async () => {
      const path = '/api/v1/namespaces/default/configmaps';
      const leave = new AbortController();
      const mine = await watchedBy(async () => {
        const response = await cluster.fetch(`${path}?watch=1`, { signal: leave.signal });
        return response.body as unknown as AsyncIterable<Uint8Array>;
      });
      // The reference ends the watch at its timeout, so the response is complete.
      const { metadata } = (await reference.fetch(path)).body as { readonly metadata: { readonly resourceVersion: string } };
      const theirs = reference.fetch(`${path}?watch=1&timeoutSeconds=5&resourceVersion=${metadata.resourceVersion}`);
      for (const [name, ask] of [
        ['watched-ours', ours],
        ['watched-theirs', reference.fetch],
      ] as const) {
        const { body } = await ask(path, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } });
        expect((await ask(`${path}/${name}`, { method: 'PUT', body: { ...body, data: { a: 'b' } } })).status).toBe(200);
        expect((await ask(`${path}/${name}`, { method: 'DELETE' })).status).toBe(200);
      }
      const text = String((await theirs).body['text']);
      const atTheirs = await watchedBy(async () =>
        (async function* () {
          yield Buffer.from(text);
        })(),
      );
      const life = ['ADDED', 'MODIFIED', 'DELETED'];
      for (const name of ['watched-ours', 'watched-theirs']) {
        await vi.waitFor(() => expect(mine.types(name)).toEqual(life));
        await vi.waitFor(() => expect(atTheirs.types(name)).toEqual(life));
      }
      leave.abort();
    }, 20_000);

    it('objects stored as JSON are read and updated by both', async () => {
      const storage = await storageOf([`--etcd-servers=${store.url}`, '--storage-media-type=application/json']);
      await using inJson = await startTestCluster({ config: { storage } });
      const json = asking(inJson);
      const raw = await openEtcdStorage({ servers: [store.url], compactionIntervalMs: 0 });
      const stored = async (key: string): Promise<string> => (await raw.get(key))!.value.subarray(0, 4).toString('latin1');
      for (const { path, object } of samples) {
        const created = await json(path, { body: { ...object, metadata: { name: 'in-json' } } });
        expect(created.status).toBe(201);
        for (const read of [ours, reference.fetch]) expect((await read(`${path}/in-json`)).body).toEqual(created.body);
      }
      const path = '/api/v1/namespaces/default/configmaps';
      const key = '/configmaps/default/in-json';
      expect(await stored(key)).toMatch(/^\{"/);
      const forms = [reference.fetch, json, ours];
      for (const [index, write] of forms.entries()) {
        const { body } = await write(`${path}/in-json`);
        const changed = await write(`${path}/in-json`, { method: 'PUT', body: { ...body, data: { a: String(index) } } });
        expect(changed.status).toBe(200);
        expect(await stored(key)).toMatch(write === json ? /^\{"/ : /^k8s\0/);
        for (const read of forms) expect((await read(`${path}/in-json`)).body).toEqual(changed.body);
      }
      await raw.close();
    });

    it('conflicting writes are detected between both', async () => {
      const path = '/api/v1/namespaces/default/configmaps';
      const { body } = await ours(path, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'raced' } } });
      expect((await reference.fetch(`${path}/raced`, { method: 'PUT', body: { ...body, data: { a: 'theirs' } } })).status).toBe(200);
      expect((await ours(`${path}/raced`, { method: 'PUT', body: { ...body, data: { a: 'ours' } } })).status).toBe(409);
    });
  });

  it('both compact one etcd in turn, and each does alone', { timeout: 90_000 }, async () => {
    const second = 1_000;
    await using store = await startEtcd();
    const raw = await openEtcdStorage({ servers: [store.url], prefix: '/', compactionIntervalMs: 0 });
    /** Returns the number of compactions, which the version of the key counts. */
    const rounds = async (): Promise<number> => {
      const body = JSON.stringify({ key: Buffer.from('compact_rev_key').toString('base64') });
      const answer = (await (await fetch(`${store.url}/v3/kv/range`, { method: 'POST', body })).json()) as {
        readonly kvs?: readonly { readonly version: string }[];
      };
      return Number(answer.kvs?.[0]?.version ?? 0);
    };
    /** Waits for further rounds; there is one in each interval, however many servers run. */
    const inTurn = async (count: number): Promise<void> => {
      const [began, first] = [performance.now(), await rounds()];
      await vi.waitUntil(async () => (await rounds()) >= first + count, { timeout: 60_000 });
      expect(performance.now() - began).toBeGreaterThan((count - 2) * second);
    };
    const reference = await startKubeApiserver(store.url, ['--etcd-compaction-interval=1s']);
    const storage = await storageOf([`--etcd-servers=${store.url}`, '--etcd-compaction-interval=1s']);
    const cluster = await startTestCluster({ config: { storage } });
    const path = '/api/v1/namespaces/default/configmaps';
    const created = await asking(cluster)(path, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'old' } } });
    const { resourceVersion } = created.body['metadata'] as { readonly resourceVersion: string };
    await inTurn(5);
    expect(await raw.compactRevision()).toBeGreaterThanOrEqual(Number(resourceVersion));
    for (const ask of [asking(cluster), reference.fetch]) expect((await ask(`${path}/old`)).body).toEqual(created.body);
    await cluster[Symbol.asyncDispose]();
    await inTurn(3);
    const again = await startTestCluster({ config: { storage } });
    await reference[Symbol.asyncDispose]();
    await inTurn(3);
    await again[Symbol.asyncDispose]();
    await raw.close();
  });
}

if (etcd === undefined) it('requires etcd', ({ skip }) => skip(noEtcd));
else
  it('--etcd-servers-overrides: stores events in another etcd, whose health is checked', { timeout: 30_000 }, async () => {
    await using store = await startEtcd();
    await using other = await startEtcd();
    const storage = await storageOf([`--etcd-servers=${store.url}`, `--etcd-servers-overrides=/events#${other.url}`]);
    const event = { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Test' };
    {
      await using cluster = await startTestCluster({ config: { storage } });
      expect((await cluster.fetch('/api/v1/namespaces/default/events', { body: event })).status).toBe(201);
      expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } } })).status).toBe(201);
      const listed = (await (await cluster.fetch('/apis/events.k8s.io/v1/events')).json()) as { items: { metadata: { name: string } }[] };
      expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(['e']);
      expect(await (await cluster.fetch('/readyz?verbose')).text()).toContain('[+]etcd-override-0 ok\n[+]etcd-override-readiness-0 ok\n');
      const metrics = await (await cluster.fetch('/metrics')).text();
      const countOf = (name: string, resource: string): string[] =>
        (metrics.match(new RegExp(`^${name}\\{.*\\} .*$`, 'gm')) ?? []).filter(
          (line) => line.includes('operation="create"') && line.includes(`resource="${resource}"`),
        );
      expect(countOf('etcd_requests_total', 'configmaps')).toHaveLength(1);
      expect(countOf('etcd_request_duration_seconds_count', 'events')).toEqual([expect.stringMatching(/\} 1$/)]);
      other.child.kill('SIGSTOP');
      expect((await cluster.fetch('/livez/etcd-override-0')).status).toBe(500);
      expect((await cluster.fetch('/api/v1/namespaces/default/configmaps/c')).status).toBe(200);
      other.child.kill('SIGCONT');
    }
    const keysOf = async (url: string): Promise<string[]> => {
      const opened = await openEtcdStorage({ servers: [url] });
      try {
        const lists = await Promise.all(['/events/', '/configmaps/default/'].map((prefix) => opened.list(prefix)));
        return lists.flatMap(({ records }) => records.map(({ key }) => key)).filter((key) => !key.includes('kube-root-ca'));
      } finally {
        await opened.close();
      }
    };
    expect([await keysOf(store.url), await keysOf(other.url)]).toEqual([['/configmaps/default/c'], ['/events/default/e']]);
  });

it('an etcd with client certificates is reachable only with the flags', { timeout: 30_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-certificates-'));
  const authority = await Authority.create('etcd-ca');
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const server = await authority.issue({ commonName: 'etcd', names: ['127.0.0.1'], usages: ['server', 'client'] });
  const client = await authority.issue({ commonName: 'kubenest', names: [], usages: ['client'] });
  const stranger = await (await Authority.create('other')).issue({ commonName: 'kubenest', names: [], usages: ['client'] });
  const ca = file('ca.crt', authority.pair.cert);
  const serving = ['--cert-file', file('server.crt', server.cert), '--key-file', file('server.key', server.key)];
  await using store = await startEtcd([...serving, '--client-cert-auth', '--trusted-ca-file', ca], 'https');
  const start = async (flags: readonly string[]): Promise<TestCluster> =>
    startTestCluster({ config: { storage: await storageOf([`--etcd-servers=${store.url}`, ...flags]) } });
  const pair = (name: string, { cert, key }: { readonly cert: string; readonly key: string }): string[] => [
    `--etcd-certfile=${file(`${name}.crt`, cert)}`,
    `--etcd-keyfile=${file(`${name}.key`, key)}`,
  ];
  const cluster = await start([`--etcd-cafile=${ca}`, ...pair('client', client)]);
  const configMap = { metadata: { name: 'a' } };
  expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: configMap })).status).toBe(201);
  await cluster[Symbol.asyncDispose]();
  await expect(start([`--etcd-cafile=${ca}`])).rejects.toThrow(/storage: etcd/);
  await expect(start([`--etcd-cafile=${ca}`, ...pair('stranger', stranger)])).rejects.toThrow(/storage: etcd/);
  await expect(start(pair('client', client))).rejects.toThrow(/storage: etcd.*(certificate|issuer)/);
  rmSync(folder, { recursive: true });
});
