import type { Buffer } from 'node:buffer';
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import {
  ClosedError,
  CompactedError,
  ConflictError,
  FutureRevisionError,
  KeyExistsError,
  NoSpaceError,
  UnavailableError,
  UnknownOutcomeError,
  validateKey,
  validatePrefix,
} from 'kubenest/sdk';
import type {
  CommitFeed,
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageError,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from 'kubenest/sdk';
import { type Committer, InlineCommitter, WorkerCommitter } from './committer.ts';
import { Compaction } from './compaction.ts';
import { Expiries } from './expiries.ts';
import type { Expiry } from './expiry-queue.ts';
import { failpoint } from './failpoint.ts';
import type { IndexEntry, KeyIndex } from './key-index.ts';
import { type CommitAnswer, type CommitFailure, isFull, packBatch } from './log-file.ts';
import { LoggedEvent, LogReader } from './log-reader.ts';
import { openStore } from './open-store.ts';

export interface EmbeddedStorageOptions {
  /** Path of the database file; `-wal`, `-shm`, `-lock` and `-reserve` files are created beside it. undefined: in memory. */
  readonly file?: string | undefined;
  /** Maximum size of the database file; beyond it, writes except deletions reject with NoSpaceError. Default: unlimited. */
  readonly quotaBytes?: number | undefined;
  /** Interval at which data overwritten before the previous run is removed. Default: 5 minutes; 0: never. */
  readonly compactionIntervalMs?: number | undefined;
  /**
   * Called when a disk failure makes the file's content unknown: the process must restart and must never retry (fsyncgate).
   * Default: throws an uncaught error.
   */
  readonly onFailure?: ((error: Error) => void) | undefined;
  /** Maximum number of writes in a transaction, and of their bytes. Defaults: 256, and 4 MiB, or 1 MiB on a small disk. */
  readonly maxBatchWrites?: number | undefined;
  readonly maxBatchBytes?: number | undefined;
  /** Size of the write-ahead log that triggers a checkpoint. Default: 4 MiB, or 1 MiB on a small disk. */
  readonly checkpointBytes?: number | undefined;
  /** True if a worker thread writes. Default: true; false is for comparison. */
  readonly worker?: boolean | undefined;
}

/** A write that waits for a pending write of the same key. */
interface Request {
  readonly type: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly expected: Revision;
  readonly encode: Encode | undefined;
  readonly ttlSeconds: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A write that has its revision and waits for the disk. */
class Pending {
  /** Requests for the same key, decided when this write is settled. */
  waiting: Request[] | undefined = undefined;

  constructor(
    readonly entry: IndexEntry<Pending>,
    readonly request: Request,
    readonly revision: Revision,
    readonly createRevision: Revision,
    /** Revision of the key's previous row, which may be a deletion. */
    readonly previous: Revision,
    readonly value: Buffer | undefined,
    readonly expires: number,
    /** The deleted record; undefined for other writes. */
    readonly last: StorageRecord | undefined,
  ) {}

  get key(): string {
    return this.entry.key;
  }
}

/** Maximum size of an object with its key. */
const largestValue = 2 * 1_048_576;
/** Disk size below which the write-ahead log and the reserve for copying it are smaller. */
const smallDiskBytes = 256 * 1_048_576;

function sizesFor(file: string | undefined): { readonly checkpointBytes: number; readonly maxBatchBytes: number } {
  const { bavail, bsize } = statfsSync(file === undefined ? '.' : dirname(file));
  const megabytes = file !== undefined && bavail * bsize < smallDiskBytes ? 1 : 4;
  return { checkpointBytes: megabytes * 1_048_576, maxBatchBytes: megabytes * 1_048_576 };
}

const busyCode = 5;
const watchBatch = 100;
const retryReserveMs = 1_000;
const healthTimeoutMs = 2_000;

/**
 * The default backend: one SQLite file, one process. The main thread decides writes against an in-memory index and assigns
 * revisions in that order; a worker thread writes and syncs all queued writes in one transaction (group commit). Writes
 * become visible only when they are on the disk: reads see the last acknowledged revision.
 */
export class EmbeddedStorage implements Storage, CommitFeed {
  /** True, because values have checksums. */
  readonly verifiesValues = true;
  readonly #database: DatabaseSync;
  readonly #release: () => void;
  readonly #committer: Committer;
  readonly #index: KeyIndex<Pending>;
  readonly #onFailure: (error: Error) => void;
  readonly #maxBatchWrites: number;
  readonly #maxBatchBytes: number;
  readonly #listeners = new Set<(events: readonly StorageEvent[]) => void>();
  readonly #log: LogReader;
  readonly #compaction: Compaction<Pending>;
  readonly #expiries = new Expiries({
    isValid: ({ key, revision }) => this.#index.get(key)?.revision === revision,
    expire: (expiry) => this.#expire(expiry),
    isOver: () => this.#isOver(),
  });
  #reserveTimer: NodeJS.Timeout | undefined;

  /** The newest acknowledged revision. */
  #revision: Revision;
  /** The newest assigned revision. */
  #given: Revision;

  #queue: Pending[] = [];
  #inFlight: readonly Pending[] | undefined;
  #flushScheduled = false;
  #state: 'open' | 'full' | 'failed' | 'closed' = 'open';
  #idle: (() => void)[] = [];
  /** Callbacks of idle watches. */
  readonly #waiting = new Set<() => void>();
  /** Callbacks of pending requests to the writer that are not writes. */
  readonly #asking = new Set<(error: Error) => void>();

  /**
   * Opens or creates the file. Rejects with LockedStoreError if another process has opened it, with CorruptStoreError if it
   * is damaged or foreign.
   */
  static async open(options: EmbeddedStorageOptions = {}): Promise<EmbeddedStorage> {
    return new EmbeddedStorage(options);
  }

  private constructor(options: EmbeddedStorageOptions) {
    const store = openStore<Pending>(options.file);
    this.#database = store.database;
    this.#release = store.release;
    this.#index = store.index;
    this.#revision = this.#given = store.revision;
    this.#onFailure = options.onFailure ?? throwUncaught;
    const sizes = sizesFor(options.file);
    this.#maxBatchWrites = options.maxBatchWrites ?? 256;
    this.#maxBatchBytes = options.maxBatchBytes ?? sizes.maxBatchBytes;
    const quotaBytes = options.quotaBytes ?? 0;
    if (options.file === undefined || options.worker === false) {
      this.#database.exec('PRAGMA wal_autocheckpoint = 1000');
      this.#committer = new InlineCommitter(this.#database, quotaBytes);
    } else {
      const checkpointBytes = options.checkpointBytes ?? sizes.checkpointBytes;
      const maxGrowthBytes = Math.max(2 * checkpointBytes, this.#maxBatchBytes + largestValue);
      // Room for a checkpoint, after which the write-ahead log restarts, and for the growth by deletions.
      const reserve = { file: `${options.file}-reserve`, bytes: maxGrowthBytes + 1_048_576 };
      const data = { file: options.file, quotaBytes, checkpointBytes, maxGrowthBytes, reserve };
      this.#committer = new WorkerCommitter(this.#database, data, (failure) => {
        if (isFull(failure)) this.#becomeFull();
        else this.#fail(new Error(failure.message));
      });
    }
    this.#log = new LogReader(this.#database);
    this.#compaction = new Compaction({
      index: this.#index,
      revision: store.compactRevision,
      compacted: store.compacted,
      tombstones: store.tombstones,
      ask: (request) => this.#ask(request),
      isOver: () => this.#isOver(),
      onError: (error) => this.#onCompactionError(error),
    });
    for (const expiry of store.expiries) this.#expiries.push(expiry);
    this.#expiries.schedule();
    this.#compaction.start(options.compactionIntervalMs ?? 300_000, () => this.#revision);
    this.#restoreReserve();
  }

  async currentRevision(): Promise<Revision> {
    this.#assertOpen();
    return this.#revision;
  }

  async compactRevision(): Promise<Revision> {
    this.#assertOpen();
    return this.#compaction.revision;
  }

  async get(key: string, options: GetOptions = {}): Promise<StorageRecord | undefined> {
    validateKey(key);
    this.#assertReadable(options.revision);
    const entry = this.#index.get(key);
    return entry && this.#log.recordAt(entry, options.revision ?? this.#revision);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    validatePrefix(prefix);
    this.#assertReadable(options.revision);
    const revision = options.revision ?? this.#revision;
    const limit = options.limit || Infinity;
    const records: StorageRecord[] = [];
    let count = 0;
    for (const entry of this.#index.range(prefix, options.from ?? prefix)) {
      if (records.length < limit) {
        const record = this.#log.recordAt(entry, revision);
        if (!record) continue;
        records.push(record);
        count++;
      } else if (this.#log.liveAt(entry, revision)) {
        count++;
        if (options.uncounted) break;
      }
    }
    return { records, revision, more: count > records.length, count };
  }

  create(key: string, encode: Encode, options: WriteOptions = {}): Promise<StorageRecord> {
    return this.#request('create', key, 0, encode, options);
  }

  update(key: string, expected: Revision, encode: Encode, options: WriteOptions = {}): Promise<StorageRecord> {
    return this.#request('update', key, expected, encode, options);
  }

  delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return this.#request('delete', key, expected, undefined, {});
  }

  /** Watches without buffers: a slow watcher is only a position in the log. */
  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncGenerator<StorageEvent, void> {
    validatePrefix(prefix);
    let wake: (() => void) | undefined;
    const onAbort = (): void => wake?.();
    signal.addEventListener('abort', onAbort);
    try {
      let cursor = from;
      while (!signal.aborted && !this.#isClosed()) {
        const upTo = this.#revision;
        const rows = this.#log.rows(prefix, cursor, upTo, watchBatch);
        for (const row of rows) {
          // A compaction may have happened while the consumer processed the last event.
          this.#assertKept(cursor);
          yield this.#log.eventOf(row);
          if (signal.aborted || this.#isClosed()) return;
          cursor = row[0];
        }
        this.#assertKept(cursor);
        if (rows.length < watchBatch) cursor = Math.max(cursor, upTo);
        if (cursor < this.#revision) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#waiting.add(resolve);
        });
        this.#waiting.delete(wake!);
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen();
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision > this.#compaction.revision) await this.#compaction.run(revision);
  }

  async raiseRevision(revision: Revision): Promise<void> {
    this.#assertOpen();
    if (revision <= this.#given) return;
    if (this.#queue.length > 0 || this.#inFlight) throw new UnavailableError('storage: cannot raise the revision during writes');
    this.#given = revision;
    // Keeps the current state; only past states become unavailable.
    await this.#ask({ type: 'beginCompaction', revision });
    this.#revision = Math.max(this.#revision, revision);
    await this.#compaction.run(revision);
  }

  async size(): Promise<number> {
    this.#assertOpen();
    const { bytes } = this.#database
      .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()')
      .get() as {
      bytes: number;
    };
    return bytes;
  }

  async healthy(): Promise<void> {
    this.#assertOpen();
    this.#log.check(this.#revision);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new UnavailableError('storage: the disk did not answer within 2s')), healthTimeoutMs);
    });
    const ping = this.#ask({ type: 'ping' });
    ping.catch(() => {});
    try {
      await Promise.race([ping, timeout]);
    } finally {
      clearTimeout(timer);
    }
    if (this.#state === 'full') throw new NoSpaceError('storage: no space left; only deletions are possible');
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    let hasFailed = this.#state === 'failed';
    this.#state = 'closed';
    this.#expiries.stop();
    this.#compaction.stop();
    clearTimeout(this.#reserveTimer);
    this.#wakeWatchers();
    if (!hasFailed) {
      if (this.#queue.length > 0 || this.#inFlight) await new Promise<void>((resolve) => this.#idle.push(resolve));
      await this.#compaction.idle();
      hasFailed = await this.#ask({ type: 'close' }).then(
        () => false,
        () => true,
      );
    }
    if (hasFailed) await this.#committer.terminate();
    this.#state = 'closed';
    if (this.#database.isOpen) this.#database.close();
    this.#release();
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #isOver(): boolean {
    return this.#state === 'closed' || this.#state === 'failed';
  }

  #assertOpen(): void {
    if (this.#state === 'closed') throw new ClosedError();
    const failed = this.#refusalAfterFailure();
    if (failed) throw failed;
  }

  #assertReadable(revision: Revision | undefined): void {
    if (this.#state === 'closed') throw new ClosedError();
    if (revision === undefined) return;
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision < this.#compaction.revision) throw new CompactedError(revision, this.#compaction.revision);
  }

  /** Throws if the position in the log has been compacted. */
  #assertKept(cursor: Revision): void {
    if (cursor < this.#compaction.revision) throw new CompactedError(cursor, this.#compaction.revision);
  }

  #request<Result>(
    type: Request['type'],
    key: string,
    expected: Revision,
    encode: Encode | undefined,
    options: WriteOptions,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      validateKey(key);
      this.#decide({ type, key, expected, encode, ttlSeconds: options.ttlSeconds ?? 0, resolve, reject });
    });
  }

  /**
   * Decides a compare-and-swap: assigns the revision and queues the write, rejects it, or lets it wait for the previous
   * write.
   */
  #decide(request: Request): void {
    const refusal = this.#refusal(request);
    if (refusal) {
      request.reject(refusal);
      return;
    }
    const { type, key, expected } = request;
    let entry = this.#index.get(key);
    if (entry?.pending) {
      (entry.pending.waiting ??= []).push(request);
      return;
    }
    try {
      const present = entry !== undefined && !entry.deleted;
      if (type === 'create' ? present : !present || entry!.revision !== expected) {
        request.reject(
          type === 'create' ? new KeyExistsError(key) : new ConflictError(key, entry && this.#log.recordAt(entry, this.#revision)),
        );
        return;
      }
      const revision = this.#given + 1;
      const value = request.encode?.(revision);
      const last = type === 'delete' ? this.#log.recordAt(entry!, this.#revision) : undefined;
      const expires = request.ttlSeconds > 0 ? Date.now() + request.ttlSeconds * 1_000 : 0;
      if (!entry) {
        entry = { key, revision: 0, createRevision: 0, deleted: false, pending: undefined };
        this.#index.add(entry);
      }
      const createRevision = type === 'create' ? revision : entry.createRevision;
      this.#given = revision;
      const pending = new Pending(entry, request, revision, createRevision, entry.revision, value, expires, last);
      entry.pending = pending;
      this.#queue.push(pending);
    } catch (error) {
      request.reject(error);
      return;
    }
    this.#scheduleFlush();
  }

  #refusal({ type }: Request): StorageError | undefined {
    switch (this.#state) {
      case 'open':
        return undefined;
      case 'full':
        return type === 'delete' ? undefined : new NoSpaceError('storage: no space left; only deletions are possible');
      case 'failed':
        return this.#refusalAfterFailure();
      case 'closed':
        return new ClosedError();
    }
  }

  /** Schedules the write after the event loop has read the sockets, so that concurrent writes share a batch. */
  #scheduleFlush(): void {
    if (this.#flushScheduled || this.#inFlight) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#inFlight || this.#queue.length === 0 || this.#state === 'failed') return;
    let count = 0;
    let bytes = 0;
    while (count < this.#queue.length && count < this.#maxBatchWrites && bytes < this.#maxBatchBytes) {
      bytes += this.#queue[count++]!.value?.length ?? 0;
    }
    const batch = count === this.#queue.length ? this.#queue : this.#queue.slice(0, count);
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    this.#inFlight = batch;
    this.#committer.request({ type: 'append', batch: packBatch(batch) }, (answer) => this.#settle(batch, answer));
  }

  #settle(batch: readonly Pending[], { error }: CommitAnswer): void {
    this.#inFlight = undefined;
    if (this.#state === 'failed') return;
    if (!error) this.#acknowledge(batch);
    else if (isFull(error)) this.#rejectForSpace(batch);
    else if ((error.code & 0xff) === busyCode)
      this.#rollBack(batch, new UnavailableError(`storage: another process writes to the file: ${error.message}`));
    else this.#fail(new Error(error.message), batch);
    if (this.#queue.length > 0) this.#flush();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * Handles a durable batch: updates the index, then calls listeners, then watchers and callers, then decides the waiting
   * requests.
   */
  #acknowledge(batch: readonly Pending[]): void {
    failpoint('before-acknowledge');
    const events: StorageEvent[] = [];
    for (const write of batch) {
      const { entry, revision } = write;
      const record = write.value && { key: entry.key, revision, createRevision: write.createRevision, value: write.value };
      events.push(
        new LoggedEvent(record ? 'PUT' : 'DELETE', entry.key, revision, record, write.last ?? (() => this.#log.previous(write.previous))),
      );
      entry.revision = revision;
      entry.createRevision = write.createRevision;
      entry.deleted = record === undefined;
      entry.pending = undefined;
      if (!record) this.#compaction.noteDeletion({ entry, revision });
      if (write.expires > 0) this.#expiries.push({ at: performance.now() + write.request.ttlSeconds * 1_000, key: entry.key, revision });
    }
    this.#revision = batch.at(-1)!.revision;
    try {
      for (const listener of this.#listeners) listener(events);
    } finally {
      failpoint('after-dispatch');
      this.#expiries.schedule();
      this.#wakeWatchers();
      batch.forEach((write, i) => {
        const result = write.last ? { record: write.last, revision: write.revision } : events[i]!.record;
        write.request.resolve(result as never);
        this.#decideWaiting(write);
      });
    }
  }

  #decideWaiting(write: Pending): void {
    for (const request of write.waiting ?? []) this.#decide(request);
  }

  /** Rejects a batch without effects. Its revisions are never reused. */
  #rollBack(batch: readonly Pending[], error: Error): void {
    for (const write of batch) {
      this.#forget(write);
      write.request.reject(error);
      this.#decideWaiting(write);
    }
  }

  #forget({ entry }: Pending): void {
    entry.pending = undefined;
    if (entry.revision === 0) this.#index.remove(entry.key);
  }

  /** Handles a transaction that was rolled back for lack of space. Deletions are retried with the reserved space. */
  #rejectForSpace(batch: readonly Pending[]): void {
    const error = new NoSpaceError('storage: no space left; only deletions are possible');
    if (this.#state !== 'open') {
      this.#rollBack(batch, error);
      return;
    }
    this.#becomeFull();
    const waiting = [...batch, ...this.#queue];
    this.#queue = waiting.filter((write) => write.request.type === 'delete');
    this.#rollBack(
      waiting.filter((write) => write.request.type !== 'delete'),
      error,
    );
  }

  /** Accepts only deletions, which use the reserved space, until it can be reserved again. */
  #becomeFull(): void {
    if (this.#state !== 'open') return;
    this.#state = 'full';
    this.#committer.request({ type: 'releaseReserve' }, ({ error }) => {
      if (error) this.#fail(new Error(error.message));
    });
    this.#restoreReserveLater();
  }

  #restoreReserveLater(): void {
    clearTimeout(this.#reserveTimer);
    if (this.#state === 'closed') return;
    this.#reserveTimer = setTimeout(() => this.#restoreReserve(), retryReserveMs);
    this.#reserveTimer.unref();
  }

  #restoreReserve(): void {
    this.#committer.request({ type: 'restoreReserve' }, ({ error, restored }) => {
      if (error) this.#fail(new Error(error.message));
      else if (!restored) this.#restoreReserveLater();
      else if (this.#state === 'full') this.#state = 'open';
    });
  }

  /**
   * Stops after a disk failure. The pending batch may or may not be on the disk, and no retry could determine that, so the
   * process must end.
   */
  #fail(error: Error, batch: readonly Pending[] = this.#inFlight ?? []): void {
    if (this.#state === 'failed') return;
    const closing = this.#state === 'closed';
    this.#state = 'failed';
    const unknown = new UnknownOutcomeError(`storage: the disk failed during the write: ${error.message}`, { cause: error });
    const queued = this.#queue;
    this.#queue = [];
    this.#inFlight = undefined;
    for (const write of batch) {
      write.request.reject(unknown);
      this.#decideWaiting(write);
    }
    for (const write of queued) {
      write.request.reject(new UnavailableError('storage: stopped after a disk failure', { cause: error }));
      this.#decideWaiting(write);
    }
    for (const reject of this.#asking) reject(unknown);
    this.#asking.clear();
    this.#wakeWatchers();
    for (const resolve of this.#idle.splice(0)) resolve();
    if (!closing) this.#onFailure(error);
  }

  #ask(request: Parameters<Committer['request']>[0]): Promise<CommitAnswer> {
    return new Promise((resolve, reject) => {
      const failed = this.#refusalAfterFailure();
      if (failed) {
        reject(failed);
        return;
      }
      this.#asking.add(reject);
      this.#committer.request(request, (answer) => {
        this.#asking.delete(reject);
        if (answer.error) reject(errorOf(answer.error));
        else resolve(answer);
      });
    });
  }

  #refusalAfterFailure(): StorageError | undefined {
    return this.#state === 'failed' ? new UnavailableError('storage: stopped after a disk failure') : undefined;
  }

  #wakeWatchers(): void {
    for (const wake of this.#waiting) wake();
  }

  #expire({ key, revision }: Expiry): void {
    this.delete(key, revision).catch((error: unknown) => {
      if (error instanceof NoSpaceError) this.#expiries.push({ key, revision, at: performance.now() + retryReserveMs });
      // The key was written again meanwhile, or the store is closing.
    });
  }

  /** Retries at the next interval if the disk is full; otherwise the disk has failed. */
  #onCompactionError(error: unknown): void {
    if (!(error instanceof NoSpaceError)) this.#fail(error as Error);
  }
}

function errorOf(failure: CommitFailure): Error {
  return isFull(failure) ? new NoSpaceError(`storage: ${failure.message}`) : new UnavailableError(`storage: ${failure.message}`);
}

function throwUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
