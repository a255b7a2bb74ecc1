import type { Buffer } from 'node:buffer';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import type { ConflictError } from '#apiserver/storage/errors';
import type { Revision, StorageRecord } from '#apiserver/storage/storage';

/** What is asked of the cache of a resource. */
export type RecordCache = Pick<Cacher, 'get' | 'peek' | 'currentRevision' | 'isImmediate'>;

/** An object as it was stored. */
export interface StoredBytes {
  readonly revision: Revision;
  readonly bytes: Buffer;
}

/**
 * Where the records that are to be changed come from. A write begins with what is known here, though another server may have changed it
 * since: the write itself compares revisions, and the store is asked only where nothing is written, which is one question less of most
 * writes. Upstream: apiserver/pkg/storage/etcd3/store.go (GuaranteedUpdate: origStateIsCurrent).
 */
export class CurrentRecords {
  readonly #cache: RecordCache;
  /** What was written here and has not come to the cache, in the order of the writes: a client that goes on at once would begin with what was before. */
  readonly #written = new Map<string, StoredBytes>();

  constructor(cache: RecordCache) {
    this.#cache = cache;
  }

  /** `mayBeOld`: what nobody writes, as in a dry run, is not compared by anybody. Rejects as `Cacher.get` does. */
  of(key: string, mayBeOld: boolean): CurrentRecord | Promise<CurrentRecord> {
    const known = mayBeOld ? this.#newest(key) : undefined;
    if (known) return new CurrentRecord(this.#cache, key, known, this.#cache.isImmediate);
    const read = this.#cache.get(key);
    if (read instanceof Promise) return read.then((record) => new CurrentRecord(this.#cache, key, record, true));
    return new CurrentRecord(this.#cache, key, read, true);
  }

  written({ key, revision, value }: StorageRecord): void {
    if (this.#cache.isImmediate) return;
    this.#written.delete(key);
    const seen = this.#cache.currentRevision();
    if (revision > seen) this.#written.set(key, { revision, bytes: value });
    for (const [older, record] of this.#written) {
      if (record.revision > seen) return;
      this.#written.delete(older);
    }
  }

  #newest(key: string): StoredBytes | undefined {
    const cached = this.#cache.peek(key);
    const written = this.#written.get(key);
    return written && written.revision > (cached?.revision ?? this.#cache.currentRevision()) ? written : cached;
  }
}

/** The record that a write changes. */
export class CurrentRecord {
  readonly #cache: RecordCache;
  readonly #key: string;
  #record: StoredBytes | undefined;
  #isCurrent: boolean;

  constructor(cache: RecordCache, key: string, record: StoredBytes | undefined, isCurrent: boolean) {
    this.#cache = cache;
    this.#key = key;
    this.#record = record;
    this.#isCurrent = isCurrent;
  }

  /** undefined where there is none. */
  get record(): StoredBytes | undefined {
    return this.#record;
  }

  /** false: what comes of the record is only right if `isOutdated` says so. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** To be called before a write, which compares: what goes wrong from there on is not the record's fault. */
  compared(): void {
    this.#isCurrent = true;
  }

  /** A write found another record in its place, or none. */
  lost({ current }: ConflictError): void {
    this.#record = current && { revision: current.revision, bytes: current.value };
    this.#isCurrent = true;
  }

  /** Whether the store has another record, which `record` is then. */
  async isOutdated(): Promise<boolean> {
    if (this.#isCurrent) return false;
    const before = this.#record?.revision;
    return (await this.readAgain())?.revision !== before;
  }

  /** What the store has now. */
  async readAgain(): Promise<StoredBytes | undefined> {
    this.#record = await this.#cache.get(this.#key);
    this.#isCurrent = true;
    return this.#record;
  }
}
