import { ConflictError } from '../errors.ts';
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
} from '../storage.ts';

/** A store whose values have another form in the store below: whoever reads gets what was written. */
export abstract class ValueStorage implements Storage {
  /** Where the store itself has a feed. */
  readonly onCommit?: CommitFeed['onCommit'];

  constructor(protected readonly storage: Storage & Partial<CommitFeed>) {
    const { onCommit } = storage;
    if (onCommit)
      this.onCommit = (listener) => onCommit.call(storage, (events) => listener(events.map((event) => this.#decodeEvent(event))));
  }

  /** What makes the stored bytes of a key. */
  protected abstract encoding(key: string, encode: Encode): Encode;
  /** A stored record as readers get it. */
  protected abstract decode(record: StorageRecord): StorageRecord;
  /** Nothing is stored under the key any more. */
  protected forget?(key: string): void;

  async get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    const record = await this.storage.get(key, options);
    return record && this.decode(record);
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    const result = await this.storage.list(prefix, options);
    return { ...result, records: result.records.map((record) => this.decode(record)) };
  }

  async create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.decode(await this.storage.create(key, this.encoding(key, encode), options));
  }

  async update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#translated(async () => this.decode(await this.storage.update(key, expected, this.encoding(key, encode), options)));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return this.#translated(async () => {
      const { record, revision } = await this.storage.delete(key, expected);
      const decoded = this.decode(record);
      this.forget?.(key);
      return { record: decoded, revision };
    });
  }

  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent> {
    for await (const event of this.storage.watch(prefix, from, signal)) yield this.#decodeEvent(event);
  }

  currentRevision(): Promise<Revision> {
    return this.storage.currentRevision();
  }

  async requestProgress(): Promise<void> {
    await this.storage.requestProgress?.();
  }

  needsRewrite(key: string): boolean {
    return this.storage.needsRewrite?.(key) ?? false;
  }

  compact(revision: Revision): Promise<void> {
    return this.storage.compact(revision);
  }

  compactRevision(): Promise<Revision> {
    return this.storage.compactRevision();
  }

  healthy(timeoutMs?: number): Promise<void> {
    return this.storage.healthy(timeoutMs);
  }

  close(): Promise<void> {
    return this.storage.close();
  }

  #decodeEvent(event: StorageEvent): StorageEvent {
    const previous = event.previous && this.decode(event.previous);
    const record = event.record && this.decode(event.record);
    if (previous && !record) this.forget?.(previous.key);
    return { ...event, previous, record };
  }

  /** The present record of a conflict is read like any other. */
  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConflictError && error.current) throw new ConflictError(error.key, this.decode(error.current));
      throw error;
    }
  }
}
