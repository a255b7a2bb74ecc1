import type { Buffer } from 'node:buffer';
import { DelegatingStorage } from '../delegating-storage.ts';
import { ConflictError } from '../errors.ts';
import type {
  CommitFeed,
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
} from '../storage.ts';

/** Converts the value of a stored record to the form that readers get. Throws if it cannot be read. */
type ReadValue = (record: StorageRecord) => Buffer;

/**
 * A store whose values have another form in the wrapped store. Records are converted when their value is first read, because
 * most events of a shared store are never read; an unreadable value therefore affects only its own readers.
 */
export abstract class ValueStorage extends DelegatingStorage {
  /** Present if the wrapped store has a commit feed. */
  readonly onCommit?: CommitFeed['onCommit'];
  readonly durability?: () => Durability;
  readonly onDurabilityChange?: NonNullable<Storage['onDurabilityChange']>;
  readonly size?: () => Promise<number>;
  readonly raiseRevision?: (revision: Revision) => Promise<void>;

  constructor(storage: Storage & Partial<CommitFeed>) {
    super(storage);
    const { onCommit } = storage;
    if (storage.raiseRevision) this.raiseRevision = (revision) => storage.raiseRevision!(revision);
    if (storage.size) this.size = () => storage.size!();
    if (storage.durability) this.durability = () => storage.durability!();
    if (storage.onDurabilityChange) this.onDurabilityChange = (listener) => storage.onDurabilityChange!(listener);
    if (onCommit)
      this.onCommit = (listener) => onCommit.call(storage, (events) => listener(events.map((event) => this.#decodeEvent(event))));
  }

  /** Returns the encoder for the stored form of a key. */
  protected abstract encoding(key: string, encode: Encode): Encode;
  /** Returns the reader for the records of a key; undefined if they are stored unchanged. */
  protected abstract readerOf(key: string): ReadValue | undefined;
  /** Prepares the reading of a record. The caller awaits the promise; undefined if no preparation is needed. */
  protected prepare?(record: StorageRecord): Promise<void> | undefined;
  /** Called when the key has been deleted. */
  protected forget?(key: string): void;

  async get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    const record = await this.storage.get(key, options);
    if (!record) return undefined;
    await this.#prepared([record]);
    return this.#decode(record);
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    const result = await this.storage.list(prefix, options);
    await this.#prepared(result.records);
    return { ...result, records: result.records.map((record) => this.#decode(record)) };
  }

  async create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#decode(await this.storage.create(key, this.encoding(key, encode), options));
  }

  async update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#translated(async () => this.#decode(await this.storage.update(key, expected, this.encoding(key, encode), options)));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return this.#translated(async () => {
      const { record, revision } = await this.storage.delete(key, expected);
      const decoded = this.#decode(record);
      this.forget?.(key);
      return { record: decoded, revision };
    });
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent> {
    for await (const event of this.storage.watch(prefix, from, signal)) {
      // If the preparation fails, reading the value throws the reason.
      if (this.prepare) await this.#prepared([event.previous, event.record]).catch(() => {});
      yield this.#decodeEvent(event);
    }
  }

  #decode(record: StorageRecord): StorageRecord {
    const read = this.readerOf(record.key);
    return read ? new ReadRecord(record, read) : record;
  }

  async #prepared(records: readonly (StorageRecord | undefined)[]): Promise<void> {
    if (!this.prepare) return;
    for (const record of records) {
      const work = record && this.prepare(record);
      if (work) await work;
    }
  }

  #decodeEvent(event: StorageEvent): StorageEvent {
    if (event.type === 'DELETE') this.forget?.(event.key);
    return new ReadEvent(event, (record) => this.#decode(record));
  }

  /** Converts the current record of a ConflictError like any other record. */
  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConflictError) || !error.current) throw error;
      await this.#prepared([error.current]);
      throw new ConflictError(error.key, this.#decode(error.current));
    }
  }
}

class ReadRecord implements StorageRecord {
  readonly key: string;
  readonly revision: Revision;
  readonly createRevision: Revision;
  #stored: StorageRecord | undefined;
  readonly #read: ReadValue;
  #value: Buffer | undefined;

  constructor(stored: StorageRecord, read: ReadValue) {
    this.key = stored.key;
    this.revision = stored.revision;
    this.createRevision = stored.createRevision;
    this.#stored = stored;
    this.#read = read;
  }

  /** Throws if the value cannot be read. */
  get value(): Buffer {
    if (this.#stored) {
      this.#value = this.#read(this.#stored);
      this.#stored = undefined;
    }
    return this.#value as Buffer;
  }
}

/** An event that reads the previous record from the wrapped store only on access. */
class ReadEvent implements StorageEvent {
  readonly type: StorageEvent['type'];
  readonly key: string;
  readonly revision: Revision;
  readonly record: StorageRecord | undefined;
  readonly #stored: StorageEvent;
  readonly #decode: (record: StorageRecord) => StorageRecord;

  constructor(stored: StorageEvent, decode: (record: StorageRecord) => StorageRecord) {
    this.type = stored.type;
    this.key = stored.key;
    this.revision = stored.revision;
    this.record = stored.record && decode(stored.record);
    this.#stored = stored;
    this.#decode = decode;
  }

  get previous(): StorageRecord | undefined {
    const { previous } = this.#stored;
    return previous && this.#decode(previous);
  }
}
