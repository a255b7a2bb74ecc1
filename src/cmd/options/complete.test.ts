import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { type CompletedOptions, completeOptions } from './complete.ts';
import { readServerOptions } from './read-server-options.ts';
import { OptionsError } from './options-error.ts';

/** Addresses by which other hosts reach this one. */
const hostAddresses = Object.values(networkInterfaces()).flatMap((addresses = []) =>
  addresses.filter(({ address, internal }) => !internal && !address.startsWith('fe80:')).map(({ address }) => address),
);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-complete-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function complete(...args: string[]): Promise<CompletedOptions> {
  const command = await readServerOptions([`--data-dir=${folder}/data`, ...args]);
  if (!('options' in command)) throw new Error('no options');
  return completeOptions(command.options);
}

async function problemsOf(...args: string[]): Promise<readonly string[]> {
  return complete(...args).then(
    () => [],
    (error: unknown) => {
      if (error instanceof OptionsError) return error.problems;
      throw error;
    },
  );
}

const leafOf = ({ config }: CompletedOptions): X509Certificate => new X509Certificate(config.serving?.certificate.cert ?? '');

test('creates everything once in the data folder without flags', async () => {
  const first = await complete();
  expect((await readdir(join(folder, 'data/pki'))).sort()).toEqual([
    'admin.crt',
    'admin.key',
    'apiserver-kubelet-client.crt',
    'apiserver-kubelet-client.key',
    'apiserver.crt',
    'apiserver.key',
    'ca.crt',
    'ca.key',
    'front-proxy-ca.crt',
    'front-proxy-ca.key',
    'front-proxy-client.crt',
    'front-proxy-client.key',
    'sa.key',
    'sa.pub',
  ]);
  expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'data/pki/ca.key'))).mode & 0o777).toBe(0o600);
  expect(first.config.storage).toMatchObject({ backend: 'embedded', file: join(folder, 'data/kubenest.db') });
  expect(first.url).toBe('https://127.0.0.1:6443');
  const second = await complete();
  expect(leafOf(second).fingerprint256).toBe(leafOf(first).fingerprint256);
  expect(second.admin).toEqual(first.admin);
});

test('uses the same certificates for two simultaneous first starts', async () => {
  const [one, other] = await Promise.all([complete(), complete()]);
  expect(leafOf(one).fingerprint256).toBe(leafOf(other).fingerprint256);
});

test('creates the certificates that clients need', async () => {
  const { admin, config } = await complete();
  const ca = new X509Certificate(config.authentication.clientCa ?? '');
  const serving = leafOf({ config } as CompletedOptions);
  const client = new X509Certificate(admin?.client.cert ?? '');
  expect([serving, client].map((certificate) => certificate.verify(ca.publicKey))).toEqual([true, true]);
  expect([serving.keyUsage, client.keyUsage]).toEqual([['1.3.6.1.5.5.7.3.1'], ['1.3.6.1.5.5.7.3.2']]);
  expect(client.subject).toBe('O=system:masters\nCN=kubernetes-admin');
  for (const name of ['localhost', 'kubernetes.default.svc']) expect(serving.checkHost(name)).toBe(name);
  for (const address of ['127.0.0.1', '::1', '10.0.0.1']) expect(serving.checkIP(address)).toBe(address);
  expect([ca.ca, serving.ca]).toEqual([true, false]);
});

test('signs service account tokens with its own key or a named one', async () => {
  const own = await complete('--service-account-max-token-expiration=2h', '--service-node-port-range=31000-31009');
  expect(own.config.serviceAccounts).toEqual({
    issuer: 'https://kubernetes.default.svc',
    signingKey: await readFile(join(folder, 'data/pki/sa.key'), 'utf8'),
    apiAudiences: ['https://kubernetes.default.svc'],
    maxExpirationSeconds: 7_200,
    extendsExpiration: true,
  });
  expect(own.config.controlPlane).toMatchObject({ serviceNodePortRange: { base: 31_000, size: 10 }, endpointReconcilerType: 'lease' });
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  await writeFile(join(folder, 'mine.key'), key);
  const named = await complete(
    `--service-account-signing-key-file=${folder}/mine.key`,
    '--service-account-issuer=me',
    '--api-audiences=a,b',
  );
  expect(named.config.serviceAccounts).toMatchObject({ issuer: 'me', signingKey: key, apiAudiences: ['a', 'b'] });
});

test.each<[flags: string[], names: string[]]>([
  [[], ['localhost', 'kubernetes', hostname(), '127.0.0.1', '::1', '10.0.0.1']],
  [['--bind-address=192.0.2.1'], ['192.0.2.1']],
  [['--service-cluster-ip-range=10.9.0.0/16'], ['10.9.0.1']],
  [['--advertise-address=192.0.2.2'], ['192.0.2.2']],
  [['--external-hostname=api.example.com'], ['api.example.com']],
  [['--bind-address=0.0.0.0'], hostAddresses],
])('with %j issues a serving certificate for %j, replacing one for other names', async (flags, names) => {
  const first = leafOf(await complete());
  const second = leafOf(await complete(...flags));
  for (const name of names) expect(isIP(name) ? second.checkIP(name) : second.checkHost(name), name).toBe(name);
  const known = names.every((name) => (isIP(name) ? first.checkIP(name) : first.checkHost(name)) !== undefined);
  expect(second.fingerprint256 === first.fingerprint256).toBe(known);
  // A certificate that already covers the names is not replaced.
  expect(leafOf(await complete(...flags)).fingerprint256).toBe(second.fingerprint256);
});

test('writes keys as SEC1, which Java clients can read', async () => {
  const { admin } = await complete();
  expect(admin?.client.key).toMatch(/^-----BEGIN EC PRIVATE KEY-----/);
});

describe('front proxy certificates', () => {
  test("are signed by the server's own authority", async () => {
    const { config } = await complete();
    const { clientCa, ...headers } = config.authentication.requestHeader ?? { clientCa: '' };
    expect(clientCa).toBe(await readFile(join(folder, 'data/pki/front-proxy-ca.crt'), 'utf8'));
    expect(config.controlPlane?.requestHeader?.clientCa).toBe(clientCa);
    expect(headers).toEqual({
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: ['X-Remote-Uid'],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
      allowedNames: ['front-proxy-client'],
    });
    const shown = new X509Certificate(config.aggregation?.clientCertificate?.cert ?? '');
    expect([shown.subject, shown.verify(new X509Certificate(clientCa).publicKey)]).toEqual(['CN=front-proxy-client', true]);
  });

  test('do not exist if another authority signs client certificates', async () => {
    await complete();
    const { config } = await complete(`--client-ca-file=${folder}/data/pki/ca.crt`);
    expect([config.authentication.requestHeader, config.aggregation?.clientCertificate]).toEqual([undefined, undefined]);
  });

  test('are renewed before they expire', async () => {
    const first = await complete();
    vi.setSystemTime(Date.now() + 340 * 86_400_000);
    try {
      const second = await complete();
      const [before, after] = [first, second].map(({ config }) => new X509Certificate(config.aggregation?.clientCertificate?.cert ?? ''));
      expect(after?.validToDate.getTime()).toBeGreaterThan(before?.validToDate.getTime() ?? 0);
      expect(second.config.authentication.requestHeader).toEqual(first.config.authentication.requestHeader);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('creates a service account key whatever other files are given', async () => {
  const made = await complete();
  await rm(join(folder, 'data'), { recursive: true });
  const pki = join(folder, 'given');
  await mkdir(pki);
  const [serving] = made.tlsFiles;
  expect(serving).toBeDefined();
  await writeFile(join(pki, 'ca.crt'), made.config.authentication.clientCa ?? '');
  const completed = await complete(`--client-ca-file=${pki}/ca.crt`, `--cert-dir=${pki}`);
  expect(completed.config.serviceAccounts?.signingKey).toBe(await readFile(join(folder, 'data/pki/sa.key'), 'utf8'));
  expect(completed.config.authentication.serviceAccounts?.keys).toHaveLength(1);
  // The server also accepts tokens of key files that others provide.
  const other = await complete(`--service-account-key-file=${folder}/data/pki/ca.key`);
  expect(other.config.authentication.serviceAccounts?.keys).toHaveLength(2);
});

test('does not create an unused data folder', async () => {
  const { config } = await complete();
  await writeFile(join(folder, 'sa.key'), String(config.serviceAccounts?.signingKey));
  await writeFile(join(folder, 'ca.crt'), config.authentication.clientCa ?? '');
  await rm(join(folder, 'data'), { recursive: true });
  await complete(
    `--client-ca-file=${folder}/ca.crt`,
    `--service-account-signing-key-file=${folder}/sa.key`,
    `--cert-dir=${folder}/certs`,
    '--etcd-servers=http://127.0.0.1:1',
  );
  await expect(stat(join(folder, 'data'))).rejects.toThrow('ENOENT');
});

describe('--cert-dir', () => {
  test('creates a self-signed pair in an empty folder', async () => {
    const completed = await complete(`--cert-dir=${folder}/certs`);
    expect((await readdir(join(folder, 'certs'))).sort()).toEqual(['apiserver.crt', 'apiserver.key']);
    const trusted = new X509Certificate(completed.admin?.ca ?? '');
    expect(leafOf(completed).verify(trusted.publicKey)).toBe(true);
    expect(leafOf(await complete(`--cert-dir=${folder}/certs`)).fingerprint256).toBe(leafOf(completed).fingerprint256);
  });

  test('uses an existing pair unchanged', async () => {
    const pair = await (await Authority.create('x')).issue({ commonName: 'mine', names: ['mine.example'], usages: ['server'] });
    await mkdir(join(folder, 'certs'));
    await writeFile(join(folder, 'certs/apiserver.crt'), pair.cert);
    await writeFile(join(folder, 'certs/apiserver.key'), pair.key);
    expect(leafOf(await complete(`--cert-dir=${folder}/certs`)).subject).toBe('CN=mine');
  });

  test('rejects an incomplete pair', async () => {
    await mkdir(join(folder, 'certs'));
    await writeFile(join(folder, 'certs/apiserver.crt'), 'x');
    expect((await problemsOf(`--cert-dir=${folder}/certs`))[0]).toBe(
      `--cert-dir: ${folder}/certs has apiserver.crt but no apiserver.key: provide both or neither`,
    );
  });
});

test('reads named files: certificates, SNI certificates, authorities, tokens', async () => {
  const authority = await Authority.create('mine');
  const main = await authority.issue({ commonName: 'main', names: ['main.example'], usages: ['server'] });
  const other = await authority.issue({ commonName: 'other', names: ['other.example', '192.0.2.9'], usages: ['server'] });
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const completed = await complete(
    `--tls-cert-file=${await write('main.crt', main.cert)}`,
    `--tls-private-key-file=${await write('main.key', main.key)}`,
    `--tls-sni-cert-key=${await write('other.crt', other.cert)},${await write('other.key', other.key)}`,
    `--client-ca-file=${await write('ca.crt', authority.pair.cert)}`,
    `--token-auth-file=${await write('tokens.csv', 'secret,somebody,,"a,b"\n')}`,
    '--tls-min-version=VersionTLS13',
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256',
  );
  expect(leafOf(completed).subject).toBe('CN=main');
  expect(completed.config.serving).toMatchObject({
    minVersion: 'TLSv1.3',
    cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'],
    sniCertificates: [{ names: ['other.example', '192.0.2.9'] }],
  });
  expect([...(completed.config.authentication.tokens?.values() ?? [])]).toEqual([{ name: 'somebody', uid: '', groups: ['a', 'b'] }]);
  // With a given client authority, the server issues no administrator certificate.
  expect(completed.admin).toBeUndefined();
  expect(await readdir(join(folder, 'data'))).toEqual(['pki']);
  await writeFile(join(folder, 'main.key'), other.key);
  await expect(completed.readTls()).rejects.toThrow(`the key of ${folder}/main.key does not match the certificate of ${folder}/main.crt`);
});

test('reports all invalid files', async () => {
  await writeFile(join(folder, 'empty.crt'), '');
  const problems = await problemsOf(
    '--tls-cert-file=/nope.crt',
    '--tls-private-key-file=/nope.key',
    `--client-ca-file=${folder}/empty.crt`,
    '--token-auth-file=/nope.csv',
  );
  expect(problems).toEqual([
    `serving certificates: ${folder}/empty.crt: data does not contain any valid RSA or ECDSA certificates`,
    expect.stringMatching(/^serving certificates: cannot open .nope.(crt|key): there is no such file or folder$/),
    '--token-auth-file: cannot open /nope.csv: there is no such file or folder',
  ]);
});

test('reports a data folder that cannot be created', async () => {
  await writeFile(join(folder, 'data'), '');
  await chmod(join(folder, 'data'), 0o600);
  expect((await problemsOf())[0]).toContain(`--data-dir ${folder}/data: `);
});

test('--ephemeral leaves no files', async () => {
  const command = await readServerOptions(['--ephemeral']);
  if (!('options' in command)) throw new Error('no options');
  const completed = await completeOptions(command.options);
  expect(completed.config.storage).toMatchObject({ backend: 'embedded', file: undefined });
  const [cert = ''] = completed.tlsFiles;
  expect(await readFile(cert, 'utf8')).toContain('BEGIN CERTIFICATE');
  await completed.dispose();
  await expect(stat(cert)).rejects.toThrow('ENOENT');
});

test.each([
  ['0.0.0.0', 'https://127.0.0.1:6443'],
  ['::', 'https://127.0.0.1:6443'],
  ['::1', 'https://[::1]:6443'],
  ['192.0.2.1', 'https://192.0.2.1:6443'],
])('clients on this machine reach bind address %s by %s', async (address, url) => {
  expect((await complete(`--bind-address=${address}`)).url).toBe(url);
});

test('requires the API of storage versions for their gate', async () => {
  const gate = '--feature-gates=StorageVersionAPI=true';
  expect(await problemsOf(gate)).toEqual([
    '--feature-gates StorageVersionAPI=true needs --runtime-config=internal.apiserver.k8s.io/v1alpha1=true',
  ]);
  const { config } = await complete('--feature-gates=AllAlpha=true,AllBeta=true');
  expect(['StorageVersionAPI', 'CoordinatedLeaderElection', 'GenericWorkload'].map((name) => config.features?.enabled(name))).toEqual([
    false,
    false,
    true,
  ]);
  expect(await problemsOf(gate, '--runtime-config=internal.apiserver.k8s.io/v1alpha1=true')).toEqual([]);
});
