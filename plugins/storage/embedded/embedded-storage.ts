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
  /** The database file; `-wal`, `-shm`, `-lock` and `-reserve` stand beside it. undefined: in memory, gone with the process. */
  readonly file?: string | undefined;
  /** The database file does not grow beyond it; then writes but deletions reject with NoSpaceError. Default: no limit. */
  readonly quotaBytes?: number | undefined;
  /** Every so often what was overwritten before the last time is forgotten. Default: 5 minutes; 0: never. */
  readonly compactionIntervalMs?: number | undefined;
  /**
   * The disk failed so that nobody knows what is on it: the process must end and start anew, and must never retry
   * (fsyncgate). Default: the error is thrown where nobody catches it.
   */
  readonly onFailure?: ((error: Error) => void) | undefined;
  /** Writes in one transaction, and their bytes. Defaults: 256, and 4 MiB, or 1 MiB on a small disk. */
  readonly maxBatchWrites?: number | undefined;
  readonly maxBatchBytes?: number | undefined;
  /** The write-ahead log is copied into the file after so many bytes. Default: 4 MiB, or 1 MiB on a small disk. */
  readonly checkpointBytes?: number | undefined;
  /** Whether a worker thread waits for the disk. Default: true; false is for comparison. */
  readonly worker?: boolean | undefined;
}

/** A write that was asked for and is not decided: another of the same key is under way. */
interface Request {
  readonly type: 'create' | 'update' | 'delete';
  readonly key: string;
  readonly expected: Revision;
  readonly encode: Encode | undefined;
  readonly ttlSeconds: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A write that was decided and has its revision: it waits for the disk. */
class Pending {
  /** Requests for the same key, which are decided when this one is settled. */
  waiting: Request[] | undefined = undefined;

  constructor(
    readonly entry: IndexEntry<Pending>,
    readonly request: Request,
    readonly revision: Revision,
    readonly createRevision: Revision,
    /** The revision of the row before it of this key, a deletion too. */
    readonly previous: Revision,
    readonly value: Buffer | undefined,
    readonly expires: number,
    /** Of a deletion: what is deleted. */
    readonly last: StorageRecord | undefined,
  ) {}

  get key(): string {
    return this.entry.key;
  }
}

/** Bytes of an object at most, with its key. */
const largestValue = 2 * 1_048_576;
/** On a disk with less room the write-ahead log, and the reserve for copying it, are smaller. */
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
 * The default backend: one SQLite file, one process. Writes are decided on this thread against an index in memory, get
 * their revisions in that order, wait in a queue, and a worker thread writes and syncs all that wait in one transaction
 * (group commit). Nothing is shown before it is on the disk: reads are of the last acknowledged revision.
 */
export class EmbeddedStorage implements Storage, CommitFeed {
  /** Values have checksums. */
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
  /** The newest that was given to a write. */
  #given: Revision;

  #queue: Pending[] = [];
  #inFlight: readonly Pending[] | undefined;
  #flushScheduled = false;
  #state: 'open' | 'full' | 'failed' | 'closed' = 'open';
  #idle: (() => void)[] = [];
  /** Watches that have seen everything: called when there is more. */
  readonly #waiting = new Set<() => void>();
  /** What waits for an answer of the committing side that is not about a write. */
  readonly #asking = new Set<(error: Error) => void>();

  /**
   * Opens the file, or makes it. Rejects with LockedStoreError if another process has it, with CorruptStoreError if it is
   * damaged or not ours.
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
      // Enough for a checkpoint, by which the write-ahead log can be used again, and for what deletions add.
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

  /** Nothing is held for a watcher that does not read: it is only a place in the log. */
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
          // The reader may have taken long over the event before.
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
    if (this.#queue.length > 0 || this.#inFlight) throw new UnavailableError('storage: a revision is not raised while there are writes');
    this.#given = revision;
    // The state of now stays: of what was compacted at a revision, only the past is gone.
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

  /** Throws for a place in the log that compaction has overtaken. */
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

  /** Compare-and-swap: gives the write its revision and queues it, or rejects it, or lets it wait for the one before. */
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

  /** After the sockets were read, so that what came together is written together. */
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

  /** The batch is on the disk: first the index, then listeners, then watchers and callers, then who waited for the keys. */
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

  /** None of the batch has happened. Its revisions are never given again. */
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

  /** The transaction was rolled back for lack of space. Deletions are tried again with the space held back for them. */
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

  /** From now on only deletions are written, with the space that was held back for them, until it can be held back again. */
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

  /** What is in flight may be on the disk or not, and nothing that is tried now could tell: the process must end. */
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
      write.request.reject(new UnavailableError('storage: it has stopped after a failure of the disk', { cause: error }));
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
    return this.#state === 'failed' ? new UnavailableError('storage: it has stopped after a failure of the disk') : undefined;
  }

  #wakeWatchers(): void {
    for (const wake of this.#waiting) wake();
  }

  #expire({ key, revision }: Expiry): void {
    this.delete(key, revision).catch((error: unknown) => {
      if (error instanceof NoSpaceError) this.#expiries.push({ key, revision, at: performance.now() + retryReserveMs });
      // Any other: it was written again meanwhile, or the store ends.
    });
  }

  /** It waits for its turn until the next time if the disk is full; else the disk has failed. */
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
