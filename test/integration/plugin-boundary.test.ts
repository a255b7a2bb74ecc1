import { setTimeout as sleep } from 'node:timers/promises';
import { AdmissionPlugin, type Attributes, StatusError } from 'kubenest/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { traceHeader } from '#apiserver/tracing/request-traces';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import { startTestCluster, type TestCluster } from '#testing/index';

const maps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

type Loose = Record<string, unknown> & { metadata: Record<string, unknown>; data: Record<string, unknown> };

const cycle = (object: Loose): void => void (object['data'] = { object });

/** A way of being wrong: what the plugin does, and how the sentence about it ends. */
interface Behaviour {
  readonly phase: 'admit' | 'validate';
  readonly act: (object: Loose, request: Attributes) => unknown;
  readonly message: string;
  readonly reason: string;
}

const hidden = 'failed';
const wrongs: Readonly<Record<string, Behaviour>> = {
  'changes kind': {
    phase: 'admit',
    act: (o) => void (o['kind'] = 'Secret'),
    message: 'changed kind from "ConfigMap" to "Secret"',
    reason: 'identity',
  },
  'changes apiVersion': {
    phase: 'admit',
    act: (o) => void (o['apiVersion'] = 'v2'),
    message: 'changed apiVersion from "v1" to "v2"',
    reason: 'identity',
  },
  'removes kind': { phase: 'admit', act: (o) => void delete o['kind'], message: 'changed kind from "ConfigMap" to ""', reason: 'identity' },
  'changes the name': {
    phase: 'admit',
    act: ({ metadata }) => void (metadata['name'] = 'other'),
    message: 'changed metadata.name from "wrong" to "other"',
    reason: 'identity',
  },
  'changes the namespace': {
    phase: 'admit',
    act: ({ metadata }) => void (metadata['namespace'] = 'kube-system'),
    message: 'changed metadata.namespace from "default" to "kube-system"',
    reason: 'identity',
  },
  'sets a uid': {
    phase: 'admit',
    act: ({ metadata }) => void (metadata['uid'] = 'mine'),
    message: 'changed metadata.uid from "" to "mine"',
    reason: 'identity',
  },
  'sets metadata to null': {
    phase: 'admit',
    act: (o) => void Object.assign(o, { metadata: null }),
    message: 'left an invalid object: metadata is null',
    reason: 'object',
  },
  'leaves a wrong type': {
    phase: 'admit',
    act: (o) => void (o['data'] = { a: 1 }),
    message: 'left an invalid object: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    reason: 'object',
  },
  'leaves an unknown field': {
    phase: 'admit',
    act: (o) => void (o['datum'] = {}),
    message: 'left an invalid object: strict decoding error: unknown field "datum"',
    reason: 'object',
  },
  'leaves a function': {
    phase: 'admit',
    act: (o) => void (o['data'] = { a: () => 1 }),
    message: 'left an object that is not JSON: data.a is a function',
    reason: 'object',
  },
  'leaves a BigInt': {
    phase: 'admit',
    act: (o) => void (o['data'] = { a: 1n }),
    message: 'left an invalid object: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    reason: 'object',
  },
  'leaves a Date': {
    phase: 'admit',
    act: ({ metadata }) => void (metadata['annotations'] = { at: new Date(0) }),
    message: 'left an object that is not JSON: metadata.annotations.at is an instance of Date',
    reason: 'object',
  },
  'leaves a cycle': {
    phase: 'admit',
    act: cycle,
    message: 'left an object that is not JSON: data.object.data is nested too deeply or contains itself',
    reason: 'object',
  },
  'leaves a getter that throws': {
    phase: 'admit',
    act: ({ metadata }) => {
      Object.defineProperty(metadata, 'labels', { enumerable: true, get: () => cycle(undefined as never) });
    },
    message: hidden,
    reason: 'error',
  },
  'changes the object in validate': {
    phase: 'validate',
    act: ({ metadata }) => void (metadata['labels'] = { validated: 'yes' }),
    message: 'changed /metadata/labels in `validate`, which must not change the object',
    reason: 'validate',
  },
  'changes kind in validate': {
    phase: 'validate',
    act: (o) => void (o['kind'] = 'Secret'),
    message: 'changed /kind in `validate`, which must not change the object',
    reason: 'validate',
  },
  'leaves a function in validate': {
    phase: 'validate',
    act: (o) => void (o['data'] = { a: () => 1 }),
    message: 'left an object that is not JSON: data.a is a function',
    reason: 'object',
  },
  'returns false': {
    phase: 'validate',
    act: () => false,
    message: 'returned a boolean: return nothing to admit a request, throw to deny it',
    reason: 'return',
  },
  'resolves to an object': {
    phase: 'admit',
    act: async (o) => o,
    message: 'returned an object: return nothing to admit a request, throw to deny it',
    reason: 'return',
  },
  'replaces the object': {
    phase: 'admit',
    act: (_, request) => void ((request as { object: unknown }).object = { kind: 'Secret' }),
    message: hidden,
    reason: 'error',
  },
  throws: {
    phase: 'admit',
    act: (o) => {
      o.metadata['labels'] = { half: 'done' };
      throw new TypeError('undefined is not a function');
    },
    message: hidden,
    reason: 'error',
  },
  'throws a string': {
    phase: 'validate',
    act: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw 'no';
    },
    message: hidden,
    reason: 'error',
  },
  'throws a Status of success': {
    phase: 'admit',
    act: () => {
      throw new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 200 });
    },
    message: hidden,
    reason: 'error',
  },
  'overflows the stack': {
    phase: 'admit',
    act: function again(o: Loose, r: Attributes): unknown {
      return [again(o, r)];
    },
    message: hidden,
    reason: 'error',
  },
  'rejects later': {
    phase: 'admit',
    act: async (o) => {
      o.metadata['labels'] = { half: 'done' };
      await sleep(1);
      throw new TypeError('undefined is not a function');
    },
    message: hidden,
    reason: 'error',
  },
  'hangs after half of a change': {
    phase: 'admit',
    act: (o) => {
      o.metadata['labels'] = { half: 'done' };
      return new Promise(() => {});
    },
    message: 'gave no answer within 50 ms',
    reason: 'timeout',
  },
};

@AdmissionPlugin({ name: 'Wrong', match: [{ resources: ['configmaps', 'pods'], operations: ['CREATE', 'UPDATE'] }] })
class Wrong {
  admit(request: Attributes): void {
    return this.#act('admit', request) as undefined;
  }
  validate(request: Attributes): void {
    return this.#act('validate', request) as undefined;
  }
  #act(phase: string, request: Attributes): unknown {
    const wrong = wrongs[request.object.metadata.annotations?.['be'] ?? ''];
    return wrong?.phase === phase ? wrong.act(request.object as unknown as Loose, request) : undefined;
  }
}

const guardOf = (failurePolicy: 'Fail' | 'Ignore') => ({
  plugin: Wrong as never,
  package: '@acme/wrong',
  guard: { timeoutMs: 50, failurePolicy },
});
const subject = 'admission plugin "Wrong" of package @acme/wrong';

async function stored(cluster: TestCluster, path: string): Promise<unknown> {
  return (await cluster.fetch(path)).json();
}

async function failures(cluster: TestCluster, reason: string): Promise<number> {
  const text = await (await cluster.fetch('/metrics')).text();
  const line = new RegExp(`^kubenest_plugin_failures_total\\{package="@acme/wrong",plugin="Wrong",reason="${reason}"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
}

describe.each(['Fail', 'Ignore'] as const)('with failurePolicy %s, a plugin that', (failurePolicy) => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({ plugins: [guardOf(failurePolicy)], quiet: true });
    expect((await cluster.fetch(maps, { body: { metadata: { name: 'present' } } })).status).toBe(201);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(Object.entries(wrongs))('%s affects only its request', async (be, { message, reason }) => {
    const before = await failures(cluster, reason);
    const metadata = { name: 'wrong', annotations: { be } };
    const response = await cluster.fetch(maps, { body: { metadata, data: { a: 'b' } }, headers: { [traceHeader]: '1' } });
    const answer = (await response.json()) as { message?: string };
    const isStored = failurePolicy === 'Ignore';
    if (isStored) {
      expect(answer).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
      expect(answer).not.toHaveProperty('metadata.labels');
    } else expect(answer).toMatchObject({ code: 500, reason: 'InternalError', message: `Internal error occurred: ${subject} ${message}` });
    const names = ['present', ...(isStored ? ['wrong'] : [])];
    const list = (await stored(cluster, maps)) as { items: KubeObject[] };
    expect(list.items.map(({ metadata: { name } }) => name).sort()).toEqual(names);
    expect(await failures(cluster, reason)).toBe(before + 1);
    const path = response.headers.get(traceHeader) ?? '';
    expect(JSON.stringify(await stored(cluster, path))).toContain(JSON.stringify(`${subject} ${message}`).slice(1, -1));
    await cluster.fetch(`${maps}/wrong`, { method: 'DELETE' });
  });

  it.each(Object.entries(wrongs))('%s does not change a stored object', async (be, { message }) => {
    const original = { metadata: { name: 'wrong' }, data: { a: 'b' } };
    expect((await cluster.fetch(maps, { body: original })).status).toBe(201);
    const patch = { metadata: { annotations: { be } } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer: unknown = await (await cluster.fetch(`${maps}/wrong`, { method: 'PATCH', body: patch, headers })).json();
    const current = await stored(cluster, `${maps}/wrong`);
    expect(current).toMatchObject({ ...original, kind: 'ConfigMap' });
    expect(current).not.toHaveProperty('metadata.labels');
    if (failurePolicy === 'Fail') {
      const shown = (answer as { message: string }).message.replace(/"[0-9a-f-]{36}"/, '""');
      expect(shown).toBe(`Internal error occurred: ${subject} ${message}`);
      expect(current).not.toHaveProperty('metadata.annotations');
    }
    await cluster.fetch(`${maps}/wrong`, { method: 'DELETE' });
  });
});

describe('changes of a plugin', () => {
  const seen: Attributes[] = [];

  @AdmissionPlugin({
    name: 'Sidecar',
    match: [
      { resources: ['pods', 'configmaps'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
      { groups: ['example.com', 'autoscaling'], resources: ['*'], operations: ['CREATE'] },
    ],
  })
  class Sidecar {
    admit(request: Attributes): void {
      const { object } = request;
      if (!object) return;
      const { spec } = object as unknown as { spec?: { containers?: object[] } };
      spec?.containers?.push({ name: 'sidecar', image: 'proxy' });
      if (object.kind === 'HorizontalPodAutoscaler') Object.assign(spec ?? {}, { minReplicas: null });
      (object.metadata.labels ??= {})['team'] = 'a';
      if (object.metadata.generateName) object.metadata.name = 'chosen';
    }
    validate(request: Attributes): void {
      seen.push(request);
      // Changes of what only informs the plugin have no effect.
      if (request.oldObject) request.oldObject.metadata.labels = { old: 'changed' };
      (request.user.groups as string[]).push('system:masters');
      (request.resource as { resource: string }).resource = 'secrets';
      (request.options as Record<string, unknown>)['dryRun'] = ['All'];
    }
  }

  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({
      plugins: [Sidecar],
      users: [{ name: 'jane' }],
      flags: ['--runtime-config=autoscaling/v2=false'],
      objects: [
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: 'jane' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
        } as unknown as KubeObject,
        {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: 'writer' },
          rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }],
        } as unknown as KubeObject,
      ],
    });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('are completed by the defaults of the kind', async () => {
    const response = await cluster.fetch(pods, { body: { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a' }] } } });
    expect(await response.json()).toMatchObject({
      metadata: { labels: { team: 'a' } },
      spec: { containers: [{}, { name: 'sidecar', imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log' }] },
    });
    expect(response.status).toBe(201);
  });

  it('are completed in the storage version, although it is disabled', async () => {
    const body = {
      metadata: { name: 'web' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    };
    const response = await cluster.fetch('/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers', { body });
    expect(await response.json()).toMatchObject({ metadata: { labels: { team: 'a' } }, spec: { minReplicas: 1, maxReplicas: 3 } });
  });

  it('may choose the name that generateName would', async () => {
    const response = await cluster.fetch(maps, { body: { metadata: { generateName: 'a-' } } });
    expect(await response.json()).toMatchObject({ metadata: { name: 'chosen' } });
  });

  it('after its call have no effect', async () => {
    expect((await cluster.fetch(maps, { body: { metadata: { name: 'late' } } })).status).toBe(201);
    const { object } = seen.at(-1) as Attributes;
    // The object is frozen; in strict mode, an assignment throws.
    expect(Reflect.set(object, 'kind', 'Secret')).toBe(false);
    expect(Reflect.set(object.metadata, 'labels', { team: 'late' })).toBe(false);
    expect(await stored(cluster, `${maps}/late`)).toMatchObject({ kind: 'ConfigMap', metadata: { labels: { team: 'a' } } });
  });

  it('to the user, the old object, the options and the resource have no effect', async () => {
    const jane = { as: 'jane' };
    expect((await cluster.fetch(maps, { body: { metadata: { name: 'hers', finalizers: ['example.com/a'] } }, ...jane })).status).toBe(201);
    for (let i = 0; i < 2; i += 1) {
      const deleted = (await (await cluster.fetch(`${maps}/hers`, { method: 'DELETE', ...jane })).json()) as KubeObject;
      expect(deleted.metadata.labels).toEqual({ team: 'a' });
    }
    expect((await cluster.fetch('/api/v1/namespaces/default/secrets', jane)).status).toBe(403);
  });

  it('keep others waiting for less than 100 ms if the object is large', async () => {
    const data = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`k${i}`, `v${i}`]));
    let slowest = 0;
    let last = threadMilliseconds();
    const ticks = setInterval(() => {
      slowest = Math.max(slowest, threadMilliseconds() - last);
      last = threadMilliseconds();
    }, 1);
    const response = await cluster.fetch(maps, { body: { metadata: { name: 'large' }, data } });
    clearInterval(ticks);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ metadata: { labels: { team: 'a' } } });
    expect(slowest).toBeLessThan(100);
  });
});

describe('a custom resource', () => {
  @AdmissionPlugin({ name: 'Widgets', match: [{ groups: ['example.com'], resources: ['widgets'], operations: ['CREATE'] }] })
  class Widgets {
    admit({ object }: Attributes): void {
      const { annotations } = object.metadata;
      if (annotations?.['be'] === 'unknown') Object.assign(object, { sepc: {} });
      if (annotations?.['be'] === 'metadata') Object.assign(object.metadata, { labels: { a: 1 } });
      if (annotations?.['be'] === 'right') Object.assign(object, { spec: {} });
    }
  }

  it('is checked by its definition, and its defaults are applied', async () => {
    const spec = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
    await using cluster = await startTestCluster({
      quiet: true,
      plugins: [Widgets],
      objects: [
        {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'widgets.example.com' },
          spec: {
            group: 'example.com',
            scope: 'Namespaced',
            names: { plural: 'widgets', kind: 'Widget' },
            versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
          },
        } as unknown as KubeObject,
      ],
    });
    const create = async (be: string): Promise<unknown> => {
      const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: be, annotations: { be } } };
      return (await cluster.fetch(widgets, { body })).json();
    };
    const failed = 'Internal error occurred: admission plugin "Widgets" left an invalid object:';
    expect(await create('unknown')).toMatchObject({ message: `${failed} strict decoding error: unknown field "sepc"` });
    expect(await create('metadata')).toMatchObject({ code: 500, message: expect.stringContaining(failed) as unknown });
    expect(await create('right')).toMatchObject({ spec: { size: 3 } });
  });
});
