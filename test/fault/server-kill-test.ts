/**
 * Kills bin/kubenest under load, again and again, at random moments and at the failpoints of its store's commit. Sixteen
 * clients write ConfigMaps over HTTPS, one reads, one watches: it leaves now and then and goes on from the last version that
 * it has seen, and after a 410, as a server that has started anew answers, it lists first. Nothing acknowledged may be lost,
 * versions never go back, and each event comes once.
 *
 *     node --conditions=kubenest-source --experimental-transform-types test/fault/server-kill-test.ts [rounds] [seed]
 *
 * bin/kubenest must be built. After a failure the data folder stays; the seed repeats the choices, not the timing.
 */
import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/free-port.ts';
import { checkHistory, type FinalState, type HistoryEntry, type LogEvent } from './check-history.ts';
import { chooseDeath, diesOf, exited, type KillTestOptions, type KillTestResult, readStore, reportKillTest } from './deaths.ts';
import { random } from './random.ts';

const bin = resolve(import.meta.dirname, '../../bin/kubenest');
const collection = '/api/v1/namespaces/default/configmaps';
const label = 'kill-test';
/** Where the server keeps what the clients write. */
const storePrefix = '/configmaps/default/';
const names = Array.from({ length: 40 }, (_, i) => `k${i}`);
const token = 'kill-test-token';

interface Answer {
  readonly status: number;
  readonly body: { readonly metadata?: { readonly resourceVersion?: string; readonly name?: string } } & Record<string, unknown>;
}
interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly text: string };
}

/** The clients of one life of the server. */
class Clients {
  readonly #agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #port: number;
  readonly #next: (below: number) => number;
  readonly #history: HistoryEntry[];
  readonly #ids: { last: number };
  #isOver = false;
  readonly #firstWrite = Promise.withResolvers<void>();

  constructor(port: number, next: (below: number) => number, history: HistoryEntry[], ids: { last: number }) {
    this.#port = port;
    this.#next = next;
    this.#history = history;
    this.#ids = ids;
  }

  /** Resolves when the first write was acknowledged. */
  get hasWritten(): Promise<void> {
    return this.#firstWrite.promise;
  }

  /** Until `stop`. */
  async run(life: number): Promise<void> {
    await Promise.all([...Array.from({ length: 16 }, () => this.#write()), this.#read(), this.#watch(`watch-${life}`)]);
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
  }

  /** undefined: nobody knows what became of it. */
  async #call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    const { promise, resolve: answer } = Promise.withResolvers<Answer | undefined>();
    const text = body && JSON.stringify(body);
    // Of a DELETE, node:http does not tell the length by itself.
    const length = text && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    const headers = { authorization: `Bearer ${token}`, ...length };
    const request = https.request({ host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers }, (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        received += data;
      });
      response.on('end', () => answer({ status: response.statusCode ?? 0, body: JSON.parse(received) as Answer['body'] }));
      response.on('error', () => answer(undefined));
    });
    request.on('error', () => answer(undefined));
    request.end(text);
    return promise;
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const name = names[this.#next(names.length)]!;
      const found = await this.#call('GET', `${collection}/${name}?resourceVersion=0`);
      if (!found) continue;
      const expected = found.status === 200 ? Number(found.body.metadata?.resourceVersion) : 0;
      const verb = expected === 0 ? 'create' : this.#next(4) === 0 ? 'delete' : 'update';
      const id = ++this.#ids.last;
      const text = verb === 'delete' ? '' : String(id);
      this.#history.push({ type: 'begin', id, verb, key: `/configmaps/default/${name}`, expected, text });
      const answer = await this.#send(verb, name, expected, text);
      if (!answer) continue;
      this.#firstWrite.resolve();
      if (answer.status >= 400) this.#history.push({ type: 'reject', id, error: String(answer.body['reason']) });
      // A deletion does not tell its revision: it is looked up in the log.
      else this.#history.push({ type: 'ack', id, revision: verb === 'delete' ? 0 : Number(answer.body.metadata?.resourceVersion) });
    }
  }

  #send(verb: string, name: string, expected: number, text: string): Promise<Answer | undefined> {
    const resourceVersion = String(expected);
    if (verb === 'delete') return this.#call('DELETE', `${collection}/${name}`, { preconditions: { resourceVersion } });
    const metadata = { name, labels: { [label]: 'yes' }, ...(expected > 0 && { resourceVersion }) };
    const body = { metadata, data: { text, padding: 'x'.repeat(this.#next(3_000)) } };
    return verb === 'create' ? this.#call('POST', collection, body) : this.#call('PUT', `${collection}/${name}`, body);
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      const name = names[this.#next(names.length)]!;
      const id = ++this.#ids.last;
      this.#history.push({ type: 'readBegin', id, key: `/configmaps/default/${name}` });
      const answer = await this.#call('GET', `${collection}/${name}`);
      if (answer?.status === 200) {
        const { metadata, data } = answer.body as unknown as ConfigMap;
        this.#history.push({ type: 'readEnd', id, revision: Number(metadata.resourceVersion), text: data?.text ?? '' });
      } else if (answer) this.#history.push({ type: 'readEnd', id, revision: 0, text: '' });
      await sleep(1);
    }
  }

  /** Lists, then watches from there, and goes on each time that the watch ends. */
  async #watch(watcher: string): Promise<void> {
    const selector = `labelSelector=${label}`;
    const list = await this.#call('GET', `${collection}?${selector}`);
    if (list?.status !== 200) return;
    let cursor = Number(list.body.metadata?.resourceVersion);
    this.#history.push({ type: 'watch', watcher, from: cursor });
    while (!this.#isOver) {
      cursor = await this.#watchOnce(watcher, `${collection}?watch=1&${selector}&resourceVersion=${cursor}`, cursor);
    }
  }

  /** Returns the last version that it has seen. It leaves after some events. */
  async #watchOnce(watcher: string, path: string, from: number): Promise<number> {
    const { promise, resolve: left } = Promise.withResolvers<undefined>();
    let cursor = from;
    let remaining = 1 + this.#next(100);
    const headers = { authorization: `Bearer ${token}` };
    const request = https.request({ host: '127.0.0.1', port: this.#port, agent: this.#agent, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        const lines = (text + data).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) {
          if (remaining-- === 0) return void request.destroy();
          if (remaining < 0) return;
          const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ConfigMap };
          cursor = Number(object.metadata.resourceVersion);
          const text = type === 'DELETED' ? '' : (object.data?.text ?? '');
          const key = `/configmaps/default/${object.metadata.name}`;
          this.#history.push({ type: 'event', watcher, revision: cursor, key, text });
        }
      });
      response.on('close', () => left(undefined));
    });
    request.on('error', () => left(undefined));
    request.end();
    await promise;
    return cursor;
  }
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly errors: () => string;
}

async function startServer(folder: string, failpoint: string): Promise<Server> {
  const port = await freePort();
  const flags = [`--data-dir=${folder}/data`, `--secure-port=${port}`, `--token-auth-file=${folder}/tokens.csv`];
  const env = { PATH: process.env['PATH'], ...(failpoint && { KUBENEST_FAILPOINT: failpoint }) };
  const child = spawn(bin, ['serve', ...flags], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return { child, port, errors: () => errors };
}

export async function runServerKillTest({ rounds, seed }: KillTestOptions): Promise<KillTestResult> {
  const folder = mkdtempSync(join(tmpdir(), 'server-kill-test-'));
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`);
  const file = join(folder, 'data/kubenest.db');
  const next = random(seed);
  const history: HistoryEntry[] = [];
  const log: LogEvent[] = [];
  const ids = { last: 0 };
  const deaths: string[] = [];
  const violations: string[] = [];
  let final: FinalState = { revision: 0, records: [] };
  for (let life = 1; life <= rounds && violations.length === 0; life++) {
    const death = chooseDeath(next);
    const server = await startServer(folder, death.failpoint);
    const clients = new Clients(server.port, next, history, ids);
    const running = clients.run(life);
    // Connections take their time on a busy machine, and a life without a write tells nothing.
    await Promise.race([clients.hasWritten, exited(server.child)]);
    deaths.push(await diesOf(server.child, death, server.errors));
    clients.stop();
    await running;
    final = await readStore(file, storePrefix, { log, after: final.revision }, textOf);
    violations.push(...checkHistory(withDeletions(history, log), log, final));
  }
  if (violations.length === 0) rmSync(folder, { recursive: true });
  const acknowledged = history.filter(({ type }) => type === 'ack').length;
  return { violations, acknowledged, events: log.length, deaths, folder };
}

/** The history with the revisions of acknowledged deletions, as far as the log has them. */
function withDeletions(history: readonly HistoryEntry[], log: readonly LogEvent[]): HistoryEntry[] {
  const deletions = new Map(log.filter(({ text }) => text === '').map(({ key, previous, revision }) => [`${key}@${previous}`, revision]));
  const asked = new Map<number, string>();
  return history.map((entry) => {
    if (entry.type === 'begin' && entry.verb === 'delete') asked.set(entry.id, `${entry.key}@${entry.expected}`);
    const deletion = entry.type === 'ack' ? asked.get(entry.id) : undefined;
    return entry.type === 'ack' && deletion !== undefined ? { ...entry, revision: deletions.get(deletion) ?? -entry.id } : entry;
  });
}

function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as ConfigMap).data?.text ?? '';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await reportKillTest(runServerKillTest);
