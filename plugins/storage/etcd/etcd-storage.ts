import { Buffer } from 'node:buffer';
import type { ServiceError } from '@grpc/grpc-js';
import {
  ClosedError,
  CompactedError,
  compareKeys,
  ConflictError,
  FutureRevisionError,
  KeyExistsError,
  NoSpaceError,
  UnavailableError,
  validateKey,
  validatePrefix,
} from 'kubenest/sdk';
import type {
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from 'kubenest/sdk';
import type { EtcdClient, EtcdEndpoints } from './client.ts';
import { Compactor } from './compactor.ts';
import { CreateRevisions } from './create-revisions.ts';
import type { WatchStream } from './endpoint.ts';
import { compacted, futureRevision, noSpace, noSpaceAlarm } from './errors.ts';
import { LeaseManager } from './lease-manager.ts';
import { deleteEvent, type EtcdEvent, type KeyValue, modTarget, type TxnResponse, type WatchResponse } from './messages.ts';

/** Upstream's names of the operations. */
export type EtcdOperation = 'get' | 'list' | 'create' | 'update' | 'delete';

export interface EtcdStorageOptions extends EtcdEndpoints {
  /** Prefix of all keys. Default: `/registry`. */
  readonly prefix?: string | undefined;
  /** Default: 5 minutes; 0: never. */
  readonly compactionIntervalMs?: number | undefined;
  /** Called after each operation with its key or prefix and its duration in milliseconds. */
  readonly onOperation?: ((operation: EtcdOperation, key: string, milliseconds: number, error: boolean) => void) | undefined;
  /** Maximum additional lifetime of keys, so that they can share leases. Default: a minute. */
  readonly leaseReuseSeconds?: number | undefined;
}

const defaultCompactionMs = 300_000;
const defaultHealthMs = 2_000;
/** Maximum number of records in one call, which bounds message sizes and the load of the server. */
const pageKeys = 500;
/** Takes etcd about an hour. */
const raiseAtMost = 30_000_000;
const raiseWriters = 128;
/** Number of raising writes between compactions; ten million revisions would otherwise leave a gigabyte. */
const raisedBetweenCompactions = 100_000;

export type RangeRequest = Parameters<EtcdClient['range']>[0] & { readonly revision: Revision };
export type RangeResponse = Awaited<ReturnType<EtcdClient['range']>>;

/** Returns the prefix of all keys, without the trailing `/`. */
export function rootOf({ prefix = '/registry' }: EtcdStorageOptions): string {
  return `/${prefix.replace(/^\/+|\/+$/g, '')}`;
}

/**
 * Storage in etcd with the keys and transactions of kube-apiserver, so that both can use the same etcd at the same time;
 * kine, which implements only this subset, is supported as well (kine-storage.ts). Values are the results of `encode`. etcd
 * reports the revision only after a write, so `encode` is called with the expected revision and the returned value is
 * re-encoded if the actual one differs. See docs/guide/etcd.md.
 */
export class EtcdStorage implements Storage {
  protected readonly client: EtcdClient;
  protected readonly root: string;
  readonly #leases: LeaseManager;
  readonly #onOperation: EtcdStorageOptions['onOperation'];
  readonly #created = new CreateRevisions();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #streams = new Set<WatchStream>();
  #compactionTimer: NodeJS.Timeout | undefined;
  /** The highest revision seen. */
  #seen: Revision;
  /** Lower bound of the compact revision. */
  #compacted: Revision = 0;

  /** `client` has answered with the revision `seen`; closing the store closes it. */
  constructor(client: EtcdClient, options: EtcdStorageOptions, seen: Revision) {
    this.client = client;
    this.root = rootOf(options);
    this.#onOperation = options.onOperation;
    this.#leases = new LeaseManager(client, options.leaseReuseSeconds);
    this.#seen = Math.max(1, seen);
    const interval = options.compactionIntervalMs ?? defaultCompactionMs;
    if (interval > 0) this.#compactEvery(interval);
  }

  async currentRevision(): Promise<Revision> {
    this.refuseClosed();
    return this.#track(this.headRevision());
  }

  async get(key: string, { revision }: GetOptions = {}): Promise<StorageRecord | undefined> {
    validateKey(key);
    this.refuseClosed();
    return this.#timed('get', key, this.#track(this.read(key, revision)));
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    validatePrefix(prefix);
    this.refuseClosed();
    return this.#timed('list', prefix, this.#track(this.readAll(prefix, options)));
  }

  async create(key: string, encode: Encode, { ttlSeconds = 0 }: WriteOptions = {}): Promise<StorageRecord> {
    validateKey(key);
    this.refuseClosed();
    return this.#timed('create', key, this.#track(this.#create(key, encode, ttlSeconds)));
  }

  async update(key: string, expected: Revision, encode: Encode, { ttlSeconds = 0 }: WriteOptions = {}): Promise<StorageRecord> {
    validateKey(key);
    this.refuseClosed();
    return this.#timed('update', key, this.#track(this.#update(key, expected, encode, ttlSeconds)));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    validateKey(key);
    this.refuseClosed();
    return this.#timed('delete', key, this.#track(this.#delete(key, expected)));
  }

  async #timed<T>(operation: EtcdOperation, key: string, work: Promise<T>): Promise<T> {
    if (!this.#onOperation) return work;
    const begin = performance.now();
    let failed = true;
    try {
      const result = await work;
      failed = false;
      return result;
    } finally {
      this.#onOperation(operation, key, performance.now() - begin, failed);
    }
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncGenerator<StorageEvent, void> {
    validatePrefix(prefix);
    this.refuseClosed();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    if (ended.aborted) return;
    const stream = this.client.watch();
    const cancel = (): void => stream.cancel();
    ended.addEventListener('abort', cancel, { once: true });
    this.#streams.add(stream);
    try {
      const key = this.root + prefix;
      stream.write({ create: { key, rangeEnd: endOf(key), startRevision: from + 1, progressNotify: true, prevKv: true } });
      for await (const response of stream as AsyncIterable<WatchResponse>) {
        if (response.created && !response.canceled) await this.#refuseCompacted(from);
        yield* this.#eventsOf(response, from);
      }
      if (!ended.aborted) throw new UnavailableError('storage: etcd ended a watch');
    } catch (error) {
      if (ended.aborted) return;
      throw isServiceError(error) ? this.client.watchFailed(stream, error) : error;
    } finally {
      this.#streams.delete(stream);
      ended.removeEventListener('abort', cancel);
      stream.cancel();
    }
  }

  async requestProgress(): Promise<void> {
    this.refuseClosed();
    for (const stream of this.#streams) stream.write({ progress: {} });
  }

  async compact(revision: Revision): Promise<void> {
    this.refuseClosed();
    try {
      await this.#track(this.client.compact(revision));
      this.#compacted = Math.max(this.#compacted, revision);
    } catch (error) {
      if (isCompacted(error)) return;
      throw await this.#revisionError(error, revision);
    }
  }

  /**
   * Raises the revision by writes of temporary keys outside of the prefix, because only writes increment etcd's revision.
   * They have the form of normal writes, as kine requires.
   */
  async raiseRevision(revision: Revision): Promise<void> {
    const missing = revision - (await this.currentRevision());
    if (missing <= 0) return;
    if (missing > raiseAtMost) {
      throw new UnavailableError(
        `storage: etcd is ${missing} revisions behind; at most ${raiseAtMost} can be raised by writes; ` +
          'raise them first with etcdutl snapshot restore --bump-revision (docs/guide/backup.md), ' +
          'or restart the revisions with --revisions=restart and then restart all clients',
      );
    }
    const keys = Array.from({ length: raiseWriters }, (_, index) => `-revision/${index}`);
    for (let left = missing; left > 0; left -= raisedBetweenCompactions) {
      let writes = Math.min(left, raisedBetweenCompactions);
      const write = async (key: string): Promise<void> => {
        for (let at = await this.#revisionOf(key); writes-- > 0; ) at = await this.#overwrite(key, at);
      };
      await this.#track(Promise.all(keys.map(write)));
      if (left > raisedBetweenCompactions) await this.#track(this.client.compact(this.#seen));
    }
    const remove = async (key: string): Promise<void> => {
      const at = await this.#revisionOf(key);
      if (at > 0) await this.#delete(key, at);
    };
    await this.#track(Promise.all(keys.map(remove)));
  }

  /**
   * Finds the compact revision, which etcd does not report, as the first readable one. A single call suffices if it has not
   * changed.
   */
  async compactRevision(): Promise<Revision> {
    this.refuseClosed();
    // Revisions before `low` cannot be read, those after `high` can.
    let low = Math.max(1, this.#compacted);
    let high = await this.currentRevision();
    if (await this.#isReadable(low)) return this.#compacted;
    while (low + 1 < high) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#isReadable(middle)) high = middle;
      else low = middle;
    }
    this.#compacted = Math.max(this.#compacted, high);
    return this.#compacted;
  }

  async size(): Promise<number> {
    this.refuseClosed();
    return (await this.#track(this.client.status())).dbSize;
  }

  async healthy(timeoutMs = defaultHealthMs): Promise<void> {
    this.refuseClosed();
    // A read needs a quorum but reports no alarms; the status reports alarms but needs no quorum.
    const read = this.client.range({ key: `${this.root}/health` }, timeoutMs);
    const [hasRoom] = await this.#track(Promise.all([this.hasRoom(timeoutMs), read]));
    if (!hasRoom) throw new NoSpaceError(`storage: etcd: ${noSpace}`);
  }

  async close(): Promise<void> {
    clearInterval(this.#compactionTimer);
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
    this.client.close();
  }

  /** Resolves to false if the NOSPACE alarm is active; true if the status is unavailable. */
  protected async hasRoom(timeoutMs: number): Promise<boolean> {
    return this.client.status(timeoutMs).then(
      ({ errors }) => !errors.some((error) => noSpaceAlarm.test(error)),
      () => true,
    );
  }

  /** Key for reads whose content is irrelevant. */
  protected get anyKey(): string {
    return `${this.root}/`;
  }

  /** Returns the revision in the header of any read. */
  protected async headRevision(): Promise<Revision> {
    const { header } = await this.client.range({ key: this.anyKey, limit: 1 });
    return this.#note(header?.revision ?? 0);
  }

  protected async read(key: string, revision: Revision | undefined): Promise<StorageRecord | undefined> {
    const name = this.root + key;
    const { kvs } = await this.range({ key: name, limit: 1, revision: revision ?? 0 });
    return kvs[0]?.key === name ? this.#recordOf(kvs[0], revision === undefined) : undefined;
  }

  protected async readAll(prefix: string, { revision, limit = 0, from = prefix }: ListOptions): Promise<ListResult> {
    const rangeEnd = endOf(this.root + prefix);
    const records: StorageRecord[] = [];
    let at = revision;
    let count: number | undefined;
    for (let key = this.root + (compareKeys(from, prefix) > 0 ? from : prefix); ; ) {
      if (compareKeys(key, rangeEnd) >= 0) return { records, revision: at ?? (await this.headRevision()), more: false, count: 0 };
      const page = limit > 0 ? Math.min(limit - records.length, pageKeys) : pageKeys;
      const answer = await this.range({ key, rangeEnd, limit: page, revision: at ?? 0 });
      at ??= answer.header?.revision ?? 0;
      count ??= answer.count;
      for (const kv of answer.kvs) records.push(this.#recordOf(kv, false));
      const last = answer.kvs.at(-1);
      const isEnough = limit > 0 && records.length >= limit;
      if (!answer.more || !last || isEnough) return { records, revision: at, more: answer.more, count };
      key = `${last.key}\0`;
    }
  }

  /** Rejects with the contract's error for an unreadable revision. */
  protected async range(request: RangeRequest): Promise<RangeResponse> {
    try {
      const answer = await this.client.range(request);
      this.#note(answer.header?.revision ?? 0);
      return answer;
    } catch (error) {
      throw await this.#revisionError(error, request.revision);
    }
  }

  async #create(key: string, encode: Encode, ttlSeconds: number): Promise<StorageRecord> {
    // A key known to exist need not be encoded and sent.
    if (this.#created.has(key) && (await this.read(key, undefined))) throw new KeyExistsError(key);
    const { answer, value } = await this.#put(key, 0, encode, ttlSeconds);
    if (!answer.succeeded) throw new KeyExistsError(key);
    return this.#written(key, revisionOf(answer), value);
  }

  async #update(key: string, expected: Revision, encode: Encode, ttlSeconds: number): Promise<StorageRecord> {
    let createRevision = this.#created.of(key, expected);
    if (createRevision === undefined) {
      const present = await this.read(key, undefined);
      if (present?.revision !== expected) throw new ConflictError(key, present);
      ({ createRevision } = present);
    }
    const { answer, value } = await this.#put(key, expected, encode, ttlSeconds);
    if (!answer.succeeded) throw this.#conflict(key, answer);
    return this.#written(key, revisionOf(answer), value, createRevision);
  }

  async #delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    const record = await this.read(key, undefined);
    if (record?.revision !== expected) throw new ConflictError(key, record);
    const name = this.root + key;
    const answer = await this.client.txn({
      compare: [{ result: 0, target: modTarget, key: name, version: undefined, modRevision: expected }],
      success: [{ deleteRange: { key: name }, range: undefined, put: undefined }],
      failure: [{ range: { key: name }, put: undefined, deleteRange: undefined }],
    });
    if (!answer.succeeded) throw await this.deletionConflict(key, answer);
    if (!this.hasDeleted(answer, expected)) throw new ConflictError(key, undefined);
    this.#created.delete(key);
    return { record, revision: this.#note(revisionOf(answer)) };
  }

  /** Returns the conflict of a rejected deletion. */
  protected async deletionConflict(key: string, answer: TxnResponse): Promise<ConflictError> {
    return this.#conflict(key, answer);
  }

  /** True if an accepted deletion found the key. */
  protected hasDeleted({ responses }: TxnResponse, _expected: Revision): boolean {
    return (responses[0]?.deleteRange?.deleted ?? 0) > 0;
  }

  /** Writes a value; `encode` is called for the actual revision. Like upstream, a create does not read the existing value. */
  async #put(key: string, expected: Revision, encode: Encode, ttlSeconds: number): Promise<{ answer: TxnResponse; value: Buffer }> {
    const likely = this.#seen + 1;
    const value = encode(likely);
    const lease = ttlSeconds > 0 ? await this.#leases.leaseFor(ttlSeconds) : 0;
    const name = this.root + key;
    const answer = await this.client.txn({
      compare: [{ result: 0, target: modTarget, key: name, version: undefined, modRevision: expected }],
      success: [{ put: { key: name, value, lease }, range: undefined, deleteRange: undefined }],
      failure: expected === 0 ? [] : [{ range: { key: name }, put: undefined, deleteRange: undefined }],
    });
    const revision = this.#note(revisionOf(answer));
    return { answer, value: answer.succeeded && revision !== likely ? encode(revision) : value };
  }

  /** Returns 0 for a missing key. */
  async #revisionOf(key: string): Promise<Revision> {
    return (await this.read(key, undefined))?.revision ?? 0;
  }

  async #overwrite(key: string, expected: Revision): Promise<Revision> {
    const { answer } = await this.#put(key, expected, () => Buffer.from('1'), 0);
    if (!answer.succeeded) throw this.#conflict(key, answer);
    return revisionOf(answer);
  }

  #written(key: string, revision: Revision, value: Buffer, createRevision = revision): StorageRecord {
    this.#created.set(key, revision, createRevision);
    return { key, revision, createRevision, value };
  }

  #conflict(key: string, answer: TxnResponse): ConflictError {
    this.#note(revisionOf(answer));
    const [present] = answer.responses[0]?.range?.kvs ?? [];
    return new ConflictError(key, present && this.#recordOf(present, true));
  }

  /** `isPresent` is true if the record is the newest of its key. */
  #recordOf({ key: name, createRevision, modRevision, value }: KeyValue, isPresent: boolean): StorageRecord {
    const key = name.slice(this.root.length);
    if (isPresent) this.#created.set(key, modRevision, createRevision);
    return { key, revision: modRevision, createRevision, value };
  }

  *#eventsOf(response: WatchResponse, from: Revision): Generator<StorageEvent, void> {
    if (response.canceled) {
      if (response.compactRevision > 0) {
        this.#compacted = Math.max(this.#compacted, response.compactRevision);
        throw new CompactedError(from, response.compactRevision);
      }
      throw new UnavailableError(`storage: etcd ended a watch: ${response.cancelReason}`);
    }
    const revision = this.#note(response.header?.revision ?? 0);
    for (const event of response.events) yield this.#eventOf(event);
    if (response.events.length === 0 && !response.created)
      yield { type: 'PROGRESS', key: '', revision, record: undefined, previous: undefined };
  }

  #eventOf({ type, kv, prevKv }: EtcdEvent): StorageEvent {
    const { key: name, modRevision: revision } = kv as KeyValue;
    const key = name.slice(this.root.length);
    const previous = prevKv && prevKv.modRevision !== 0 ? this.#recordOf(prevKv as KeyValue, false) : undefined;
    if (type === deleteEvent) {
      this.#created.delete(key);
      return { type: 'DELETE', key, revision, record: undefined, previous };
    }
    return { type: 'PUT', key, revision, record: this.#recordOf(kv as KeyValue, true), previous };
  }

  /**
   * Rejects if the revision is compacted. A watch of etcd that starts exactly at the compact revision is accepted and would
   * miss a deletion.
   */
  async #refuseCompacted(revision: Revision): Promise<void> {
    if (!(await this.#isReadable(revision))) throw new CompactedError(revision, await this.compactRevision());
  }

  async #isReadable(revision: Revision): Promise<boolean> {
    try {
      await this.client.range({ key: this.anyKey, limit: 1, revision });
      return true;
    } catch (error) {
      if (isCompacted(error)) return false;
      if ((error as Error).message === futureRevision) return true;
      throw error;
    }
  }

  async #revisionError(error: unknown, revision: Revision | undefined): Promise<unknown> {
    if (revision === undefined) return error;
    if (isCompacted(error)) return new CompactedError(revision, await this.compactRevision());
    if ((error as Error).message === futureRevision) return new FutureRevisionError(revision, await this.headRevision());
    return error;
  }

  /** Failures are retried at the next interval. */
  #compactEvery(milliseconds: number): void {
    const compactor = new Compactor(this.client);
    this.#compactionTimer = setInterval(() => void this.#track(compactor.round()).catch(() => {}), milliseconds).unref();
  }

  #note(revision: Revision): Revision {
    if (revision > this.#seen) this.#seen = revision;
    return revision;
  }

  /** Registers work that closing waits for. */
  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = (): void => void this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }

  protected refuseClosed(): void {
    if (this.#closing.signal.aborted) throw new ClosedError();
  }
}

/** Returns the first key after all keys with a prefix, which ends with `/`. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}

function revisionOf({ header }: TxnResponse): Revision {
  return header?.revision ?? 0;
}

function isCompacted(error: unknown): boolean {
  return (error as Error).message === compacted;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';
}
