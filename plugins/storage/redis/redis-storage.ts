import type { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import {
  ClosedError,
  CompactedError,
  ConflictError,
  FutureRevisionError,
  KeyExistsError,
  UnavailableError,
  UnknownOutcomeError,
  validateKey,
  validatePrefix,
} from 'kubenest/sdk';
import type {
  Durability,
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
import { type Checking, Connection, type RedisTls, type Reply } from './connection.ts';
import { adopt, compactSome, events, expire, page, raise, read, startCompaction } from './scripts.ts';
import { checkServer, durabilityProblems } from './server-check.ts';
import { Tail } from './tail.ts';
import { parseVersion } from './version.ts';
import { type Write, WriteQueue, type Written } from './write-queue.ts';

export interface RedisStorageOptions extends RedisTls {
  /** `redis://user:password@host:port/database`, or `rediss:` for TLS. */
  readonly url: string;
  /** Prefix of all keys in redis, so that several stores can share a server. Default: `kubenest`. */
  readonly prefix?: string | undefined;
  /** True if a server that may lose acknowledged writes is accepted. Default: false. */
  readonly acceptDataLoss?: boolean | undefined;
  /** Number of replicas whose logs must contain a write before it is acknowledged; requires redis 7.2. Default: 0. */
  readonly syncedReplicas?: number | undefined;
  /** Interval at which data overwritten before the previous run is removed. Default: 5 minutes; 0: never. */
  readonly compactionIntervalMs?: number | undefined;
}

const defaultCompactionMs = 300_000;
const expiryMs = 500;
const expiryBatch = 100;
const compactionBatch = 200;
const eventBatch = 200;
/** Maximum number of keys that a script examines, because it blocks all clients of the server. */
const pageKeys = 500;
const healthMs = 2_000;
const durabilityMs = 30_000;

/**
 * Storage in a redis server (7.0 or newer), which several API servers can share. Each write is an atomic Lua script that
 * compares, increments the revision, stores the version and appends the event to a stream. Acknowledged writes are durable,
 * because the storage verifies at start that the server syncs its log with each write (`appendfsync always`). See
 * docs/guide/redis.md.
 */
export class RedisStorage implements Storage {
  readonly #connection: Connection;
  readonly #tailConnection: Connection;
  readonly #tail: Tail;
  readonly #queue: WriteQueue;
  readonly #prefix: string;
  readonly #closing = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #acceptsDataLoss: boolean;
  readonly #syncedReplicas: number;
  /** Distinguishes this storage's writes from others. */
  readonly #mark = randomBytes(6).toString('base64url');
  /** The highest revision seen; a server with a lower one has lost writes. */
  #seen: Revision = 1;
  /** The pending read of the revision, shared by all callers in this turn. */
  #asked: Promise<Revision> | undefined;
  readonly sharesRevision = true;
  #durability: Durability = { isDurable: false, detail: 'redis has not been checked yet', losses: 0 };
  readonly #durabilityListeners = new Set<() => void>();
  /** Epoch of the history as last seen; undefined before the first connect. */
  #epoch: number | undefined;
  /** Settles when both connections have recorded the results of their checks. */
  #adopted: Promise<void> = Promise.resolve();
  #isExpiring = false;

  private constructor(options: RedisStorageOptions) {
    this.#prefix = options.prefix ?? 'kubenest';
    this.#acceptsDataLoss = options.acceptDataLoss ?? false;
    this.#syncedReplicas = options.syncedReplicas ?? 0;
    this.#connection = new Connection(options);
    this.#tailConnection = new Connection(options);
    this.#tail = new Tail(this.#tailConnection, `${this.#prefix}:events`);
    this.#queue = new WriteQueue(
      this.#connection,
      { prefix: this.#prefix, mark: this.#mark },
      () => Math.max(this.#seen, this.#tail.revision),
      (write) => this.#conflictOf(write),
      (revision) => {
        this.#tail.noteWritten({ revision, mark: this.#mark });
        this.#note(revision);
      },
    );
  }

  /**
   * Rejects with UnavailableError if the server is unreachable, too old or a cluster, and, unless `acceptDataLoss`, if its
   * settings allow the loss of acknowledged writes.
   */
  static async open(options: RedisStorageOptions): Promise<RedisStorage> {
    const storage = new RedisStorage(options);
    try {
      await storage.#open(options);
      return storage;
    } catch (error) {
      await storage.close();
      throw error;
    }
  }

  async #open({ compactionIntervalMs = defaultCompactionMs }: RedisStorageOptions): Promise<void> {
    // Either connection may be the first to reach another server, whose events must not continue the old stream.
    await this.#connection.open(async (checking) => {
      await this.#adopt(checking);
      // The blocking connection may still be at the old server, which does not report that it became a replica.
      void this.#tailConnection.check();
    });
    await this.#tailConnection.open((checking) => this.#adopt(checking));
    this.#tail.start(this.#seen);
    this.#every(durabilityMs, () => this.#connection.check());
    this.#every(expiryMs, () => this.#expire());
    if (compactionIntervalMs > 0) {
      let last = 0;
      this.#every(compactionIntervalMs, async () => {
        const due = last;
        last = await this.currentRevision();
        if (due > 0) await this.compact(due);
      });
    }
  }

  /** Reads at the end of the turn, so that the result is later than each call in it. */
  currentRevision(): Promise<Revision> {
    if (!this.#asked) {
      const { promise, resolve } = Promise.withResolvers<Revision>();
      this.#asked = promise;
      setImmediate(() => {
        this.#asked = undefined;
        resolve(this.#askRevision());
      });
    }
    return this.#asked;
  }

  async #askRevision(): Promise<Revision> {
    this.#refuseClosed();
    const revision = Number((await this.#readCommand('GETEX', `${this.#prefix}:rev`)) ?? 1);
    this.#note(revision);
    return revision;
  }

  async get(key: string, { revision }: GetOptions = {}): Promise<StorageRecord | undefined> {
    validateKey(key);
    this.#refuseClosed();
    const answer = (await this.#readScript(read, this.#prefix, key, revision ?? '')) as readonly [Buffer, Buffer, Buffer];
    if (revision !== undefined) checkRevision(revision, Number(answer[0]), Number(answer[1]));
    return parseVersion(key, answer[2])?.record;
  }

  async list(prefix: string, { revision, limit = 0, from = prefix, uncounted = false }: ListOptions = {}): Promise<ListResult> {
    validatePrefix(prefix);
    const current = await this.currentRevision();
    const at = revision ?? current;
    checkRevision(at, current, await this.compactRevision());
    const records: StorageRecord[] = [];
    let count = 0;
    const end = `(${prefix.slice(0, -1)}0`;
    for (let start = `[${from > prefix ? from : prefix}`; start !== ''; ) {
      const most = limit > 0 ? limit - records.length : pageKeys;
      const answer = (await this.#readScript(page, this.#prefix, start, end, at, most, pageKeys)) as readonly Buffer[];
      if (at < Number(answer[0])) throw new CompactedError(at, Number(answer[0]));
      start = answer[1]?.length ? `(${answer[1].toString()}` : '';
      count += Number(answer[2]);
      for (let i = 3; i < answer.length; i += 2) {
        const version = parseVersion((answer[i] as Buffer).toString(), answer[i + 1] as Buffer);
        if (version?.record) records.push(version.record);
      }
      if (uncounted && count > records.length) break;
    }
    return { records, revision: at, more: count > records.length, count };
  }

  async create(key: string, encode: Encode, { ttlSeconds = 0 }: WriteOptions = {}): Promise<StorageRecord> {
    return recordOf(key, await this.#write('P', key, 0, encode, ttlSeconds));
  }

  async update(key: string, expected: Revision, encode: Encode, { ttlSeconds = 0 }: WriteOptions = {}): Promise<StorageRecord> {
    return recordOf(key, await this.#write('P', key, expected, encode, ttlSeconds));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    const record = await this.get(key);
    if (record?.revision !== expected) throw new ConflictError(key, record);
    const { revision } = await this.#write('D', key, expected, undefined, 0);
    return { record, revision };
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncGenerator<StorageEvent, void> {
    validatePrefix(prefix);
    this.#refuseClosed();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    for (let cursor = from; !ended.aborted; ) {
      let batch: readonly Buffer[];
      try {
        batch = (await this.#readScript(events, this.#prefix, cursor, eventBatch)) as readonly Buffer[];
      } catch (error) {
        if (ended.aborted) return;
        throw error;
      }
      if (cursor < Number(batch[0])) throw new CompactedError(cursor, Number(batch[0]));
      for (let i = 1; i < batch.length && !ended.aborted; i += 5) {
        const event = eventOf(batch, i);
        cursor = event.revision;
        if (event.key.startsWith(prefix)) yield event;
      }
      if (batch.length === 1) await this.#tail.after(cursor, ended);
    }
  }

  async compact(revision: Revision): Promise<void> {
    this.#refuseClosed();
    const [current, before] = ((await this.#readScript(startCompaction, this.#prefix, revision)) as readonly Buffer[]).map(Number);
    if (revision > (current as Revision)) throw new FutureRevisionError(revision, current as Revision);
    if (revision <= (before as Revision)) return;
    this.#tail.wake();
    while (Number(await this.#readScript(compactSome, this.#prefix, revision, compactionBatch)) === compactionBatch) {
      // Other commands run between the batches.
    }
  }

  async raiseRevision(revision: Revision): Promise<void> {
    this.#refuseClosed();
    this.#note(Number(await this.#connection.run(raise, this.#prefix, revision)));
  }

  async compactRevision(): Promise<Revision> {
    this.#refuseClosed();
    return Number((await this.#readCommand('GETEX', `${this.#prefix}:compact`)) ?? 0);
  }

  async healthy(timeoutMs = healthMs): Promise<void> {
    this.#refuseClosed();
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new UnavailableError(`storage: redis did not respond within ${timeoutMs} ms`)), timeoutMs);
    const written = this.#readCommand('SET', `${this.#prefix}:health`, Date.now());
    await Promise.race([written, promise]).finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await this.#queue.idle();
    this.#tail.close();
    this.#tailConnection.close();
    this.#connection.close();
  }

  async #write(
    operation: Write['operation'],
    key: string,
    expected: Revision,
    encode: Encode | undefined,
    ttlSeconds: number,
  ): Promise<Written> {
    validateKey(key);
    this.#refuseClosed();
    const { promise, resolve, reject } = Promise.withResolvers<Written>();
    this.#queue.add({ operation, key, expected, encode, ttlSeconds, resolve, reject });
    return promise;
  }

  /** Returns the error of a write whose key is at another revision. */
  async #conflictOf({ key, expected, operation }: Write): Promise<Error> {
    const answer = (await this.#readScript(read, this.#prefix, key, '')) as readonly [Buffer, Buffer, Buffer];
    const current = parseVersion(key, answer[2])?.record;
    return operation === 'P' && expected === 0 ? new KeyExistsError(key) : new ConflictError(key, current);
  }

  /**
   * Checks the server after each connect, before any other command: its suitability, the durability of its writes, and the
   * presence of all writes seen. Rejects with the reason.
   */
  async #adopt(connection: Checking): Promise<void> {
    const { version, hasWaitAof, promotion } = await checkServer(connection);
    const problems = await durabilityProblems(connection);
    if (this.#syncedReplicas > 0 && !hasWaitAof)
      throw new UnavailableError(`storage: redis ${version} cannot wait for the logs of replicas (--redis-synced-replicas); 7.2 can`);
    const isDurable = problems.length === 0;
    this.#changeDurability({
      isDurable,
      detail: isDurable ? durableDetail(version, hasWaitAof, this.#syncedReplicas) : problems.join('; '),
    });
    if (!isDurable && !this.#acceptsDataLoss)
      throw new UnavailableError(`storage: ${problems.join('; ')} (--redis-accept-data-loss opens it nevertheless)`);
    this.#queue.syncs = hasWaitAof && isDurable ? this.#syncedReplicas : undefined;
    // Sequential: results of the other connection must be recorded, or they would count as found by another server.
    const compared = this.#adopted.then(() => this.#compare(connection, promotion));
    this.#adopted = compared.catch(() => {});
    return compared;
  }

  /** Compares the server's history with the one seen, and updates the epoch. */
  async #compare(connection: Checking, promotion: string): Promise<void> {
    const { revision, mark } = this.#tail.last;
    const answer = (await connection.run(adopt, this.#prefix, this.#seen, revision, mark, promotion)) as readonly Reply[];
    const [current, before, epoch] = answer.map(Number) as [Revision, number, number];
    // Losses detected by other servers count, too. The epoch itself may be among the lost data.
    this.#changeDurability({ losses: this.#durability.losses + epoch - Math.min(before, this.#epoch ?? before) });
    this.#epoch = epoch;
    this.#note(current);
  }

  #changeDurability(news: Partial<Durability>): void {
    const before = this.#durability;
    const now = { ...before, ...news };
    if (now.isDurable === before.isDurable && now.detail === before.detail && now.losses === before.losses) return;
    this.#durability = now;
    for (const listener of this.#durabilityListeners) listener();
  }

  /** Returns the durability as last determined. */
  durability(): Durability {
    return this.#durability;
  }

  onDurabilityChange(listener: () => void): () => void {
    this.#durabilityListeners.add(listener);
    return () => this.#durabilityListeners.delete(listener);
  }

  async #expire(): Promise<void> {
    if (this.#isExpiring) return;
    this.#isExpiring = true;
    try {
      while (Number(await this.#connection.run(expire, this.#prefix, expiryBatch, this.#mark)) === expiryBatch);
    } finally {
      this.#isExpiring = false;
    }
  }

  /** Failures are retried at the next interval, because the connection may be down. */
  #every(milliseconds: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void work().catch(() => {}), milliseconds).unref());
  }

  #note(revision: Revision): void {
    this.#seen = Math.max(this.#seen, revision);
    if (revision > this.#tail.revision) this.#tail.wake(revision);
  }

  async #readScript(script: string, ...args: (string | number)[]): Promise<Reply> {
    return this.#connection.run(script, ...args).catch(asRead);
  }

  async #readCommand(command: string, ...args: (string | number)[]): Promise<Reply> {
    return this.#connection.call(command, ...args).catch(asRead);
  }

  #refuseClosed(): void {
    if (this.#closing.signal.aborted) throw new ClosedError();
  }
}

function durableDetail(version: string, hasWaitAof: boolean, replicas: number): string {
  const waits = hasWaitAof ? `, WAITAOF 1 ${replicas}` : '';
  return `redis ${version} syncs its log with each write (appendfsync always${waits})`;
}

/** Converts an unknown outcome of a read, which can be repeated, to UnavailableError. */
function asRead(error: unknown): never {
  throw error instanceof UnknownOutcomeError ? new UnavailableError(error.message, { cause: error }) : error;
}

function checkRevision(revision: Revision, current: Revision, compacted: Revision): void {
  if (revision < compacted) throw new CompactedError(revision, compacted);
  if (revision > current) throw new FutureRevisionError(revision, current);
}

function recordOf(key: string, { revision, createRevision, value }: Written): StorageRecord {
  return { key, revision, createRevision, value };
}

/** Returns the event whose five values start at index `i`. */
function eventOf(batch: readonly Buffer[], i: number): StorageEvent {
  const [revision, key, operation, version, before] = batch.slice(i, i + 5).map((bytes) => bytes as Buffer);
  const name = String(key);
  const at = Number(revision);
  const previous = parseVersion(name, before as Buffer)?.record;
  if (String(operation) === 'D') return { type: 'DELETE', key: name, revision: at, record: undefined, previous };
  const record = parseVersion(name, version as Buffer)?.record;
  // The record was compacted after the stream was read.
  if (!record) throw new CompactedError(at - 1, at);
  return { type: 'PUT', key: name, revision: at, record, previous };
}
