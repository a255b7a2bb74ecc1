import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../../scripts/free-port.ts';
import { type EtcdServer, etcd, noEtcd, startEtcd } from '../../servers/etcd-server.ts';
import { findGoModule } from '../../servers/go-modules.ts';
import type { Kubenest } from '../../servers/kubenest.ts';
import { availability, register, startFront } from './front.ts';

const group = 'wardle.example.com';
const flunders = `/apis/${group}/v1alpha1/namespaces/default/flunders`;
const run = promisify(execFile);

const sources = findGoModule('k8s.io/sample-apiserver@v0.36.3');
const missing = sources === undefined ? 'k8s.io/sample-apiserver v0.36.3 is not in the Go module cache, or there is no Go' : undefined;
const reason = missing ?? (etcd === undefined ? noEtcd : undefined);

if (reason !== undefined)
  it('requires the sample-apiserver and an etcd', ({ skip }) => {
    skip(reason);
  });

describe.skipIf(reason !== undefined)('k8s.io/sample-apiserver', () => {
  let folder: string;
  let front: Kubenest;
  let store: EtcdServer;
  let sample: ChildProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubenest-sample-'));
    const binary = join(folder, 'sample-apiserver');
    const environment = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', GOPROXY: 'off' };
    await run('go', ['build', '-o', binary, '.'], { cwd: sources, env: environment });
    store = await startEtcd();
    front = await startFront(join(folder, 'front'), [group]);
    const kubeconfig = front.kubeconfig('delegate-token');
    const port = await freePort();
    sample = spawn(
      binary,
      [
        ...[`--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}/certs`, `--etcd-servers=${store.url}`],
        ...[`--kubeconfig=${kubeconfig}`, `--authentication-kubeconfig=${kubeconfig}`, `--authorization-kubeconfig=${kubeconfig}`],
        '--enable-priority-and-fairness=false',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    sample.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-2_000);
    });
    await register(front, group, 'v1alpha1', port, { insecureSkipTLSVerify: true });
    await vi.waitFor(
      async () => expect(await availability(front, `v1alpha1.${group}`), said).toMatchObject({ status: 'True', reason: 'Passed' }),
      { timeout: 90_000, interval: 200 },
    );
  }, 300_000);
  afterAll(async () => {
    sample.kill('SIGKILL');
    if (sample.exitCode === null && sample.signalCode === null) await once(sample, 'exit');
    await front[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const flunder = { apiVersion: `${group}/v1alpha1`, kind: 'Flunder', metadata: { name: 'one', labels: { a: 'b' } }, spec: {} };

  it('authenticates jane and delegates authorization to the front server', async () => {
    const token = 'jane-token';
    expect(await front.fetch(flunders, { token, body: flunder })).toMatchObject({ status: 201, body: { metadata: { name: 'one' } } });
    expect(await front.fetch(flunders, { token })).toMatchObject({ status: 200, body: { items: [{ metadata: { labels: { a: 'b' } } }] } });
    expect(await front.fetch(flunders, { token: 'delegate-token' })).toMatchObject({ status: 403 });
  });

  it('appears in discovery and OpenAPI', async () => {
    expect(await front.fetch(`/apis/${group}/v1alpha1`)).toMatchObject({
      status: 200,
      body: { resources: expect.arrayContaining([expect.objectContaining({ name: 'flunders', kind: 'Flunder' })]) },
    });
    await vi.waitFor(
      async () => {
        const { body } = await front.fetch('/openapi/v2');
        expect((body as { paths: object }).paths).toHaveProperty([`/apis/${group}/v1alpha1/namespaces/{namespace}/flunders`]);
      },
      { interval: 500 },
    );
  });

  it('updates and deletes its objects', async () => {
    const patched = await front.fetch(`${flunders}/one`, { method: 'PATCH', body: { metadata: { labels: { a: 'c' } } } });
    expect(patched).toMatchObject({ status: 200, body: { metadata: { labels: { a: 'c' } } } });
    expect(await front.fetch(`${flunders}/one`, { method: 'DELETE' })).toMatchObject({ status: 200 });
    expect(await front.fetch(`${flunders}/one`)).toMatchObject({ status: 404 });
  });
});
