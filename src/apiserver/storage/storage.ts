import type { Buffer } from 'node:buffer';

/**
 * The store's clock: a number that each write raises by one, kept with the write in one transaction and never made from
 * time. A safe integer (2^53 at a million writes a second lasts 285 years). An empty store is at 1, as etcd: 0 means "any"
 * to clients. Numbers may be skipped, none is given twice.
 */
export type Revision = number;

/** What is stored under a key: the encoded object as its last write left it. */
export interface StorageRecord {
  /** `/pods/default/web-1`: begins with `/`, segments without `/`, `.` and `..` alone are refused. */
  readonly key: string;
  /** The revision of the last write of this key. */
  readonly revision: Revision;
  /** The revision of the write that created it. */
  readonly createRevision: Revision;
  /** Throws CorruptRecordError or UndecodableRecordError where it is damaged: the key is known all the same, and others are not concerned. */
  readonly value: Buffer;
}

/**
 * One write, as watchers see it. PROGRESS is no write: it says that all events up to `revision` have come; `key` is empty.
 * Backends whose revision moves by writes that a watch does not show send it when asked (`requestProgress`).
 */
export interface StorageEvent {
  readonly type: 'PUT' | 'DELETE' | 'PROGRESS';
  readonly key: string;
  readonly revision: Revision;
  /** PUT: the new record. Others: undefined. */
  readonly record: StorageRecord | undefined;
  /** What was stored before; undefined for the first write of a key, and where compaction has taken it. */
  readonly previous: StorageRecord | undefined;
}

/** Makes the stored bytes once the write's revision is known; called synchronously, at most once for each attempt. */
export type Encode = (revision: Revision) => Buffer;

export interface GetOptions {
  /** The state at this revision; without it, the newest. */
  readonly revision?: Revision | undefined;
}

export interface ListOptions {
  readonly revision?: Revision | undefined;
  /** At most so many records; 0 or none: all. */
  readonly limit?: number | undefined;
  /** Only keys that are not before this one. */
  readonly from?: string | undefined;
  /** Of what is beyond the limit, only `more` is asked for: who reads all pages would have the rest counted for each. Default: false. */
  readonly uncounted?: boolean | undefined;
}

export interface ListResult {
  /** In the order of their keys' UTF-8 bytes. */
  readonly records: readonly StorageRecord[];
  /** The revision at which the list was read: the one asked for, or the store's current one. */
  readonly revision: Revision;
  readonly more: boolean;
  /** All records under the prefix from `from` on at that revision, those beyond the limit too; of an `uncounted` list perhaps fewer. */
  readonly count: number;
}

export interface WriteOptions {
  /** The record is deleted by the store, with an event, once so many seconds have passed. */
  readonly ttlSeconds?: number | undefined;
}

/** Whether acknowledged writes last, as far as the backend can know it, and why: a clause. */
export interface Durability {
  readonly isDurable: boolean;
  readonly detail: string;
  /** How often, since it was opened, the store was found without writes that it may have acknowledged. */
  readonly losses: number;
}

/**
 * The contract of every backend. Writes are linearizable; what resolved is durable; a write whose outcome is unknown
 * rejects with `UnknownOutcomeError`, never with another error and never by resolving. Errors: `errors.ts` in this folder.
 */
export interface Storage {
  /** The newest revision that a finished write has; a read after it sees that write (linearizable). */
  currentRevision(): Promise<Revision>;
  /** The record, or undefined if there is none at that revision. Rejects with CompactedError or FutureRevisionError. */
  get(key: string, options?: GetOptions): Promise<StorageRecord | undefined>;
  /** `prefix` ends with `/`. Rejects with CompactedError or FutureRevisionError. */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /** Rejects with KeyExistsError. */
  create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  /** Compare-and-swap: rejects with ConflictError (which carries the present record, if there is one) unless `expected` is the key's revision. */
  update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  /** Deletes the record if `expected` is its revision, else rejects with ConflictError. Returns the last record; `revision` is that of the deletion. */
  delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }>;
  /**
   * Events after `from`, in the order of their revisions, each once, none missing; of keys under `prefix`. Rejects with
   * CompactedError when `from` is before the compaction. Ends quietly when the signal aborts or the storage closes.
   */
  watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent>;
  /** Whether `currentRevision` asks once for all that ask in a turn of the event loop: less work than to read a record for each. */
  readonly sharesRevision?: boolean;
  /** True if a value that is read is one that this server's code encoded: it has a checksum, or is decoded and encoded anew. Default: false. */
  readonly verifiesValues?: boolean;
  /** Makes watches yield PROGRESS soon. Only backends have it whose revision moves by writes of others. */
  requestProgress?(): Promise<void>;
  /** Whether a value is to be written again, though nothing of it changes: it is stored in an older form. */
  needsRewrite?(key: string): boolean;
  /** Only backends have it whose durability is a matter of settings elsewhere. */
  durability?(): Durability;
  /** Calls when `durability` tells something else than before. Returns the function that ends it. */
  onDurabilityChange?(listener: () => void): () => void;
  /** The bytes that it takes. Not of backends that do not know. */
  size?(): Promise<number>;
  /** Forgets what was overwritten or deleted before this revision. */
  compact(revision: Revision): Promise<void>;
  /**
   * Every later write has a revision above this one. Only before the store is served: its watches are not told. For a store that takes the place of another, whose clients know its revisions. Not of read-only stores.
   */
  raiseRevision?(revision: Revision): Promise<void>;
  /** The revision of the last compaction; 0 if there was none. Reads at or after it are possible. */
  compactRevision(): Promise<Revision>;
  /** Resolves if the store can be read and written within a time (two seconds by default; embedded stores answer at once); rejects with the reason: NoSpaceError if nothing but room for writes is lacking. */
  healthy(timeoutMs?: number): Promise<void>;
  /** Ends watches and writes what is under way; the store is unusable after. */
  close(): Promise<void>;
}

/**
 * A backend whose server is the only writer feeds the cache in the commit itself: the listener gets each event after its
 * write is durable and before the write's promise resolves, in revision order.
 */
export interface CommitFeed {
  /** Returns the function that ends it. */
  onCommit(listener: (events: readonly StorageEvent[]) => void): () => void;
}
