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
import type { TransformerChain } from './transformer.ts';

/** How the values of a key are written; undefined: as they are. */
export type TransformersOf = (key: string) => TransformerChain | undefined;

/** The prefix that keys have in etcd: values are bound to the whole key, so that either store reads what the other wrote. */
const root = '/registry';

/**
 * A store whose values are encrypted by what their keys name. Whoever reads gets what was written, whoever looks into the
 * store does not. Values that another than the first provider wrote are stale: `needsRewrite` tells so, until they are written
 * again. Upstream: apiserver/pkg/server/options/encryptionconfig, storage/value.
 */
export class EncryptedStorage implements Storage {
  readonly #stale = new Set<string>();
  /** Where the store itself has a feed. */
  readonly onCommit?: CommitFeed['onCommit'];

  constructor(
    private readonly storage: Storage & Partial<CommitFeed>,
    private transformersOf: TransformersOf,
  ) {
    const { onCommit } = storage;
    if (onCommit) this.onCommit = (listener) => onCommit.call(storage, (events) => listener(events.map(this.#decodeEvent)));
  }

  /** Writes with others from the next write on. Values stay readable as long as one of them can read them. */
  replace(transformersOf: TransformersOf): void {
    this.transformersOf = transformersOf;
  }

  needsRewrite(key: string): boolean {
    return this.#stale.has(key);
  }

  async get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    const record = await this.storage.get(key, options);
    return record && this.#decode(record);
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    const result = await this.storage.list(prefix, options);
    return { ...result, records: result.records.map((record) => this.#decode(record)) };
  }

  async create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#decode(await this.storage.create(key, this.#encoding(key, encode), options));
  }

  async update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#translated(async () => this.#decode(await this.storage.update(key, expected, this.#encoding(key, encode), options)));
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return this.#translated(async () => {
      const { record, revision } = await this.storage.delete(key, expected);
      const decoded = this.#decode(record);
      this.#stale.delete(key);
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

  compact(revision: Revision): Promise<void> {
    return this.storage.compact(revision);
  }

  compactRevision(): Promise<Revision> {
    return this.storage.compactRevision();
  }

  healthy(): Promise<void> {
    return this.storage.healthy();
  }

  close(): Promise<void> {
    return this.storage.close();
  }

  #encoding(key: string, encode: Encode): Encode {
    const transformers = this.transformersOf(key);
    return transformers ? (revision) => transformers.toStorage(encode(revision), root + key) : encode;
  }

  /** Throws an Error that names the key where no provider can read the value. */
  readonly #decode = (record: StorageRecord): StorageRecord => {
    const transformers = this.transformersOf(record.key);
    if (!transformers) return record;
    try {
      const { value, stale } = transformers.fromStorage(record.value, root + record.key);
      if (stale) this.#stale.add(record.key);
      else this.#stale.delete(record.key);
      return { ...record, value };
    } catch (cause) {
      throw new Error(`unable to transform key ${JSON.stringify(root + record.key)}: ${(cause as Error).message}`, { cause });
    }
  };

  readonly #decodeEvent = (event: StorageEvent): StorageEvent => {
    const previous = event.previous && this.#decode(event.previous);
    const record = event.record && this.#decode(event.record);
    if (previous && !record) this.#stale.delete(previous.key);
    return { ...event, previous, record };
  };

  /** The present record of a conflict is read like any other. */
  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConflictError && error.current) throw new ConflictError(error.key, this.#decode(error.current));
      throw error;
    }
  }
}
