import { Buffer } from 'node:buffer';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Authority } from '#cmd/certificates/issue';
import { findReference } from '../../../scripts/find-reference.mjs';
import { Kubenest } from '../../servers/kubenest.ts';
import { installExamples } from '../server-with-plugins.ts';
import { availability, register, startFront } from './front.ts';

/** The group of the package plugins/example/environments. */
const group = 'platform.example.com';
const environments = `/apis/${group}/v1/namespaces/default/environments`;
const waiting = { timeout: 20_000, interval: 100 };
const kubectlPath = findReference('kubectl');
const run = promisify(execFile);

const environment = (name: string) => ({
  apiVersion: `${group}/v1`,
  kind: 'Environment',
  metadata: { name },
  spec: { owner: 'shop' },
});

describe('a kubenest server behind another one, to which it delegates authentication and authorization', () => {
  let folder: string;
  let front: Kubenest;
  let extension: Kubenest;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubenest-extension-'));
    front = await startFront(join(folder, 'front'), [group]);
    const kubeconfig = front.kubeconfig('delegate-token');
    const authority = await Authority.create('serving-ca');
    const { cert, key } = await authority.issue({ commonName: 'extension', names: ['extension.default.svc'], usages: ['server'] });
    mkdirSync(join(folder, 'extension'));
    writeFileSync(join(folder, 'extension/tls.crt'), cert);
    writeFileSync(join(folder, 'extension/tls.key'), key);
    await installExamples(join(folder, 'extension'), ['environments']);
    const plugins = [{ package: '@kubenest-example/environments' }];
    const configuration = { apiVersion: 'kubenest.dev/v1alpha1', kind: 'ServerConfiguration', plugins };
    writeFileSync(join(folder, 'extension/config.json'), JSON.stringify(configuration));
    extension = await Kubenest.start(join(folder, 'extension'), [
      `--config=${folder}/extension/config.json`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--tls-cert-file=${folder}/extension/tls.crt`,
      `--tls-private-key-file=${folder}/extension/tls.key`,
    ]);
    expect(await extension.fetch(environments)).toMatchObject({ status: 200 });
    await register(front, group, 'v1', extension.port, { caBundle: Buffer.from(authority.pair.cert).toString('base64') });
    await vi.waitFor(async () => expect(await availability(front, `v1.${group}`)).toMatchObject({ status: 'True' }), waiting);
  }, 120_000);
  afterAll(async () => {
    await extension[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it('accepts users from the front proxy and delegates authorization to it', async () => {
    const token = 'jane-token';
    expect(await front.fetch(environments, { body: environment('one'), token })).toMatchObject({
      status: 201,
      body: { spec: { owner: 'shop', tier: 'small' } },
    });
    expect(await extension.fetch(`${environments}/one`)).toMatchObject({ status: 200, body: { kind: 'Environment' } });
    expect(await front.fetch('/api/v1/secrets', { token })).toMatchObject({ status: 403 });
    // No role of the extension server grants jane anything, so the front server authorized the request.
    expect(await extension.fetch('/apis/rbac.authorization.k8s.io/v1/clusterroles/things')).toMatchObject({ status: 404 });
  });

  it('accepts tokens of the front server by token review', async () => {
    expect(await extension.fetch(environments, { token: 'jane-token' })).toMatchObject({ status: 200, body: { kind: 'EnvironmentList' } });
    expect(await extension.fetch('/api/v1/secrets', { token: 'jane-token' })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('User "jane" cannot list resource "secrets"') },
    });
    expect(await extension.fetch(environments, { token: 'nobody-token' })).toMatchObject({ status: 401 });
    expect(await extension.fetch('/readyz', { token: 'jane-token' })).toEqual({ status: 200, body: 'ok' });
  });

  it.skipIf(kubectlPath === undefined)(kubectlPath ? 'is used by kubectl through the front' : 'kubectl is not there', async () => {
    const env = { ...process.env, HOME: folder, KUBECONFIG: front.kubeconfig('jane-token') };
    const kubectl = async (...args: string[]) => (await run(kubectlPath as string, args, { env })).stdout;
    const manifest = join(folder, 'environment.json');
    writeFileSync(manifest, JSON.stringify(environment('two')));
    expect(await kubectl('apply', '--server-side', '-f', manifest)).toBe('environment.platform.example.com/two serverside-applied\n');
    expect(await kubectl('get', 'environments', 'two', '-o', 'jsonpath={.spec.days}')).toBe('14');
    expect(await kubectl('explain', 'environments.spec.days')).toContain('days <integer>');
    expect(await kubectl('delete', 'environments', 'two')).toBe('environment.platform.example.com "two" deleted from default namespace\n');
  });

  it('becomes unavailable when killed, returns with its objects after a restart, and does not affect other groups', async () => {
    await extension.kill('SIGKILL');
    const gone = await front.fetch(environments);
    expect(gone.status).toBe(503);
    expect(gone.body).toMatch(/^(error trying to reach service: .*(connection refused|EOF|reset by peer)|service unavailable)\n$/);
    expect(await front.fetch('/api/v1/namespaces/default')).toMatchObject({ status: 200 });
    expect(await front.fetch('/apis')).toMatchObject({ status: 200 });
    await extension.restart();
    await vi.waitFor(
      async () =>
        expect(await front.fetch(`${environments}/one`, { token: 'jane-token' })).toMatchObject({
          status: 200,
          body: { kind: 'Environment' },
        }),
      { ...waiting, timeout: 45_000 },
    );
  }, 60_000);
});
