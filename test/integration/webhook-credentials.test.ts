import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ExecCredentials, readExecConfig } from '#apiserver/network/webhook/exec-credentials';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import { readKubeconfig } from '#apiserver/network/webhook/kubeconfig';
import { TokenFile } from '#apiserver/network/webhook/token-file';
import { Authority } from '#cmd/certificates/issue';
import { startTestCluster } from '#testing/index';

const v1 = 'client.authentication.k8s.io/v1';
const folder = await mkdtemp(join(tmpdir(), 'kubenest-exec-'));
const authority = await Authority.create('exec-ca');
const serving = await authority.issue({ commonName: 'service', names: ['127.0.0.1'], usages: ['server'] });
const file = (name: string): string => join(folder, name);
await writeFile(file('ca.crt'), authority.pair.cert);

/** Notes what it was told, and says what `says` holds. */
await writeFile(
  file('program.mjs'),
  `#!${process.execPath}
import { appendFileSync, readFileSync } from 'node:fs';
const { KUBERNETES_EXEC_INFO: info, GREETING: greeting } = process.env;
appendFileSync(${JSON.stringify(file('runs'))}, JSON.stringify({ info: JSON.parse(info), greeting, args: process.argv.slice(2) }) + '\\n');
process.stdout.on('error', () => {});
const { output, code } = JSON.parse(readFileSync(${JSON.stringify(file('says'))}, 'utf8'));
process.stdout.write(output);
process.exitCode = code;
`,
);
await chmod(file('program.mjs'), 0o755);

const say = (status: object | undefined, { apiVersion = v1, code = 0 } = {}): Promise<void> =>
  writeFile(file('says'), JSON.stringify({ output: JSON.stringify({ kind: 'ExecCredential', apiVersion, status }), code }));
const runs = async (): Promise<{ info: { spec: object }; greeting: string; args: string[] }[]> =>
  (await readFile(file('runs'), 'utf8')).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as never]));

/** Answers with who asked, and 401 to a token that is `bad`. */
const service = createServer(
  { cert: serving.cert, key: serving.key, ca: authority.pair.cert, requestCert: true, rejectUnauthorized: false },
  (request, response) => {
    const { authorization = '' } = request.headers;
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    response.statusCode = authorization === 'Bearer bad' ? 401 : 200;
    void json(request).then((body) => {
      const { kind, apiVersion } = body as Record<string, string>;
      const status = kind === 'SubjectAccessReview' ? { allowed: authorization === 'Bearer good' } : undefined;
      response.end(JSON.stringify({ kind, apiVersion, authorization, certificate: subject?.CN, status }));
    });
  },
);
service.listen(0, '127.0.0.1');
await once(service, 'listening');
const server = `https://127.0.0.1:${(service.address() as AddressInfo).port}`;
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await rm(folder, { recursive: true });
});

let config = 0;
beforeEach(() => writeFile(file('runs'), ''));

/** A kubeconfig file whose user has that `exec`, each with arguments of its own, so that no other's credentials count for it. */
async function kubeconfig(exec: object = {}): Promise<string> {
  config += 1;
  const user = { exec: { apiVersion: v1, command: './program.mjs', args: [String(config)], interactiveMode: 'Never', ...exec } };
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }];
  await writeFile(
    file('kubeconfig'),
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority': 'ca.crt', extensions } }],
      users: [{ name: 'u', user }],
    }),
  );
  return file('kubeconfig');
}

const client = async (exec?: object): Promise<JsonClient> =>
  new JsonClient(await readKubeconfig(await kubeconfig(exec)), { timeoutMs: 20_000, retryMs: 0 });

describe('a client whose token a file has', () => {
  const tokenFile = async (token: string): Promise<JsonClient> => {
    await writeFile(file('token'), token);
    const connection = { ...(await readKubeconfig(await kubeconfig())), exec: undefined, tokenFile: file('token') };
    return new JsonClient(connection, { timeoutMs: 20_000, retryMs: 0 });
  };

  it('shows another one after it was refused', async () => {
    using asking = await tokenFile('bad\n');
    await expect(asking.post({})).rejects.toThrow('the service answered 401');
    await writeFile(file('token'), 'good\n');
    expect((await asking.post({}))['authorization']).toBe('Bearer good');
  });

  it('reads it again after a while, and keeps it while the file cannot be read', async () => {
    let now = 0;
    await writeFile(file('token'), 'first');
    const token = new TokenFile(file('token'), undefined, () => now);
    const first = await token.get();
    await writeFile(file('token'), 'second');
    now = 49_999;
    expect(await token.get()).toBe(first);
    now = 50_000;
    expect((await token.get()).token).toBe('second');
    await rm(file('token'));
    now = 200_000;
    expect((await token.get()).token).toBe('second');
  });

  it('fails where the file has none', async () => {
    await writeFile(file('token'), '\n');
    await expect(new TokenFile(file('token'), undefined).get()).rejects.toThrow(`read empty token from file "${file('token')}"`);
  });
});

describe('a client whose credentials a program knows', () => {
  it('shows the token, which the program is asked for once, and tells it of the cluster', async () => {
    await say({ token: 'good' });
    using asking = await client({ provideClusterInfo: true, env: [{ name: 'GREETING', value: 'hello' }] });
    const answers = await Promise.all([1, 2, 3].map(() => asking.post({})));
    expect(answers.map(({ authorization }) => authorization)).toEqual(['Bearer good', 'Bearer good', 'Bearer good']);
    const ca = Buffer.from(authority.pair.cert).toString('base64');
    const cluster = { server, 'certificate-authority-data': ca, config: { audience: 'a' } };
    const info = { kind: 'ExecCredential', apiVersion: v1, spec: { cluster, interactive: false } };
    expect(await runs()).toEqual([{ info, greeting: 'hello', args: [String(config)] }]);
  });

  it('asks again when they have expired', async () => {
    await say({ token: 'old', expirationTimestamp: '2020-01-01T00:00:00Z' });
    using asking = await client();
    expect((await asking.post({}))['authorization']).toBe('Bearer old');
    await say({ token: 'new', expirationTimestamp: '2999-01-01T00:00:00Z' });
    expect((await asking.post({}))['authorization']).toBe('Bearer new');
    expect((await asking.post({}))['authorization']).toBe('Bearer new');
    expect(await runs()).toHaveLength(2);
  });

  it('asks again when the service has refused them', async () => {
    await say({ token: 'bad' });
    using asking = await client();
    await expect(asking.post({})).rejects.toThrow('the service answered 401');
    await say({ token: 'good' });
    await expect
      .poll(async () => ((await asking.post({}).catch(() => ({}))) as Record<string, unknown>)['authorization'])
      .toBe('Bearer good');
  });

  it('shows the certificate, on new connections when it is another one', async () => {
    const [first, second] = await Promise.all(['first', 'second'].map((commonName) => authority.issue({ commonName, usages: ['client'] })));
    const shown = (pair = first) =>
      say({ clientCertificateData: pair?.cert, clientKeyData: pair?.key, expirationTimestamp: '2020-01-01T00:00:00Z' });
    await shown();
    using asking = await client();
    expect((await asking.post({}))['certificate']).toBe('first');
    expect((await asking.post({}))['certificate']).toBe('first');
    await shown(second);
    expect((await asking.post({}))['certificate']).toBe('second');
  });

  it.each<{ name: string; said: () => Promise<void>; exec?: object; fails: RegExp }>([
    { name: 'no status', said: () => say(undefined), fails: /^getting credentials: exec plugin didn't return a status field$/ },
    { name: 'nothing', said: () => say({}), fails: /exec plugin didn't return a token or cert\/key pair$/ },
    { name: 'half a pair', said: () => say({ clientKeyData: 'k' }), fails: /exec plugin returned only certificate or key, not both$/ },
    {
      name: 'no pair',
      said: () => say({ clientKeyData: 'k', clientCertificateData: 'c' }),
      fails: /failed parsing client key\/certificate: /,
    },
    {
      name: 'another version',
      said: () => say({ token: 't' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      fails:
        /exec plugin is configured to use API version client.authentication.k8s.io\/v1, plugin returned version client.authentication.k8s.io\/v1beta1$/,
    },
    { name: 'no time', said: () => say({ token: 't', expirationTimestamp: 'soon' }), fails: /decoding stdout: parsing time "soon"/ },
    {
      name: 'what is no object',
      said: () => writeFile(file('says'), JSON.stringify({ output: '{', code: 0 })),
      fails: /decoding stdout: /,
    },
    {
      name: 'too much',
      said: () => writeFile(file('says'), JSON.stringify({ output: 'x'.repeat(2 << 20), code: 0 })),
      fails: /wrote more than 1048576 bytes$/,
    },
    {
      name: 'that it failed',
      said: () => say({ token: 't' }, { code: 3 }),
      fails: /exec: executable .*program\.mjs failed with exit code 3$/,
    },
    {
      name: 'nothing, since it is not there',
      said: () => say({}),
      exec: { command: 'no-such-program', installHint: 'install it' },
      fails: /exec: executable no-such-program not found\n\ninstall it$/,
    },
  ])('fails where the program says $name', async ({ said, exec, fails }) => {
    await said();
    using asking = await client(exec);
    await expect(asking.post({})).rejects.toThrow(fails);
  });

  it('waits for the program no longer than for the service', async () => {
    await appendFile(file('slow.mjs'), `#!${process.execPath}\nsetTimeout(() => process.stdout.write('{}'), 1_000);\n`);
    await chmod(file('slow.mjs'), 0o755);
    const connection = await readKubeconfig(await kubeconfig({ command: './slow.mjs' }));
    using asking = new JsonClient(connection, { timeoutMs: 50, retryMs: 0 });
    await expect(asking.post({})).rejects.toThrow('context deadline exceeded');
  });
});

it.each<{ name: string; exec: object; fails: RegExp }>([
  { name: 'no command', exec: { command: '' }, fails: /kubeconfig: command must be specified for u to use exec authentication plugin$/ },
  { name: 'no version', exec: { apiVersion: '' }, fails: /apiVersion must be specified for u/ },
  {
    name: 'an old version',
    exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
    fails: /exec plugin: invalid apiVersion "client.authentication.k8s.io\/v1alpha1"$/,
  },
  { name: 'no mode in v1', exec: { interactiveMode: undefined }, fails: /interactiveMode must be specified for u/ },
  { name: 'an unknown mode', exec: { interactiveMode: 'Sometimes' }, fails: /invalid interactiveMode for u: "Sometimes"$/ },
  { name: 'a variable without a name', exec: { env: [{ value: 'x' }] }, fails: /env variable name must be specified for u/ },
])('a kubeconfig file is refused for an exec with $name', async ({ exec, fails }) => {
  await expect(readKubeconfig(await kubeconfig(exec))).rejects.toThrow(fails);
});

it.each([
  { mode: 'IfAvailable', terminal: false, interactive: false },
  { mode: 'IfAvailable', terminal: true, interactive: true },
  { mode: undefined, terminal: true, interactive: true },
  { mode: 'Never', terminal: true, interactive: false },
])('a program of v1beta1 in mode $mode, terminal $terminal', async ({ mode, terminal, interactive }) => {
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  await say({ token: 't' }, { apiVersion });
  const exec = readExecConfig({ command: './program.mjs', apiVersion, interactiveMode: mode }, 'u', folder, undefined);
  const { token } = await new ExecCredentials(exec, { server }, Date.now, () => terminal).get();
  expect([token, (await runs()).map(({ info }) => info.spec)]).toEqual(['t', [{ interactive }]]);
});

it('a program that must be interactive has a terminal', async () => {
  const exec = readExecConfig({ command: './program.mjs', apiVersion: v1, interactiveMode: 'Always' }, 'u', folder, undefined);
  await expect(new ExecCredentials(exec, { server }, Date.now, () => false).get()).rejects.toThrow(
    'exec plugin cannot support interactive mode: standard input is not a terminal',
  );
});

it('an authorization webhook is asked with what a program knows', async () => {
  await say({ token: 'good' });
  await using cluster = await startTestCluster({
    users: [{ name: 'jane' }],
    flags: [
      '--authorization-mode=Webhook',
      `--authorization-webhook-config-file=${await kubeconfig()}`,
      '--authorization-webhook-version=v1',
    ],
  });
  expect((await cluster.fetch('/api/v1/namespaces', { as: 'jane' })).status).toBe(200);
});
