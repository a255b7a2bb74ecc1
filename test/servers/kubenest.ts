/** Runs bin/kubenest in its own process; `npm test` builds it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { freePort } from '../../scripts/free-port.ts';
import { servingFlags, withoutControllers } from './serving-flags.ts';

const bin = resolve(import.meta.dirname, '../../bin/kubenest');
const started = /^kubenest serves the Kubernetes API on/m;

export interface Answer {
  readonly status: number;
  /** Parsed JSON, or text. */
  readonly body: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly body?: unknown;
  /** Bearer token. Default: the administrator's. */
  readonly token?: string;
  /** Content type. Default: merge patch for PATCH, otherwise JSON. */
  readonly contentType?: string;
}

/** A server that can be killed and restarted in place. */
export class Kubenest implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  readonly flags: readonly string[];
  #child: ChildProcess | undefined;
  #said = '';

  private constructor(folder: string, port: number, flags: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.flags = flags;
  }

  /** Starts a server with its data in the folder. `users` maps tokens to groups; `admin-token` is an administrator's. */
  static async start(folder: string, flags: readonly string[] = [], users: Readonly<Record<string, string>> = {}): Promise<Kubenest> {
    mkdirSync(folder, { recursive: true });
    const lines = Object.entries({ 'admin-token': 'admin,admin,"system:masters"', ...users }).map(([token, user]) => `${token},${user}\n`);
    writeFileSync(join(folder, 'tokens.csv'), lines.join(''));
    const own = [`--data-dir=${folder}/data`, `--token-auth-file=${folder}/tokens.csv`];
    const server = new Kubenest(folder, await freePort(), [...own, ...flags]);
    await server.restart();
    return server;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  /** Process id of the server. */
  get pid(): number {
    return this.#child!.pid!;
  }

  /** End of its standard error since the last start. */
  get log(): string {
    return this.#said;
  }

  /** Rejects with its output if it ends. */
  async restart(): Promise<void> {
    const child = spawn(bin, ['serve', `--secure-port=${this.port}`, withoutControllers, ...servingFlags(), ...this.flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-2_000);
    });
    const said = once(child.stderr, 'end');
    for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) if (started.test(String(text))) return;
    await said;
    throw new Error(`kubenest ended: ${this.#said}`);
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Returns a kubeconfig for the owner of a token, which trusts the server's CA. */
  kubeconfig(token: string): string {
    const file = join(this.folder, `kubeconfig-${token}`);
    const authority = readFileSync(join(this.folder, 'data/pki/ca.crt')).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster: { server: this.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'test', user: { token } }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  fetch(path: string, { method, body, token = 'admin-token', contentType }: Ask = {}): Promise<Answer> {
    return new Promise((answer, reject) => {
      const sent = request(
        {
          ...{ host: '127.0.0.1', port: this.port, path, rejectUnauthorized: false, agent: false },
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'),
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (data: string) => {
            text += data;
          });
          response.on('end', () => answer({ status: response.statusCode ?? 0, body: parsed(text) }));
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGKILL');
  }
}

/** Returns undefined for events of a watch, which are several JSON texts. */
function parsed(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}
