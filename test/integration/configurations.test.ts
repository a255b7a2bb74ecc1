/** The files of config/, each as a server reads it that is started with it. config/hardened.yaml has test/security/hardened.test.ts. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultOptions, readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import { etcd, noEtcd, startEtcd } from '../servers/etcd-server.ts';
import { Kubenest } from '../servers/kubenest.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubenest-config-'));
  cpSync(resolve(import.meta.dirname, '../../config'), folder, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

/** Starts a server, writes with it and reads. */
async function expectServes(...flags: readonly string[]): Promise<void> {
  await using server = await Kubenest.start(at('server'), flags);
  expect((await server.fetch(configMaps, { body: { metadata: { name: 'a' } } })).status).toBe(201);
  expect((await server.fetch(`${configMaps}/a`)).status).toBe(200);
}

it('server.yaml has the defaults', async () => {
  const command = await readServerOptions([`--config=${at('server.yaml')}`]);
  if (!('options' in command)) throw new Error('the configuration starts no server');
  for (const [name, concern] of defaultOptions('kubenest serve').concerns())
    expect({ name, ...Object.fromEntries(command.options.concerns())[name] }).toEqual({
      name,
      ...concern,
      ...(name === 'plugins' && { folder, file: at('server.yaml') }),
    });
});

it('starts with server.yaml', () => expectServes(`--config=${at('server.yaml')}`, `--data-dir=${at('data')}`));

it('starts with development.yaml, and keeps traces of writes', async () => {
  await using server = await Kubenest.start(at('server'), [`--config=${at('development.yaml')}`]);
  expect((await server.fetch(configMaps, { body: { metadata: { name: 'a' } } })).status).toBe(201);
  expect(JSON.stringify((await server.fetch('/debug/traces')).body)).toContain('configmaps');
});

it('servers with many-servers.yaml share their objects and their tokens', async ({ skip }) => {
  if (etcd === undefined) return skip(noEtcd);
  await using store = await startEtcd();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('service-account.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const text = readFileSync(at('many-servers.yaml'), 'utf8').replaceAll(': service-account.key', `: ${at('service-account.key')}`);
  writeFileSync(at('many-servers.yaml'), text.replace('[service-account.key]', `[${at('service-account.key')}]`));
  const flags = [
    `--config=${at('many-servers.yaml')}`,
    `--etcd-servers=${store.url}`,
    '--advertise-address=127.0.0.1',
    '--shutdown-delay-duration=0',
  ];
  const withAccounts = '--disable-admission-plugins=ServiceAccount';
  await using one = await Kubenest.start(at('one'), [...flags, withAccounts]);
  await using other = await Kubenest.start(at('other'), [...flags, withAccounts]);
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  expect((await one.fetch(accounts, { body: { metadata: { name: 'robot' } } })).status).toBe(201);
  await expect.poll(async () => (await other.fetch(`${accounts}/robot`)).status).toBe(200);
  const issued = (await one.fetch(`${accounts}/robot/token`, { body: { spec: {} } })).body as { status: { token: string } };
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const known = await other.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: review, token: issued.status.token });
  expect(JSON.stringify(known.body)).toContain('system:serviceaccount:default:robot');
});

it.each([
  { file: 'admission.yaml', flags: ['--enable-admission-plugins=EventRateLimit', '--admission-control-config-file='] },
  { file: 'audit-policy.yaml', flags: ['--audit-log-path=-', '--audit-policy-file='] },
  { file: 'authentication.yaml', flags: ['--authentication-config='] },
  { file: 'authorization.yaml', flags: ['--authorization-config='] },
])('starts with $file', ({ file, flags }) =>
  expectServes(...flags.map((flag) => (flag.endsWith('file=') || flag.endsWith('config=') ? flag + at(file) : flag))),
);

it('starts with encryption-template.yaml once it has a key, and refuses it before', async () => {
  const flag = `--encryption-provider-config=${at('encryption-template.yaml')}`;
  await expect(Kubenest.start(at('refused'), [flag])).rejects.toThrow('secret');
  const text = readFileSync(at('encryption-template.yaml'), 'utf8');
  writeFileSync(at('encryption-template.yaml'), text.replace('secret: KEY', `secret: ${randomBytes(32).toString('base64')}`));
  await expectServes(flag);
});

it('tests each file of config/', () => {
  const text = readFileSync(import.meta.filename, 'utf8');
  expect(readdirSync(folder).filter((name) => !text.includes(name))).toEqual([]);
});
