import type { Buffer } from 'node:buffer';
import { ClosedError, CompactedError, ConflictError, FutureRevisionError, KeyExistsError } from './errors.ts';
import { compareKeys, validateKey, validatePrefix } from './key.ts';
import type {
  CommitFeed,
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from './storage.ts';

/**
 * The simplest implementation of the storage contract, for tests: one array of events, from which each read replays its
 * state. Tests can delay watch events, make lists fail and count reads.
 */
export class FakeStorage implements Storage {
  readonly events: StorageEvent[] = [];
  /** Number of calls of each method. */
  readonly calls = { get: 0, list: 0, watch: 0, requestProgress: 0 };
  /** Error that lists reject with. */
  listError: Error | undefined;
  /** Last revision whose events watches send. */
  holdAfter = Infinity;
  #revision: Revision = 1;
  #compactRevision: Revision = 0;
  #isClosed = false;
  #changed = Promise.withResolvers<void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  protected readonly listeners = new Set<(events: readonly StorageEvent[]) => void>();

  async currentRevision(): Promise<Revision> {
    this.#assertOpen();
    return this.#revision;
  }

  async compactRevision(): Promise<Revision> {
    return this.#compactRevision;
  }

  async get(key: string, options: GetOptions = {}): Promise<StorageRecord | undefined> {
    this.calls.get++;
    validateKey(key);
    return this.#stateAt(options.revision).get(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.calls.list++;
    validatePrefix(prefix);
    if (this.listError) throw this.listError;
    const from = options.from ?? prefix;
    const found = [...this.#stateAt(options.revision).values()]
      .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, from) >= 0)
      .sort((a, b) => compareKeys(a.key, b.key));
    const records = options.limit ? found.slice(0, options.limit) : found;
    return { records, revision: options.revision ?? this.#revision, more: records.length < found.length, count: found.length };
  }

  async create(key: string, encode: Encode, options: WriteOptions = {}): Promise<StorageRecord> {
    validateKey(key);
    if (this.#stateAt(undefined).has(key)) throw new KeyExistsError(key);
    return this.#put(key, undefined, encode, options);
  }

  async update(key: string, expected: Revision, encode: Encode, options: WriteOptions = {}): Promise<StorageRecord> {
    return this.#put(key, this.#expect(key, expected), encode, options);
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    const record = this.#expect(key, expected);
    const revision = this.#revision + 1;
    this.#commit({ type: 'DELETE', key, revision, record: undefined, previous: record });
    return { record, revision };
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncGenerator<StorageEvent, void> {
    this.calls.watch++;
    validatePrefix(prefix);
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    let seen = from;
    while (!signal.aborted && !this.#isClosed) {
      if (seen < this.#compactRevision) throw new CompactedError(seen, this.#compactRevision);
      for (const event of this.events) {
        if (event.revision <= seen || event.revision > this.holdAfter) continue;
        seen = event.revision;
        if (event.key.startsWith(prefix)) yield event;
        if (signal.aborted) return;
      }
      if (this.holdAfter >= this.#revision) seen = Math.max(seen, this.#revision);
      await Promise.race([this.#changed.promise, aborted]);
    }
  }

  async requestProgress(): Promise<void> {
    this.calls.requestProgress++;
  }

  async compact(revision: Revision): Promise<void> {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    this.#compactRevision = Math.max(this.#compactRevision, revision);
  }

  async healthy(): Promise<void> {
    this.#assertOpen();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.wake();
  }

  /** Makes watches continue after a change of `holdAfter` or a compaction. */
  wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new ClosedError();
  }

  #stateAt(revision = this.#revision): Map<string, StorageRecord> {
    this.#assertOpen();
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision < this.#compactRevision) throw new CompactedError(revision, this.#compactRevision);
    const state = new Map<string, StorageRecord>();
    for (const event of this.events) {
      if (event.revision > revision) break;
      if (event.record) state.set(event.key, event.record);
      else state.delete(event.key);
    }
    return state;
  }

  #expect(key: string, expected: Revision): StorageRecord {
    validateKey(key);
    const record = this.#stateAt(undefined).get(key);
    if (record?.revision !== expected) throw new ConflictError(key, record);
    return record;
  }

  #put(key: string, previous: StorageRecord | undefined, encode: Encode, { ttlSeconds = 0 }: WriteOptions): StorageRecord {
    const revision = this.#revision + 1;
    const value: Buffer = encode(revision);
    const record = { key, revision, createRevision: previous?.createRevision ?? revision, value };
    this.#commit({ type: 'PUT', key, revision, record, previous });
    if (ttlSeconds > 0) {
      const timer = setTimeout(() => void this.delete(key, revision).catch(() => {}), ttlSeconds * 1_000);
      this.#timers.add(timer);
    }
    return record;
  }

  #commit(event: StorageEvent): void {
    this.events.push(event);
    this.#revision = event.revision;
    for (const listener of this.listeners) listener([event]);
    this.wake();
  }
}

/** FakeStorage with a commit feed. */
export class FakeStorageWithFeed extends FakeStorage implements CommitFeed {
  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
