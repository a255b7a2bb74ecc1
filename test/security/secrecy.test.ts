import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../../scripts/free-port.ts';

/** Built by `npm test`. */
const bin = resolve(import.meta.dirname, '../../bin/kubenest');
const [token, wrongToken, password, secret] = [
  'canary-token-5b1f',
  'canary-wrong-77aa',
  'canary-password-90cd',
  'canary-secret-e3d1',
] as const;

it('CVE-2019-11250, CVE-2020-8563, -8564, -8565: no log level reveals tokens, passwords or secrets', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubenest-secrecy-'));
  const file = (name: string): string => join(folder, name);
  await Promise.all([
    writeFile(file('tokens.csv'), `${token},admin,1,"system:masters"\n`),
    writeFile(file('passwords.csv'), `${password},jane,2\n`),
    writeFile(file('policy.yaml'), 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n'),
  ]);
  const port = await freePort();
  const flags = [
    ...['serve', '--ephemeral', '--v=10', `--secure-port=${port}`, `--token-auth-file=${file('tokens.csv')}`],
    ...[
      `--basic-auth-file=${file('passwords.csv')}`,
      `--audit-policy-file=${file('policy.yaml')}`,
      `--audit-log-path=${file('audit.log')}`,
    ],
  ];
  const child = spawn(bin, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ask = (method: string, path: string, authorization: string, body?: object): Promise<number> =>
    new Promise((done, reject) => {
      const headers = { authorization, 'content-type': 'application/json' };
      // The server generated its certificate for this test.
      request({ host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false, agent: false }, (response) => {
        response.resume().on('end', () => done(response.statusCode ?? 0));
      })
        .on('error', reject)
        .end(body && JSON.stringify(body));
    });
  try {
    await expect.poll(() => output, { timeout: 30_000 }).toContain('kubenest serves');
    const secrets = '/api/v1/namespaces/default/secrets';
    const object = { metadata: { name: 's' }, stringData: { k: secret } };
    expect(await ask('POST', secrets, `Bearer ${token}`, object)).toBe(201);
    expect(await ask('POST', secrets, `Bearer ${token}`, object)).toBe(409);
    expect(await ask('PUT', `${secrets}/s`, `Bearer ${token}`, { ...object, data: secret })).toBe(400);
    expect(await ask('GET', secrets, `Bearer ${wrongToken}`)).toBe(401);
    expect(await ask('GET', secrets, `Basic ${Buffer.from(`jane:${password}`).toString('base64')}`)).toBe(403);
    expect(await ask('GET', '/metrics', `Bearer ${token}`)).toBe(200);
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: wrongToken } };
    expect(await ask('POST', '/apis/authentication.k8s.io/v1/tokenreviews', `Bearer ${token}`, review)).toBe(201);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  const all = output + (await readFile(file('audit.log'), 'utf8'));
  await rm(folder, { recursive: true });
  expect(all).toContain('tokenreviews');
  const canaries = [token, wrongToken, password, secret].flatMap((text) => [text, Buffer.from(text).toString('base64').slice(0, 20)]);
  expect(canaries.filter((text) => all.includes(text))).toEqual([]);
});
