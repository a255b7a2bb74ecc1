import type { Buffer } from 'node:buffer';
import type { Cacher } from '#apiserver/storage/cacher/cacher';
import type { ConflictError } from '#apiserver/storage/errors';
import type { Revision, StorageRecord } from '#apiserver/storage/storage';

/** The methods of a resource's cache that are used here. */
export type RecordCache = Pick<Cacher, 'get' | 'peek' | 'currentRevision' | 'isImmediate'>;

/** A stored object. */
export interface StoredBytes {
  readonly revision: Revision;
  readonly bytes: Buffer;
}

/**
 * Provides the records that writes start from. A write starts with the newest record known to this process, although another
 * server may have changed it since: the write compares revisions, and the store is read only if nothing is written. This
 * saves most writes a read. Upstream: apiserver/pkg/storage/etcd3/store.go (GuaranteedUpdate: origStateIsCurrent).
 */
export class CurrentRecords {
  readonly #cache: RecordCache;
  /**
   * Records written by this process that the cache has not received, in the order of the writes. Without them, a client's
   * next write would start from the previous record.
   */
  readonly #written = new Map<string, StoredBytes>();

  constructor(cache: RecordCache) {
    this.#cache = cache;
  }

  /**
   * Returns the record of a key. `mayBeOld` must be false for requests without a write, such as a dry run, because no write
   * then compares revisions. Rejects like `Cacher.get`.
   */
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

/** The record that a write starts from. */
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

  /** The record; undefined if there is none. */
  get record(): StoredBytes | undefined {
    return this.#record;
  }

  /** False if the record may be stale: results derived from it are valid only if `isOutdated` then returns false. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Called before a write, which compares revisions; later failures are not caused by a stale record. */
  compared(): void {
    this.#isCurrent = true;
  }

  /** Called when a write found another record or none. */
  lost({ current }: ConflictError): void {
    this.#record = current && { revision: current.revision, bytes: current.value };
    this.#isCurrent = true;
  }

  /** Returns true if the store has another record, and updates `record`. */
  async isOutdated(): Promise<boolean> {
    if (this.#isCurrent) return false;
    const before = this.#record?.revision;
    return (await this.readAgain())?.revision !== before;
  }

  /** Reads the record from the store. */
  async readAgain(): Promise<StoredBytes | undefined> {
    this.#record = await this.#cache.get(this.#key);
    this.#isCurrent = true;
    return this.#record;
  }
}
