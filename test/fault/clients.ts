/**
 * Clients that write ConfigMaps over HTTPS, read and watch them, and note what they asked for and saw. Watchers leave now and then and go
 * on from the last version that they have seen, at another server perhaps.
 */
import { Buffer } from 'node:buffer';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryEntry, LogEvent } from './check-history.ts';

const collection = '/api/v1/namespaces/default/configmaps';
const label = 'kill-test';
/** Where the server keeps what the clients write. */
export const storePrefix = '/configmaps/default/';
const names = Array.from({ length: 40 }, (_, i) => `k${i}`);
export const token = 'kill-test-token';
const requestTimeoutMs = 20_000;

interface Answer {
  readonly status: number;
  readonly body: { readonly metadata?: { readonly resourceVersion?: string; readonly name?: string } } & Record<string, unknown>;
}
interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly text: string };
}

/** Clients of one server or of several on one store, which they choose among for each request. */
export class Clients {
  readonly #agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #ports: readonly number[];
  readonly #next: (below: number) => number;
  readonly #history: HistoryEntry[];
  readonly #ids: { last: number };
  #isOver = false;
  #acknowledged = 0;
  #watchers = 0;
  readonly #firstWrite = Promise.withResolvers<void>();

  constructor(ports: readonly number[], next: (below: number) => number, history: HistoryEntry[], ids: { last: number }) {
    this.#ports = ports;
    this.#next = next;
    this.#history = history;
    this.#ids = ids;
  }

  /** Resolves when the first write was acknowledged. */
  get hasWritten(): Promise<void> {
    return this.#firstWrite.promise;
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Until `stop`. */
  async run(life: number): Promise<void> {
    const watches = Array.from({ length: 1 + this.#ports.length }, () => this.#watch(`watch-${life}`));
    await Promise.all([...Array.from({ length: 16 }, () => this.#write()), this.#read(), this.#read(), ...watches]);
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
  }

  #anyPort(): number {
    return this.#ports[this.#next(this.#ports.length)]!;
  }

  /** undefined: nobody knows what became of it. */
  async #call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    const { promise, resolve: answer } = Promise.withResolvers<Answer | undefined>();
    const text = body && JSON.stringify(body);
    // Of a DELETE, node:http does not tell the length by itself.
    const length = text && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
    const headers = { authorization: `Bearer ${token}`, ...length };
    const request = https.request(
      { host: '127.0.0.1', port: this.#anyPort(), agent: this.#agent, method, path, headers, timeout: requestTimeoutMs },
      (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (data: string) => {
          received += data;
        });
        response.on('end', () => answer(parsed(response.statusCode ?? 0, received)));
        response.on('error', () => answer(undefined));
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => answer(undefined));
    request.end(text);
    const answered = await promise;
    // Who is refused at once asks again a little later.
    if (!answered || answered.status >= 500) await sleep(20);
    return answered;
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const name = names[this.#next(names.length)]!;
      const found = await this.#call('GET', `${collection}/${name}?resourceVersion=0`);
      if (found?.status !== 200 && found?.status !== 404) continue;
      const expected = found.status === 200 ? Number(found.body.metadata?.resourceVersion) : 0;
      const verb = expected === 0 ? 'create' : this.#next(4) === 0 ? 'delete' : 'update';
      const id = ++this.#ids.last;
      const text = verb === 'delete' ? '' : String(id);
      this.#history.push({ type: 'begin', id, verb, key: `/configmaps/default/${name}`, expected, text });
      const answer = await this.#send(verb, name, expected, text);
      // 504: the server does not know the outcome either.
      if (!answer || answer.status === 504) continue;
      this.#firstWrite.resolve();
      if (answer.status < 400) this.#acknowledged += 1;
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
      } else if (answer?.status === 404) this.#history.push({ type: 'readEnd', id, revision: 0, text: '' });
      await sleep(1);
    }
  }

  /** Lists, then watches from there, and goes on each time that the watch ends, at any server; lists again where that is too late. */
  async #watch(name: string): Promise<void> {
    const selector = `labelSelector=${label}`;
    while (!this.#isOver) {
      const list = await this.#call('GET', `${collection}?${selector}`);
      if (list?.status !== 200) continue;
      let cursor: number | undefined = Number(list.body.metadata?.resourceVersion);
      const watcher = `${name}-${++this.#watchers}`;
      this.#history.push({ type: 'watch', watcher, from: cursor });
      while (!this.#isOver && cursor !== undefined) {
        const path: string = `${collection}?watch=1&allowWatchBookmarks=true&${selector}&resourceVersion=${cursor}`;
        cursor = await this.#watchOnce(watcher, path, cursor);
      }
    }
  }

  /** Returns the last version that it has seen, undefined if the server has none of the history after it. It leaves after some events. */
  async #watchOnce(watcher: string, path: string, from: number): Promise<number | undefined> {
    const { promise, resolve: left } = Promise.withResolvers<undefined>();
    let cursor: number | undefined = from;
    let remaining = 1 + this.#next(100);
    const headers = { authorization: `Bearer ${token}` };
    const request = https.request({ host: '127.0.0.1', port: this.#anyPort(), agent: this.#agent, path, headers }, (response) => {
      response.on('close', () => left(undefined));
      // The server cannot watch yet, or any more.
      if (response.statusCode !== 200) return void request.destroy();
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        const lines = (text + data).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) {
          if (remaining-- === 0) return void request.destroy();
          if (remaining < 0) return;
          const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ConfigMap & { readonly code?: number } };
          if (type === 'ERROR') {
            if (object.code === 410) cursor = undefined;
            return void request.destroy();
          }
          cursor = Number(object.metadata.resourceVersion);
          if (type === 'BOOKMARK') this.#history.push({ type: 'bookmark', watcher, revision: cursor });
          else {
            const text = type === 'DELETED' ? '' : (object.data?.text ?? '');
            this.#history.push({ type: 'event', watcher, revision: cursor, key: `/configmaps/default/${object.metadata.name}`, text });
          }
        }
      });
    });
    request.on('error', () => left(undefined));
    // A watch whose server is paused is not waited for.
    const impatience = setTimeout(() => request.destroy(), 1_000 + this.#next(4_000));
    request.end();
    await promise;
    clearTimeout(impatience);
    if (cursor === from) await sleep(20);
    return cursor;
  }
}

/** Of a server that dies in the middle of its answer: undefined. */
function parsed(status: number, text: string): Answer | undefined {
  try {
    return { status, body: JSON.parse(text) as Answer['body'] };
  } catch {
    return undefined;
  }
}

/** The history with the revisions of acknowledged deletions, as far as the log has them. */
export function withDeletions(history: readonly HistoryEntry[], log: readonly LogEvent[]): HistoryEntry[] {
  const deletions = new Map(log.filter(({ text }) => text === '').map(({ key, previous, revision }) => [`${key}@${previous}`, revision]));
  const asked = new Map<number, string>();
  return history.map((entry) => {
    if (entry.type === 'begin' && entry.verb === 'delete') asked.set(entry.id, `${entry.key}@${entry.expected}`);
    const deletion = entry.type === 'ack' ? asked.get(entry.id) : undefined;
    return entry.type === 'ack' && deletion !== undefined ? { ...entry, revision: deletions.get(deletion) ?? -entry.id } : entry;
  });
}

/** What a client wrote, of the JSON that is stored. */
export function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as ConfigMap).data?.text ?? '';
}
