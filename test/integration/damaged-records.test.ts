import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { startTestCluster, type TestCluster, type TestStorage } from '#testing/index';
import { absent, backendNames, type StartedBackend, startBackend } from '../servers/backends.ts';

const flags = ['--feature-gates=AllowUnsafeMalformedObjectDeletion=true'];
const maps = '/api/v1/namespaces/default/configmaps';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const ignore = { kind: 'DeleteOptions', apiVersion: 'v1', ignoreStoreReadErrorWithClusterBreakingPotential: true };

const definition = newDefinition({ kind: 'Widget', versions: ['v1', 'v2'] });

/** Records that a kubenest server never writes. */
const damages: readonly { readonly name: string; readonly value: string; readonly why: RegExp }[] = [
  { name: 'invalid JSON', value: 'not an object', why: /object not decodable revision=\d+: / },
  {
    name: 'an object of another kind',
    value: '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"bad","namespace":"default"}}\n',
    why: /Secret/,
  },
  { name: 'a list', value: '{"kind":"List","apiVersion":"v1","items":[]}\n', why: /List|no metadata/ },
  {
    name: 'truncated JSON',
    value: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"bad","namespace":"default"},"data":{"a',
    why: /object not decodable/,
  },
];

async function json(
  cluster: TestCluster,
  path: string,
  options?: Parameters<TestCluster['fetch']>[1],
): Promise<Status & { items?: KubeObject[] }> {
  return (await (await cluster.fetch(path, options)).json()) as Status & { items?: KubeObject[] };
}

const named = (cluster: TestCluster, path: string): Promise<string[] | undefined> =>
  json(cluster, path).then(({ items }) => items?.map(({ metadata }) => metadata.name ?? ''));

describe.each(backendNames)('%s', (name) => {
  describe.skipIf(absent[name])('a damaged record', () => {
    let backend: StartedBackend;
    let cluster: TestCluster;
    let folder: string;
    let storage: TestStorage;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'kubenest-damaged-'));
      backend = await startBackend(name);
      storage = backend.storage(join(folder, 'objects.db'));
      cluster = await startTestCluster({ storage, flags, objects: [definition] });
      for (const path of [maps, widgets, maps.replace('default', 'kube-system')])
        for (const good of ['a-good', 'z-good'])
          expect(
            (
              await cluster.fetch(path, {
                body:
                  path === widgets
                    ? { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: good } }
                    : { metadata: { name: good } },
              })
            ).status,
          ).toBe(201);
    }, 30_000);
    afterAll(async () => {
      await cluster[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    /** Writes a record bypassing the server. */
    async function damage(key: string, value: string): Promise<void> {
      const { storage: served } = cluster.app.storage;
      const store = (name === 'etcd' ? served['storage' as never] : served) as typeof served;
      await store.create(key, () => Buffer.from(value));
    }

    async function restart(): Promise<void> {
      await cluster[Symbol.asyncDispose]();
      cluster = await startTestCluster({ storage, flags });
    }

    describe.each([
      ['of a built-in kind', maps, '/configmaps/default/bad'],
      ['of a custom resource', widgets, '/example.com/widgets/default/bad'],
    ])('%s', (_, path, key) => {
      it.each(damages)(
        'that is $name is reported with its key, affects no other record, and can be deleted',
        async ({ value, why }) => {
          await damage(key, value);
          const check = async (): Promise<void> => {
            const failure = await json(cluster, `${path}/bad`);
            expect(failure).toMatchObject({ kind: 'Status', code: 500, reason: 'InternalError' });
            expect(failure.message).toContain(`Key: ${key}, `);
            expect(failure.message).toMatch(why);
            for (const query of ['', '?limit=2', '?labelSelector=a!%3Db', '?fieldSelector=metadata.name!%3Dx', '?resourceVersion=0']) {
              const listed = await json(cluster, path + query);
              expect([query, listed]).toMatchObject([
                query,
                { code: 500, reason: 'StorageReadError', details: { causes: [{ field: `/registry${key}` }] } },
              ]);
            }
            // Other objects, the pages before it and other scopes are unaffected.
            expect((await cluster.fetch(`${path}/z-good`)).status).toBe(200);
            expect(await named(cluster, `${path}?limit=1`)).toEqual(['a-good']);
            expect(await named(cluster, maps.replace('default', 'kube-system'))).toEqual(expect.arrayContaining(['a-good', 'z-good']));
            for (const [method, body] of [
              ['PUT', { metadata: { name: 'bad' } }],
              ['DELETE', undefined],
            ] as const) {
              const refused = await json(cluster, `${path}/bad`, {
                method,
                ...(body && {
                  body:
                    path === widgets
                      ? { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'bad', resourceVersion: '1' } }
                      : body,
                }),
              });
              expect([method, refused.code]).toEqual([method, 500]);
            }
          };
          await check();
          await restart();
          await check();
          expect(await json(cluster, `${path}/bad`, { method: 'DELETE', body: ignore })).toMatchObject({
            status: 'Success',
            details: { name: 'bad' },
          });
          expect(await named(cluster, path)).toEqual(expect.arrayContaining(['a-good', 'z-good']));
          expect((await cluster.fetch(`${path}/bad`)).status).toBe(404);
        },
        30_000,
      );
    });

    it('is the only object that the option deletes', async () => {
      const refusal = await json(cluster, `${maps}/a-good`, { method: 'DELETE', body: ignore });
      expect(refusal).toMatchObject({
        code: 422,
        message: expect.stringContaining('is exclusively used to delete corrupt object(s)') as string,
      });
      expect(await json(cluster, maps, { method: 'DELETE', body: ignore })).toMatchObject({
        code: 422,
        message: expect.stringContaining('is not allowed with DELETECOLLECTION') as string,
      });
    });
  });
});

describe('the file of the embedded store', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubenest-damaged-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('remains usable after the bytes of a value have changed', async () => {
    const file = join(folder, 'objects.db');
    {
      await using cluster = await startTestCluster({ storage: { file } });
      await cluster.fetch(maps, { body: { metadata: { name: 'bad' }, data: { a: 'the quick brown fox' } } });
      await cluster.fetch(maps, { body: { metadata: { name: 'good' } } });
    }
    const at = (await readFile(file)).indexOf('quick');
    await using handle = await open(file, 'r+');
    await handle.write('Q', at);
    await using cluster = await startTestCluster({ storage: { file }, flags, users: [{ name: 'jane', groups: ['system:masters'] }] });
    expect(await json(cluster, maps)).toMatchObject({
      code: 500,
      message: expect.stringContaining('"/registry/configmaps/default/bad"') as string,
    });
    expect((await cluster.fetch(`${maps}/good`)).status).toBe(200);
    expect((await json(cluster, `${maps}/bad`, { method: 'DELETE', body: ignore })).status).toBe('Success');
    expect(await named(cluster, maps)).toEqual(expect.arrayContaining(['good']));
  });
});

it('only users with the verb can delete unreadable objects', async () => {
  await using cluster = await startTestCluster({
    flags,
    users: [{ name: 'jane', groups: ['deleters'] }],
    objects: [
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'deleter' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'deleters' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deleter' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'deleters' }],
      },
    ],
  });
  await cluster.app.storage.storage.create('/configmaps/default/bad', () => Buffer.from('garbage'));
  expect(await json(cluster, `${maps}/bad`, { method: 'DELETE', body: ignore, as: 'jane' })).toMatchObject({
    code: 403,
    message: expect.stringMatching(
      /^configmaps "bad" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: /,
    ) as string,
  });
  expect((await json(cluster, `${maps}/bad`, { method: 'DELETE', body: ignore })).status).toBe('Success');
});

it('the option has no effect without its feature gate', async () => {
  await using cluster = await startTestCluster();
  await cluster.app.storage.storage.create('/configmaps/default/bad', () => Buffer.from('garbage'));
  expect((await json(cluster, `${maps}/bad`, { method: 'DELETE', body: ignore })).code).toBe(500);
  expect((await cluster.fetch(maps)).status).toBe(500);
});
