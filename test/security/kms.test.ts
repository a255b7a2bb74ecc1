import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseEncryptionConfiguration } from '#cmd/config/encryption-configuration';
import { startTestCluster, type TestCluster } from '#testing/index';
import { type KmsKeys, startKms } from '../servers/kms-server.ts';

const canary = 'canary-9b21d4';
const encoded = Buffer.from(canary).toString('base64');
const secrets = '/api/v1/namespaces/default/secrets';
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token: canary } });

let folder: string;
let socket: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-kms-'));
  socket = join(folder, 'kms.sock');
});
afterEach(() => rm(folder, { recursive: true }));

/** Listens instead of the KMS until this many connections were accepted and closed. */
async function closedConnections(path: string, count: number): Promise<void> {
  const server = createServer((connection) => connection.destroy()).listen(path);
  for (let closed = 0; closed < count; closed += 1) await once(server, 'connection');
  await new Promise((resolve) => server.close(resolve));
}

const configuration = (providers: readonly object[], resources = ['secrets']): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  });
const kmsProvider = (path = socket, timeout = '300ms') => ({
  kms: { apiVersion: 'v2', name: 'vault', endpoint: `unix://${path}`, timeout },
});

async function start(
  providers: readonly object[] = [kmsProvider()],
  flags: readonly string[] = [],
  resources?: string[],
): Promise<TestCluster> {
  const file = join(folder, 'encryption.yaml');
  await writeFile(file, configuration(providers, resources));
  return startTestCluster({ storage: { file: join(folder, 'db') }, flags: [`--encryption-provider-config=${file}`, ...flags] });
}

async function stored(): Promise<string> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.startsWith('db'));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1').catch(() => '')))).join('\n');
}

async function tokenOf(cluster: TestCluster, name = 's'): Promise<unknown> {
  const found = (await (await cluster.fetch(`${secrets}/${name}`)).json()) as { data?: { token?: string }; message?: string };
  return found.data?.token ?? found.message;
}

async function rewrite(cluster: TestCluster): Promise<{ before: string; after: string }> {
  const present = (await (await cluster.fetch(`${secrets}/s`)).json()) as { metadata: { resourceVersion: string } };
  const written = (await (await cluster.fetch(`${secrets}/s`, { method: 'PUT', body: present })).json()) as typeof present;
  return { before: present.metadata.resourceVersion, after: written.metadata.resourceVersion };
}

it('the files never contain the plain text; each start uses its own data key and reads those of earlier starts', async () => {
  await using kms = await startKms(socket);
  // Counts calls, so retries must not happen.
  const patient = [kmsProvider(socket, '10s')];
  for (const name of ['a', 'b']) {
    await using cluster = await start(patient);
    expect((await cluster.fetch(secrets, { body: secret(name) })).status).toBe(201);
  }
  await using cluster = await start(patient);
  expect([await tokenOf(cluster, 'a'), await tokenOf(cluster, 'b')]).toEqual([encoded, encoded]);
  // The second start read the key of the first, the third both.
  expect(kms.calls).toMatchObject({ Encrypt: 3, Decrypt: 3 });
  const text = await stored();
  expect(text).toContain('k8s:enc:kms:v2:vault:');
  expect([text.includes(canary), text.includes(encoded)]).toEqual([false, false]);
});

it('a write of an unchanged object happens once the service has a new key, and not before', async () => {
  await using kms = await startKms(socket);
  {
    await using cluster = await start();
    await cluster.fetch(secrets, { body: secret('s') });
    const same = await rewrite(cluster);
    expect(same.after).toBe(same.before);
  }
  kms.rotate();
  await using cluster = await start();
  const first = await rewrite(cluster);
  expect(first.after).not.toBe(first.before);
  const second = await rewrite(cluster);
  expect(second.after).toBe(second.before);
});

it('transformations are counted, failures by the status of the service', { timeout: 60_000 }, async () => {
  const keys: KmsKeys = new Map();
  const counted = async (cluster: TestCluster): Promise<string[]> => {
    const text = await (await cluster.fetch('/metrics')).text();
    return text.split('\n').filter((line) => /^apiserver_storage_transformation_operations_total\{resource="secrets"/.test(line));
  };
  const labels = (type: string, status: string): string =>
    `{resource="secrets",status="${status}",transformation_type="${type}",transformer_prefix="k8s:enc:kms:v2:vault:"}`;
  {
    await using _kms = await startKms(socket, keys);
    await using cluster = await start();
    await cluster.fetch(secrets, { body: secret('s') });
    expect(await counted(cluster)).toContain(`apiserver_storage_transformation_operations_total${labels('to_storage', 'OK')} 1`);
  }
  await using kms = await startKms(socket, keys);
  kms.fault = 'refuses';
  await using cluster = await start([kmsProvider()], ['--storage-initialization-timeout=100ms']);
  expect(await counted(cluster)).toEqual([
    expect.stringContaining(`apiserver_storage_transformation_operations_total${labels('from_storage', 'Unavailable')} `),
  ]);
  kms.fault = 'none';
  await expect.poll(() => counted(cluster), { timeout: 5_000 }).toContainEqual(expect.stringContaining(labels('from_storage', 'OK')));
});

it('migrates from a local key to the service while running, and back', async () => {
  await using kms = await startKms(socket);
  const local = { secretbox: { keys: [{ name: 'a', secret: Buffer.alloc(32, 1).toString('base64') }] } };
  await using cluster = await start([local]);
  await cluster.fetch(secrets, { body: secret('s') });
  await cluster.app.reloadEncryption(parseEncryptionConfiguration(configuration([kmsProvider(), local])));
  const moved = await rewrite(cluster);
  expect(moved.after).not.toBe(moved.before);
  await cluster.app.reloadEncryption(parseEncryptionConfiguration(configuration([local, kmsProvider()])));
  const back = await rewrite(cluster);
  expect([back.after === back.before, await tokenOf(cluster)]).toEqual([false, encoded]);
  expect(kms.calls.Encrypt).toBe(2);
});

it('keeps its configuration if the service of a new one is unhealthy', async () => {
  await using cluster = await start([{ identity: {} }]);
  const next = parseEncryptionConfiguration(configuration([kmsProvider(join(folder, 'nobody.sock'))]));
  await expect(cluster.app.reloadEncryption(next)).rejects.toThrow(/kms-provider-0: failed to perform status section.*DeadlineExceeded/);
  expect((await cluster.fetch(secrets, { body: secret('s') })).status).toBe(201);
});

describe('a failing service', () => {
  it.each(['refuses', 'hangs'] as const)('%s: known keys still read and write, and the health check fails', async (fault) => {
    await using kms = await startKms(socket);
    await using cluster = await start();
    await cluster.fetch(secrets, { body: secret('s') });
    const health = async (path: string) => (await cluster.fetch(path)).status;
    expect(await health('/livez/kms-providers')).toBe(200);
    kms.fault = fault;
    expect([await tokenOf(cluster), (await cluster.fetch(secrets, { body: secret('t') })).status]).toEqual([encoded, 201]);
    expect(await health('/readyz/kms-providers')).toBe(200);
  });

  it('that is down at the start: nothing is written in plain text, and everything works once it is up', async () => {
    const keys: KmsKeys = new Map();
    await using cluster = await start();
    const refused = await cluster.fetch(secrets, { body: secret('s') });
    expect([refused.status, ((await refused.json()) as { message: string }).message]).toEqual([
      500,
      'Internal error occurred: unable to transform key "/registry/secrets/default/s": got unexpected nil transformer',
    ]);
    expect((await cluster.fetch('/healthz')).status).toBe(500);
    const checkText = await (await cluster.fetch('/livez/kms-providers')).text();
    expect(checkText).toMatch(
      /kms-provider-0: failed to perform status section of the healthz check for KMS Provider vault, error: rpc error: code = /,
    );
    expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } } })).status).toBe(201);
    await using _kms = await startKms(socket, keys);
    await expect.poll(async () => (await cluster.fetch('/livez/kms-providers')).status, { timeout: 15_000, interval: 500 }).toBe(200);
    expect((await cluster.fetch(secrets, { body: secret('s') })).status).toBe(201);
    expect(await stored()).not.toContain(canary);
  });

  it('that went down before a restart: other resources are served, affected requests report the reason, and it recovers', {
    timeout: 60_000,
  }, async () => {
    const keys: KmsKeys = new Map();
    {
      await using _kms = await startKms(socket, keys);
      await using cluster = await start();
      await cluster.fetch(secrets, { body: secret('s') });
    }
    await using cluster = await start([kmsProvider()], ['--storage-initialization-timeout=100ms']);
    const answer = async (path: string): Promise<[number, string]> => {
      const response = await cluster.fetch(path);
      return [response.status, await response.text()];
    };
    expect(await answer('/livez/kms-providers')).toEqual([500, expect.stringContaining('kms-provider-0: failed to perform status')]);
    expect(await answer('/readyz')).toEqual([500, expect.stringContaining('[-]informer-sync failed')]);
    expect(await answer('/readyz/informer-sync')).toEqual([500, expect.stringContaining('1 informers not started yet: [secrets]')]);
    expect((await answer('/api/v1/namespaces/default/configmaps'))[0]).toBe(200);
    expect((await cluster.fetch('/api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'c' } } })).status).toBe(201);
    const [status, text] = await answer(`${secrets}/s`);
    expect([status, text]).toEqual([500, expect.stringContaining('failed to decrypt DEK, error: ')]);
    expect(await answer(secrets)).toEqual([429, expect.stringContaining('storage is (re)initializing')]);
    await using _kms = await startKms(socket, keys);
    await expect.poll(async () => (await cluster.fetch('/readyz')).status, { timeout: 15_000, interval: 500 }).toBe(200);
    expect(await tokenOf(cluster)).toBe(encoded);
  });

  it('that everything depends on: the start continues once it is up', { timeout: 60_000 }, async () => {
    const keys: KmsKeys = new Map();
    const everything = ['*.*'];
    {
      await using _kms = await startKms(socket, keys);
      await using cluster = await start([kmsProvider()], [], everything);
      await cluster.fetch(secrets, { body: secret('s') });
    }
    const starting = start([kmsProvider()], ['--storage-initialization-timeout=100ms'], everything);
    await closedConnections(socket, 2);
    await using _kms = await startKms(socket, keys);
    await using cluster = await starting;
    await expect.poll(async () => (await cluster.fetch('/readyz')).status, { timeout: 15_000, interval: 500 }).toBe(200);
    expect(await tokenOf(cluster)).toBe(encoded);
  });

  it('under load: every successful write can be read again', async () => {
    await using kms = await startKms(socket);
    await using cluster = await start();
    const written: string[] = [];
    const worker = async (id: number): Promise<void> => {
      for (let i = 0; i < 20; i += 1) {
        const name = `s-${id}-${i}`;
        if ((await cluster.fetch(secrets, { body: secret(name) })).status === 201) written.push(name);
        if (i === 5) kms.fault = 'hangs';
        if (i === 15) kms.fault = 'none';
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, id) => worker(id)));
    expect(written).toHaveLength(200);
    expect(new Set(await Promise.all(written.map((name) => tokenOf(cluster, name))))).toEqual(new Set([encoded]));
  });
});

it('the metrics contain the status of the service but not its keys', async () => {
  await using _kms = await startKms(socket);
  await using cluster = await start();
  await cluster.fetch(secrets, { body: secret('s') });
  const metrics = await (await cluster.fetch('/metrics')).text();
  expect(metrics).toMatch(
    /apiserver_envelope_encryption_kms_operations_latency_seconds_count\{grpc_status_code="OK",method_name="\/v2.KeyManagementService\/Status",provider_name="vault"\} 1/,
  );
  expect(metrics).toMatch(
    /apiserver_envelope_encryption_key_id_hash_total\{.*key_id_hash="sha256:\w+",provider_name="vault",transformation_type="to_storage"/,
  );
  expect(metrics).not.toContain('key-1');
});

it.each([
  { name: 'v1', kms: { apiVersion: 'v1' }, want: 'KMSv1 is deprecated' },
  { name: 'a missing version', kms: { apiVersion: undefined }, want: 'KMSv1 is deprecated' },
  { name: 'a colon in the name', kms: { name: 'a:b' }, want: "invalid KMS provider name a:b, must not contain ':'" },
  { name: 'a missing name', kms: { name: undefined }, want: 'name is a mandatory field for a provider' },
  { name: 'a missing endpoint', kms: { endpoint: undefined }, want: 'endpoint is a mandatory field for a kms' },
  { name: 'tcp', kms: { endpoint: 'tcp://localhost:1' }, want: 'unsupported scheme "tcp" for KMS provider, only unix is supported' },
  { name: 'a zero timeout', kms: { timeout: '0s' }, want: 'timeout should be a positive value' },
  { name: 'a cache size', kms: { cachesize: 10 }, want: 'cachesize is not supported in v2' },
])('rejects $name', ({ kms, want }) => {
  const text = configuration([{ kms: { ...kmsProvider().kms, ...kms } }]);
  expect(() => parseEncryptionConfiguration(text)).toThrow(want);
});

it.each([
  { name: 'a duplicate resource', resources: [['secrets', 'secrets']], want: 'the same resource cannot be specified multiple times' },
  { name: 'a resource masked by a wildcard', resources: [['secrets', '*.']], want: 'using overlapping resources' },
  { name: 'a resource masked by all', resources: [['*.*', 'pods']], want: 'using overlapping resources' },
  {
    name: 'a resource masked by an earlier rule',
    resources: [['*.apps'], ['deployments.apps']],
    want: 'resource "deployments.apps" is masked by earlier rule "*.apps"',
  },
  { name: 'extensions', resources: [['*.extensions']], want: "'extensions' group has been removed" },
  {
    name: 'a resource without an API',
    resources: [['serviceipallocations']],
    want: 'resources which do not have REST API/s cannot be encrypted',
  },
])('rejects $name', ({ resources, want }) => {
  const rules = resources.map((names) => ({ resources: names, providers: [{ identity: {} }] }));
  const text = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: rules });
  expect(() => parseEncryptionConfiguration(text)).toThrow(want);
});
