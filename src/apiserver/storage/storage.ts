import type { Buffer } from 'node:buffer';

/**
 * The store's logical clock. Each write increments it in the same transaction; it is never derived from time. A safe integer
 * (2^53 lasts 285 years at a million writes a second). An empty store is at 1, as in etcd, because 0 means "any" to clients.
 * Revisions may be skipped but are never reused.
 */
export type Revision = number;

/** A stored key and its encoded object. */
export interface StorageRecord {
  /** For example `/pods/default/web-1`: starts with `/`; the segments `.` and `..` are rejected. */
  readonly key: string;
  /** The revision of the last write of this key. */
  readonly revision: Revision;
  /** The revision of the write that created the key. */
  readonly createRevision: Revision;
  /**
   * The encoded object. Throws CorruptRecordError or UndecodableRecordError if it is damaged; the key remains readable and
   * other records are unaffected.
   */
  readonly value: Buffer;
}

/**
 * One write as watchers see it. PROGRESS is not a write: it states that all events up to `revision` have been sent, and its
 * `key` is empty. Backends whose revision advances by writes outside the watched prefix send it on request
 * (`requestProgress`).
 */
export interface StorageEvent {
  readonly type: 'PUT' | 'DELETE' | 'PROGRESS';
  readonly key: string;
  readonly revision: Revision;
  /** PUT: the new record. Other types: undefined. */
  readonly record: StorageRecord | undefined;
  /** The previous record; undefined for the first write of a key and if it was compacted. */
  readonly previous: StorageRecord | undefined;
}

/** Encodes the object with the revision of the write. Called synchronously, at most once for each attempt. */
export type Encode = (revision: Revision) => Buffer;

export interface GetOptions {
  /** Revision to read at. Default: the newest. */
  readonly revision?: Revision | undefined;
}

export interface ListOptions {
  readonly revision?: Revision | undefined;
  /** Maximum number of records; 0 or undefined: no limit. */
  readonly limit?: number | undefined;
  /** First key of the result; smaller keys are left out. */
  readonly from?: string | undefined;
  /**
   * True if the records beyond the limit are not counted, and only `more` is computed for them. Callers that read all pages
   * set it, because each page would count the rest again. Default: false.
   */
  readonly uncounted?: boolean | undefined;
}

export interface ListResult {
  /** Sorted by the UTF-8 bytes of the keys. */
  readonly records: readonly StorageRecord[];
  /** The revision at which the list was read: the requested one or the store's current one. */
  readonly revision: Revision;
  readonly more: boolean;
  /**
   * Number of records under the prefix from `from` on at that revision, including those beyond the limit; may be lower for
   * an `uncounted` list.
   */
  readonly count: number;
}

export interface WriteOptions {
  /** Time to live. The store deletes the record, with an event, after this many seconds. */
  readonly ttlSeconds?: number | undefined;
}

/** The durability of acknowledged writes as far as the backend knows it, with the reason as a clause. */
export interface Durability {
  readonly isDurable: boolean;
  readonly detail: string;
  /** Number of times since opening that the store was found to lack writes that it may have acknowledged. */
  readonly losses: number;
}

/**
 * The contract of every backend. Writes are linearizable, and a resolved write is durable. A write with an unknown outcome
 * rejects with `UnknownOutcomeError`; it never rejects with another error and never resolves. Errors: `errors.ts` in this
 * folder.
 */
export interface Storage {
  /** Returns the revision of the newest completed write. A later read sees that write (linearizable). */
  currentRevision(): Promise<Revision>;
  /**
   * Returns the record, or undefined if the key does not exist at that revision. Rejects with CompactedError or
   * FutureRevisionError.
   */
  get(key: string, options?: GetOptions): Promise<StorageRecord | undefined>;
  /** Lists the records under `prefix`, which ends with `/`. Rejects with CompactedError or FutureRevisionError. */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /** Creates the key. Rejects with KeyExistsError. */
  create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  /**
   * Compare-and-swap: rejects with ConflictError (which carries the current record, if any) unless `expected` is the key's
   * revision.
   */
  update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  /**
   * Deletes the record if `expected` is its revision, otherwise rejects with ConflictError. Returns the last record and the
   * revision of the deletion.
   */
  delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }>;
  /**
   * Yields the events after `from` of keys under `prefix`, ordered by revision, each exactly once. Rejects with
   * CompactedError if `from` is older than the compact revision. Returns without an error when the signal aborts or the
   * storage closes.
   */
  watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent>;
  /**
   * True if concurrent calls of `currentRevision` in one turn of the event loop share a single read, which costs less than
   * reading a record for each.
   */
  readonly sharesRevision?: boolean;
  /**
   * True if every value read was encoded by this server's code: the storage verifies a checksum, or decodes and re-encodes
   * the value. Default: false.
   */
  readonly verifiesValues?: boolean;
  /** Makes watches yield PROGRESS soon. Implemented only by backends whose revision advances by writes of other clients. */
  requestProgress?(): Promise<void>;
  /** True if a value should be rewritten even without changes because it is stored in an older form. */
  needsRewrite?(key: string): boolean;
  /** Returns the current durability. Implemented only by backends whose durability depends on external settings. */
  durability?(): Durability;
  /** Calls the listener when the result of `durability` changes. Returns the function that removes the listener. */
  onDurabilityChange?(listener: () => void): () => void;
  /** Returns the size of the store in bytes. Not implemented by backends that do not know it. */
  size?(): Promise<number>;
  /** Removes records that were overwritten or deleted before this revision. */
  compact(revision: Revision): Promise<void>;
  /**
   * Makes every later write use a revision above this one. Called only before the store serves requests, because watches are
   * not notified. For a store that replaces another whose revisions clients hold. Not implemented by read-only stores.
   */
  raiseRevision?(revision: Revision): Promise<void>;
  /** Returns the revision of the last compaction, 0 if there was none. Reads at or after it succeed. */
  compactRevision(): Promise<Revision>;
  /**
   * Resolves if the store can be read and written within `timeoutMs` (default: two seconds; embedded stores answer at once).
   * Rejects with the reason, with NoSpaceError if only space for writes is lacking.
   */
  healthy(timeoutMs?: number): Promise<void>;
  /** Ends all watches and completes pending writes. The store is unusable afterwards. */
  close(): Promise<void>;
}

/**
 * A feed for the cache that a backend offers if its server is the only writer: the listener receives each event after its
 * write is durable and before the write's promise resolves, ordered by revision.
 */
export interface CommitFeed {
  /** Adds a listener. Returns the function that removes it. */
  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void;
}
