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

/** Makes the value of a stored record as readers get it. Throws for what cannot be read. */
type ReadValue = (record: StorageRecord) => Buffer;

/**
 * A store whose values have another form in the store below: whoever reads gets what was written. Records are read when their
 * value is asked for: of most events of a shared store nobody asks, and what cannot be read concerns nobody else.
 */
export abstract class ValueStorage extends DelegatingStorage {
  /** Where the store itself has a feed. */
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

  /** What makes the stored bytes of a key. */
  protected abstract encoding(key: string, encode: Encode): Encode;
  /** What reads the records of a key; undefined: they stand as they are. */
  protected abstract readerOf(key: string): ReadValue | undefined;
  /** To be waited for before records are read; undefined: there is nothing to wait for. */
  protected prepare?(record: StorageRecord): Promise<void> | undefined;
  /** Nothing is stored under the key any more. */
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
      // What cannot be prepared fails where its value is asked for.
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

  /** The present record of a conflict is read like any other. */
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

  /** Throws for what cannot be read. */
  get value(): Buffer {
    if (this.#stored) {
      this.#value = this.#read(this.#stored);
      this.#stored = undefined;
    }
    return this.#value as Buffer;
  }
}

/** What was there before is read from the store below only if somebody asks for it. */
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
