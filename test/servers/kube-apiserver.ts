/** Starts a real kube-apiserver for one test, on an etcd shared with the test. */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findReference } from '../../scripts/find-reference.mjs';
import { freePort } from '../../scripts/free-port.ts';
import type { Ask as AskKubenest } from './kubenest.ts';

export const kubeApiserver: string | undefined = findReference('kube-apiserver');
export const noKubeApiserver = 'there is no kube-apiserver: ../shared/reference/build.sh makes one';

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface KubeApiserver extends AsyncDisposable {
  readonly url: string;
  /** Sends a request as an administrator. */
  fetch(path: string, options?: Ask): Promise<Answer>;
  /** Sends a request without credentials other than those in the request. */
  send(path: string, request: RawRequest): Promise<Answer>;
}

type Ask = Pick<AskKubenest, 'method' | 'body' | 'contentType'>;

interface RawRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

const token = 'admin-token';

export async function startKubeApiserver(etcdUrl: string, flags: readonly string[] = []): Promise<KubeApiserver> {
  if (kubeApiserver === undefined) throw new Error(noKubeApiserver);
  const folder = mkdtempSync(join(tmpdir(), 'kube-apiserver-'));
  const port = await freePort();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin-uid,"system:masters"\n`);
  const args = [
    ...[`--etcd-servers=${etcdUrl}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', '--advertise-address=127.0.0.1'],
    ...[`--cert-dir=${folder}`, `--token-auth-file=${join(folder, 'tokens.csv')}`, '--authorization-mode=RBAC'],
    ...[`--service-account-key-file=${join(folder, 'sa.key')}`, `--service-account-signing-key-file=${join(folder, 'sa.key')}`],
    ...['--service-account-issuer=https://kubernetes.default.svc', '--service-cluster-ip-range=10.0.0.0/24'],
    ...['--endpoint-reconciler-type=none', ...flags],
  ];
  const log = join(folder, 'log');
  const child = spawn(kubeApiserver, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.pipe(createWriteStream(log));
  const agent = new Agent({ keepAlive: true });
  const fetch: KubeApiserver['fetch'] = (path, options) => call(port, path, agent, options);
  for (let isReady = false; !isReady; ) {
    if (child.exitCode !== null) throw new Error(`kube-apiserver ended with ${child.exitCode}: ${readFileSync(log, 'utf8').slice(-1000)}`);
    await sleep(200);
    isReady = await fetch('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
  return {
    url: `https://127.0.0.1:${port}`,
    fetch,
    send: (path, raw) => sendRaw(port, path, raw),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function call(port: number, path: string, agent: Agent, { method, body, contentType = 'application/json' }: Ask = {}): Promise<Answer> {
  const raw = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  return sendRaw(port, path, raw, agent);
}

function sendRaw(port: number, path: string, { method, headers, body }: RawRequest, agent: Agent | false = false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        // Node does not set the length of a DELETE body.
        headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
        // The server generated its certificate for this test.
        rejectUnauthorized: false,
        agent,
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const isJson = response.headers['content-type']?.includes('json') && !path.includes('watch=');
          resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as Answer['body']) : { text } });
        });
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
