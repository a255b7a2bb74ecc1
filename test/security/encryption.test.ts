import { newDefinition } from '#apiextensions-apiserver/testing/new-definition';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';

const canary = 'canary-7f3a1c';
const key = (name: string) => ({ name, secret: randomBytes(32).toString('base64') });
const secrets = '/api/v1/namespaces/default/secrets';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-encryption-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function start(providers: readonly object[], resources: readonly string[] = ['secrets']): Promise<TestCluster> {
  const config = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [{ resources, providers }] };
  await writeFile(join(folder, 'encryption.yaml'), JSON.stringify(config));
  return startTestCluster({ storage: { file: join(folder, 'db') }, flags: [`--encryption-provider-config=${folder}/encryption.yaml`] });
}

/** Returns all bytes in the store's files. */
async function stored(): Promise<string> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name !== 'encryption.yaml');
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1').catch(() => '')));
  return files.join('\n');
}

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { token: canary } };
const encoded = Buffer.from(canary).toString('base64');
async function tokenOf(cluster: TestCluster): Promise<string> {
  return ((await (await cluster.fetch(`${secrets}/s`)).json()) as { data: { token: string } }).data.token;
}

it.each(['aesgcm', 'aescbc', 'secretbox'])(
  '%s: the files never contain the plain text, and a restarted server reads the objects',
  async (kind) => {
    const provider = { [kind]: { keys: [key('a')] } };
    {
      await using cluster = await start([provider]);
      await cluster.fetch(secrets, { body: secret });
      await cluster.fetch(`${secrets}/s`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { data: { more: encoded } },
      });
      expect(await tokenOf(cluster)).toBe(encoded);
    }
    const text = await stored();
    expect(text).toContain(`k8s:enc:${kind}:v1:a:`);
    expect([text.includes(canary), text.includes(encoded)]).toEqual([false, false]);
    await using again = await start([provider]);
    expect(await tokenOf(again)).toBe(encoded);
  },
);

it.each([
  { name: 'of one version', versions: ['v1'] },
  { name: 'in another version than the stored one', versions: ['v1', 'v1beta1'] },
])('key rotation: a write without changes of a custom resource $name uses the new key', async ({ versions }) => {
  const [old, next] = [key('old'), key('next')];
  const definition = newDefinition({
    kind: 'Safe',
    group: 'test.dev',
    versions,
    schema: { type: 'object', properties: { token: { type: 'string' } } },
  });
  const version = versions.at(-1) as string;
  const safes = `/apis/test.dev/${version}/namespaces/default/safes`;
  const resources = ['safes.test.dev'];
  {
    await using cluster = await start([{ aesgcm: { keys: [old] } }], resources);
    await cluster.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
    await expect
      .poll(async () => {
        const body = { apiVersion: `test.dev/${version}`, kind: 'Safe', metadata: { name: 's' }, token: canary };
        return (await cluster.fetch(safes, { body })).status;
      })
      .toBe(201);
  }
  {
    await using cluster = await start([{ aesgcm: { keys: [next, old] } }], resources);
    const present = (await (await cluster.fetch(`${safes}/s`)).json()) as object;
    expect((await cluster.fetch(`${safes}/s`, { method: 'PUT', body: present })).status).toBe(200);
  }
  await using cluster = await start([{ aesgcm: { keys: [next] } }], resources);
  expect(await (await cluster.fetch(`${safes}/s`)).json()).toMatchObject({ token: canary });
});

it('key rotation: the old key still reads, and a write without changes uses the new key', async () => {
  const [old, next] = [key('old'), key('next')];
  {
    await using cluster = await start([{ aesgcm: { keys: [old] } }]);
    await cluster.fetch(secrets, { body: secret });
  }
  {
    await using cluster = await start([{ aesgcm: { keys: [next, old] } }]);
    const present = (await (await cluster.fetch(`${secrets}/s`)).json()) as object;
    expect((await cluster.fetch(`${secrets}/s`, { method: 'PUT', body: present })).status).toBe(200);
  }
  expect(await stored()).toContain('k8s:enc:aesgcm:v1:next:');
  await using cluster = await start([{ aesgcm: { keys: [next] } }]);
  expect(await tokenOf(cluster)).toBe(encoded);
});

it('only the configured resources are encrypted', async () => {
  await using cluster = await start([{ aesgcm: { keys: [key('a')] } }], ['configmaps', '*.apps']);
  await cluster.fetch(secrets, { body: secret });
  expect(await stored()).toContain(encoded);
});

it('reports configuration errors without keys', async () => {
  const wrong = [{ aesgcm: { keys: [{ name: 'a', secret: 'c2hvcnQ=' }] } }, { kms: { name: 'k', endpoint: 'unix:///k' } }];
  const refused = start(wrong, ['*', 'Secrets']);
  await expect(refused).rejects.toThrow(/REDACTED.*got 5, expected one of \[16 24 32\]/);
  await expect(start(wrong)).rejects.toThrow('Use KMSv2 instead (apiVersion: v2)');
  await expect(start(wrong)).rejects.not.toThrow('c2hvcnQ=');
});
