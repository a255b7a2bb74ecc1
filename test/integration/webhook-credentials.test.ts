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

/** Records its input and prints the content of `says`. */
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

/** Answers with the credentials used, and with 401 to the token `bad`. */
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

/** Creates a kubeconfig with a user that has that `exec`, with unique arguments, so that no cached credentials apply. */
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

describe('a client with a token file', () => {
  const tokenFile = async (token: string): Promise<JsonClient> => {
    await writeFile(file('token'), token);
    const connection = { ...(await readKubeconfig(await kubeconfig())), exec: undefined, tokenFile: file('token') };
    return new JsonClient(connection, { timeoutMs: 20_000, retryMs: 0 });
  };

  it('uses a new token after a rejection', async () => {
    using asking = await tokenFile('bad\n');
    await expect(asking.post({})).rejects.toThrow('the service answered 401');
    await writeFile(file('token'), 'good\n');
    expect((await asking.post({}))['authorization']).toBe('Bearer good');
  });

  it('rereads the file after a while, and keeps the token while the file is unreadable', async () => {
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

  it('fails if the file is empty', async () => {
    await writeFile(file('token'), '\n');
    await expect(new TokenFile(file('token'), undefined).get()).rejects.toThrow(`read empty token from file "${file('token')}"`);
  });
});

describe('a client with a credential program', () => {
  it('uses the token of a single run, and passes the cluster to the program', async () => {
    await say({ token: 'good' });
    using asking = await client({ provideClusterInfo: true, env: [{ name: 'GREETING', value: 'hello' }] });
    const answers = await Promise.all([1, 2, 3].map(() => asking.post({})));
    expect(answers.map(({ authorization }) => authorization)).toEqual(['Bearer good', 'Bearer good', 'Bearer good']);
    const ca = Buffer.from(authority.pair.cert).toString('base64');
    const cluster = { server, 'certificate-authority-data': ca, config: { audience: 'a' } };
    const info = { kind: 'ExecCredential', apiVersion: v1, spec: { cluster, interactive: false } };
    expect(await runs()).toEqual([{ info, greeting: 'hello', args: [String(config)] }]);
  });

  it('runs the program again after the expiry', async () => {
    await say({ token: 'old', expirationTimestamp: '2020-01-01T00:00:00Z' });
    using asking = await client();
    expect((await asking.post({}))['authorization']).toBe('Bearer old');
    await say({ token: 'new', expirationTimestamp: '2999-01-01T00:00:00Z' });
    expect((await asking.post({}))['authorization']).toBe('Bearer new');
    expect((await asking.post({}))['authorization']).toBe('Bearer new');
    expect(await runs()).toHaveLength(2);
  });

  it('runs the program again after a rejection', async () => {
    await say({ token: 'bad' });
    using asking = await client();
    await expect(asking.post({})).rejects.toThrow('the service answered 401');
    await say({ token: 'good' });
    await expect
      .poll(async () => ((await asking.post({}).catch(() => ({}))) as Record<string, unknown>)['authorization'])
      .toBe('Bearer good');
  });

  it('uses the certificate, and opens new connections for another one', async () => {
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
    {
      name: 'only a certificate',
      said: () => say({ clientKeyData: 'k' }),
      fails: /exec plugin returned only certificate or key, not both$/,
    },
    {
      name: 'neither token nor certificate',
      said: () => say({ clientKeyData: 'k', clientCertificateData: 'c' }),
      fails: /failed parsing client key\/certificate: /,
    },
    {
      name: 'another version',
      said: () => say({ token: 't' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      fails:
        /exec plugin is configured to use API version client.authentication.k8s.io\/v1, plugin returned version client.authentication.k8s.io\/v1beta1$/,
    },
    {
      name: 'an invalid time',
      said: () => say({ token: 't', expirationTimestamp: 'soon' }),
      fails: /decoding stdout: parsing time "soon"/,
    },
    {
      name: 'a non-object',
      said: () => writeFile(file('says'), JSON.stringify({ output: '{', code: 0 })),
      fails: /decoding stdout: /,
    },
    {
      name: 'too much output',
      said: () => writeFile(file('says'), JSON.stringify({ output: 'x'.repeat(2 << 20), code: 0 })),
      fails: /wrote more than 1048576 bytes$/,
    },
    {
      name: 'a failure',
      said: () => say({ token: 't' }, { code: 3 }),
      fails: /exec: executable .*program\.mjs failed with exit code 3$/,
    },
    {
      name: 'nothing, because it does not exist',
      said: () => say({}),
      exec: { command: 'no-such-program', installHint: 'install it' },
      fails: /exec: executable no-such-program not found\n\ninstall it$/,
    },
  ])('fails if the program returns $name', async ({ said, exec, fails }) => {
    await said();
    using asking = await client(exec);
    await expect(asking.post({})).rejects.toThrow(fails);
  });

  it('limits the program to the timeout of the service', async () => {
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
    name: 'an unsupported version',
    exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
    fails: /exec plugin: invalid apiVersion "client.authentication.k8s.io\/v1alpha1"$/,
  },
  { name: 'no interactiveMode in v1', exec: { interactiveMode: undefined }, fails: /interactiveMode must be specified for u/ },
  { name: 'an unknown interactiveMode', exec: { interactiveMode: 'Sometimes' }, fails: /invalid interactiveMode for u: "Sometimes"$/ },
  { name: 'an unnamed variable', exec: { env: [{ value: 'x' }] }, fails: /env variable name must be specified for u/ },
])('a kubeconfig is rejected for an exec with $name', async ({ exec, fails }) => {
  await expect(readKubeconfig(await kubeconfig(exec))).rejects.toThrow(fails);
});

it.each([
  { mode: 'IfAvailable', terminal: false, interactive: false },
  { mode: 'IfAvailable', terminal: true, interactive: true },
  { mode: undefined, terminal: true, interactive: true },
  { mode: 'Never', terminal: true, interactive: false },
])('a v1beta1 program with interactiveMode $mode, terminal $terminal', async ({ mode, terminal, interactive }) => {
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  await say({ token: 't' }, { apiVersion });
  const exec = readExecConfig({ command: './program.mjs', apiVersion, interactiveMode: mode }, 'u', folder, undefined);
  const { token } = await new ExecCredentials(exec, { server }, Date.now, () => terminal).get();
  expect([token, (await runs()).map(({ info }) => info.spec)]).toEqual(['t', [{ interactive }]]);
});

it('an interactive program gets a terminal', async () => {
  const exec = readExecConfig({ command: './program.mjs', apiVersion: v1, interactiveMode: 'Always' }, 'u', folder, undefined);
  await expect(new ExecCredentials(exec, { server }, Date.now, () => false).get()).rejects.toThrow(
    'exec plugin cannot support interactive mode: standard input is not a terminal',
  );
});

it('an authorization webhook is called with credentials of a program', async () => {
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
