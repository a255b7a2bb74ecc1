/**
 * Clients that write ConfigMaps over HTTPS, read and watch them, and record requests and observations. Watchers disconnect
 * now and then and resume from their last version, possibly on another server.
 */
import { Buffer } from 'node:buffer';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryEntry, ListedRecord, LogEvent } from './check-history.ts';

const collection = '/api/v1/namespaces/default/configmaps';
const label = 'kill-test';
const selector = `labelSelector=${label}`;
/** Storage prefix of the clients' objects. */
export const storePrefix = '/configmaps/default/';
const names = Array.from({ length: 40 }, (_, i) => `k${i}`);
export const token = 'kill-test-token';
const requestTimeoutMs = 20_000;
/** Duration of a watch that receives a bookmark after one or two seconds, depending on the server's check interval. */
const stayingSeconds = 3;

interface Answer {
  readonly status: number;
  readonly body: { readonly metadata?: { readonly resourceVersion?: string; readonly name?: string } } & Record<string, unknown>;
}
interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: { readonly text: string };
}
interface ConfigMapList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ConfigMap[];
}

interface Watcher {
  name: string;
  /** Last version received; undefined: starts with a list. */
  cursor: number | undefined;
}

/** State that outlives the clients of one server: the last operation id and the watchers' positions. */
export class ClientMemory {
  last = 0;
  watchersEver = 0;
  readonly watchers: Watcher[] = [];
}

/** Clients of one server, or of several on the same store, among which each request chooses. */
export class Clients {
  readonly #agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly #ports: readonly number[];
  readonly #next: (below: number) => number;
  readonly #history: HistoryEntry[];
  readonly #memory: ClientMemory;
  #isOver = false;
  #acknowledged = 0;
  readonly #firstWrite = Promise.withResolvers<void>();
  readonly #firstBookmark = Promise.withResolvers<void>();

  constructor(ports: readonly number[], next: (below: number) => number, history: HistoryEntry[], memory = new ClientMemory()) {
    this.#ports = ports;
    this.#next = next;
    this.#history = history;
    this.#memory = memory;
  }

  /** Resolves when the first write is acknowledged. */
  get hasWritten(): Promise<void> {
    return this.#firstWrite.promise;
  }

  /** Resolves when a watcher has received a bookmark. */
  get hasBookmark(): Promise<void> {
    return this.#firstBookmark.promise;
  }

  /** Number of acknowledged writes. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    const { watchers } = this.#memory;
    while (watchers.length < this.watchers) watchers.push({ name: '', cursor: undefined });
    const writers = Array.from({ length: 16 }, () => this.#write());
    await Promise.all([...writers, this.#read(), this.#read(), this.#readLists(), ...watchers.map((watcher) => this.#watch(watcher))]);
  }

  /** Number of concurrent watchers. */
  get watchers(): number {
    return 1 + this.#ports.length;
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
  }

  #anyPort(): number {
    return this.#ports[this.#next(this.#ports.length)]!;
  }

  /** Returns undefined if the outcome is unknown. */
  async #call(method: string, path: string, body?: object): Promise<Answer | undefined> {
    const { promise, resolve: answer } = Promise.withResolvers<Answer | undefined>();
    const text = body && JSON.stringify(body);
    // node:http does not set the length of a DELETE body.
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
    // Retries after a short delay if the connection was refused.
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
      const id = ++this.#memory.last;
      const text = verb === 'delete' ? '' : String(id);
      this.#history.push({ type: 'begin', id, verb, key: `${storePrefix}${name}`, expected, text });
      const answer = await this.#send(verb, name, expected, text);
      // After a 504 the outcome is unknown to the server, too.
      if (!answer || answer.status === 504) continue;
      this.#firstWrite.resolve();
      if (answer.status < 400) this.#acknowledged += 1;
      if (answer.status >= 400) this.#history.push({ type: 'reject', id, error: String(answer.body['reason']) });
      // The response to a deletion lacks its revision, which is looked up in the log.
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
      const id = ++this.#memory.last;
      this.#history.push({ type: 'readBegin', id, key: `${storePrefix}${name}` });
      const answer = await this.#call('GET', `${collection}/${name}`);
      if (answer?.status === 200) {
        const { metadata, data } = answer.body as unknown as ConfigMap;
        this.#history.push({ type: 'readEnd', id, revision: Number(metadata.resourceVersion), text: data?.text ?? '' });
      } else if (answer?.status === 404) this.#history.push({ type: 'readEnd', id, revision: 0, text: '' });
      await sleep(1);
    }
  }

  async #readLists(): Promise<void> {
    for (; !this.#isOver; await sleep(20)) await this.#list();
  }

  /** Lists all objects, in one response or in pages. Returns the revision; undefined without a response. */
  async #list(): Promise<number | undefined> {
    const id = ++this.#memory.last;
    const limit = this.#next(3) === 0 ? 1 + this.#next(15) : 0;
    const path = `${collection}?limit=${limit}${this.#next(2) === 0 ? `&${selector}` : ''}`;
    const records: ListedRecord[] = [];
    let revision = 0;
    this.#history.push({ type: 'listBegin', id });
    for (let token: string | undefined = ''; token !== undefined; ) {
      const answer = await this.#call('GET', `${path}${token && `&continue=${encodeURIComponent(token)}`}`);
      if (answer?.status !== 200) return undefined;
      const { metadata, items } = answer.body as unknown as ConfigMapList;
      // All pages have the revision of the first.
      if (revision !== 0 && revision !== Number(metadata.resourceVersion)) throw new Error(`list ${id} has pages of several revisions`);
      revision = Number(metadata.resourceVersion);
      for (const item of items) records.push(listed(item));
      token = metadata.continue;
    }
    this.#history.push({ type: 'listEnd', id, revision, records });
    return revision;
  }

  /** Lists, then watches from that revision and resumes on any server when the watch ends; lists again after a 410. */
  async #watch(watcher: Watcher): Promise<void> {
    while (!this.#isOver) {
      if (watcher.cursor === undefined) {
        watcher.name = `watch-${++this.#memory.watchersEver}`;
        // Otherwise the watch sends initial events.
        if (this.#next(2) === 0) watcher.cursor = await this.#list();
      }
      await this.#watchOnce(watcher);
    }
  }

  /**
   * Runs one watch. The watcher disconnects after some events or about a second; or it stays until the server ends the
   * watch, with a bookmark before that.
   */
  async #watchOnce(watcher: Watcher): Promise<void> {
    const { promise, resolve: left } = Promise.withResolvers<undefined>();
    const { name, cursor: from } = watcher;
    const stays = this.#next(3) === 0;
    let remaining = stays ? Infinity : 1 + this.#next(100);
    const initial = from === undefined ? new Map<string, ListedRecord>() : undefined;
    const id = ++this.#memory.last;
    if (initial) this.#history.push({ type: 'listBegin', id });
    const start = from === undefined ? 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan' : `resourceVersion=${from}`;
    const path = `${collection}?watch=1&allowWatchBookmarks=true&${selector}&${start}${stays ? `&timeoutSeconds=${stayingSeconds}` : ''}`;
    const see = ({ type, object }: { readonly type: string; readonly object: ConfigMap }): void => {
      const [key, revision, text] = listed(object);
      if (initial && watcher.cursor === undefined) {
        if (type === 'DELETED') initial.delete(key);
        else if (type !== 'BOOKMARK') initial.set(key, [key, revision, text]);
        if (object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return;
        this.#history.push({ type: 'listEnd', id, revision, records: [...initial.values()] });
        this.#history.push({ type: 'watch', watcher: name, from: revision });
      }
      watcher.cursor = revision;
      if (type === 'BOOKMARK') {
        this.#history.push({ type: 'bookmark', watcher: name, revision });
        this.#firstBookmark.resolve();
      } else this.#history.push({ type: 'event', watcher: name, revision, key, text: type === 'DELETED' ? '' : text });
    };
    const gone = (): void => {
      this.#history.push({ type: 'gone', watcher: name });
      watcher.cursor = undefined;
    };
    const headers = { authorization: `Bearer ${token}` };
    const request = https.request({ host: '127.0.0.1', port: this.#anyPort(), agent: this.#agent, path, headers }, (response) => {
      response.on('close', () => left(undefined));
      if (response.statusCode === 410) gone();
      // The server cannot serve watches yet, or no longer.
      if (response.statusCode !== 200) return void request.destroy();
      if (from !== undefined) this.#history.push({ type: 'watch', watcher: name, from });
      let text = '';
      response.setEncoding('utf8').on('data', (data: string) => {
        const lines = (text + data).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) {
          if (remaining-- === 0) return void request.destroy();
          if (remaining < 0) return;
          const event = JSON.parse(line) as { readonly type: string; readonly object: ConfigMap & { readonly code?: number } };
          if (event.type === 'ERROR') {
            if (event.object.code === 410) gone();
            return void request.destroy();
          }
          see(event);
        }
      });
    });
    request.on('error', () => left(undefined));
    // Does not wait for a watch of a paused server.
    const impatience = setTimeout(() => request.destroy(), stays ? 2 * stayingSeconds * 1_000 : 1_000 + this.#next(4_000));
    request.end();
    await promise;
    clearTimeout(impatience);
    if (watcher.cursor === from) await sleep(20);
  }
}

/** Parses a response; undefined if the server died during it. */
function parsed(status: number, text: string): Answer | undefined {
  try {
    return { status, body: JSON.parse(text) as Answer['body'] };
  } catch {
    return undefined;
  }
}

function listed({ metadata, data }: ConfigMap): ListedRecord {
  return [`${storePrefix}${metadata.name}`, Number(metadata.resourceVersion), data?.text ?? ''];
}

/** Adds the revisions of acknowledged deletions to the history, as far as the log contains them. */
export function withDeletions(history: readonly HistoryEntry[], log: readonly LogEvent[]): HistoryEntry[] {
  const deletions = new Map(log.filter(({ text }) => text === '').map(({ key, previous, revision }) => [`${key}@${previous}`, revision]));
  const asked = new Map<number, string>();
  return history.map((entry) => {
    if (entry.type === 'begin' && entry.verb === 'delete') asked.set(entry.id, `${entry.key}@${entry.expected}`);
    const deletion = entry.type === 'ack' ? asked.get(entry.id) : undefined;
    return entry.type === 'ack' && deletion !== undefined ? { ...entry, revision: deletions.get(deletion) ?? -entry.id } : entry;
  });
}

/** Returns the client's text in stored JSON. */
export function textOf(bytes: Buffer): string {
  return (JSON.parse(bytes.toString()) as ConfigMap).data?.text ?? '';
}
