import type { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { withoutResourceVersion } from '#apiserver/storage/cacher/resource-version';
import { DelegatingStorage } from '#apiserver/storage/delegating-storage';
import { ConflictError, UnconvertibleEventError, UndecodableRecordError } from '#apiserver/storage/errors';
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
} from '#apiserver/storage/storage';
import { UnreadableRecord } from '#apiserver/storage/unreadable-record';
import { checkKind } from '#apiserver/registry/record-form';
import type { VersionedStorage } from '#apiserver/registry/storage-factory';
import type { CustomVersion } from '../registry/custom-version.ts';
import { type Converter, withVersion } from './converter.ts';

/** A served version, and the storage version. */
export interface VersionPair {
  readonly served: CustomVersion;
  readonly stored: CustomVersion;
  /** Returns a version of the definition by its apiVersion: records keep the version in which they were stored. */
  named(apiVersion: string): CustomVersion | undefined;
}

/** Base class of storage views with and without a converter. */
abstract class StorageView extends DelegatingStorage {
  constructor(
    storage: Storage & Partial<CommitFeed>,
    readonly versions: VersionPair,
  ) {
    super(storage);
  }

  override close(): Promise<void> {
    return Promise.reject(new Error('storage: a view cannot close its storage'));
  }

  async get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    const record = await this.storage.get(key, options);
    return record && (await this.fromStored([record]))[0];
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    const result = await this.storage.list(prefix, options);
    return { ...result, records: await this.fromStored(result.records) };
  }

  async delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return this.#convertingConflicts(this.storage.delete(key, expected));
  }

  async create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#shown(await this.storage.create(key, await this.toStored(encode), options));
  }

  async update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#shown(await this.#convertingConflicts(this.storage.update(key, expected, await this.toStored(encode), options)));
  }

  /** Returns the object of a dry run as it would be read back. Upstream: registry/generic/registry/dryrun.go (copyInto). */
  async asStored(bytes: Buffer): Promise<Buffer> {
    if (this.keepsForm) return bytes;
    const { served } = this.versions;
    const { resourceVersion } = served.parse(bytes).metadata;
    const encode = await this.toStored(() => bytes);
    const [record] = await this.fromStored([{ key: '', revision: 0, createRevision: 0, value: encode(0) }]);
    const object = served.parse(record!.value);
    if (resourceVersion === undefined) delete object.metadata.resourceVersion;
    else object.metadata.resourceVersion = resourceVersion;
    return served.encode(object);
  }

  /**
   * True if a written object reads back unchanged: no schema of another version applies, and no default restores the status that a create
   * drops.
   */
  protected get keepsForm(): boolean {
    const { served, stored } = this.versions;
    return served === stored && !served.defaultsStatus;
  }

  /** Converts records to the served version. */
  protected abstract fromStored(records: readonly StorageRecord[]): Promise<StorageRecord[]>;
  /** Returns the encoder of the stored bytes for an object of the served version. */
  protected abstract toStored(encode: Encode): Encode | Promise<Encode>;

  async #shown(record: StorageRecord): Promise<StorageRecord> {
    return this.keepsForm ? record : (await this.fromStored([record]))[0]!;
  }

  /** Converts the winner of a failed compare-and-swap to the served version. */
  async #convertingConflicts<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      if (!(error instanceof ConflictError) || !error.current) throw error;
      const [current] = await this.fromStored([error.current]);
      throw new ConflictError(error.key, current);
    }
  }
}

/**
 * Storage view of versions without a converter: only apiVersion changes, and each version prunes and defaults by its own schema. It is
 * synchronous, so the commit feeds the cache, as for built-in resources.
 */
class RenamingStorage extends StorageView {
  /** Bytes that this process has written, which need no repair. */
  readonly #written = new WeakSet<Buffer>();

  watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent> {
    return this.storage.watch(prefix, from, signal);
  }

  readonly decode = (record: StorageRecord): Buffer => {
    if (this.#written.has(record.value)) return record.value;
    const { served } = this.versions;
    const stored = parseStored(record, served);
    repairStored(stored, this.versions);
    const object = withVersion(stored, served.groupVersion);
    if (object !== stored) served.prune(object);
    object.metadata.resourceVersion = String(record.revision);
    return served.encode(object);
  };

  protected fromStored(records: readonly StorageRecord[]): Promise<StorageRecord[]> {
    return Promise.resolve(records.map((record) => ({ ...record, value: this.decode(record) })));
  }

  protected toStored(encode: Encode): Encode {
    const { served, stored } = this.versions;
    if (served === stored) {
      if (!this.keepsForm) return encode;
      return (revision) => {
        const bytes = encode(revision);
        this.#written.add(bytes);
        return bytes;
      };
    }
    return (revision) => this.#renamed(encode(revision));
  }

  #renamed(bytes: Buffer): Buffer {
    const { served, stored } = this.versions;
    const object = withVersion(served.parse(bytes), stored.groupVersion);
    stored.prune(object);
    return stored.encode(object);
  }

  /** True if writing the object would store different bytes, apart from the position of its revision. */
  async isStale(key: string, shown: Buffer): Promise<boolean> {
    const record = await this.storage.get(key);
    if (!record) return false;
    const { served, stored } = this.versions;
    const written = served === stored ? shown : this.#renamed(shown);
    return !withoutResourceVersion(record.value).equals(withoutResourceVersion(written));
  }
}

/** Storage view of versions that a webhook converts; a list is converted as one batch. */
class ConvertingStorage extends StorageView {
  constructor(
    storage: Storage & Partial<CommitFeed>,
    versions: VersionPair,
    readonly prefix: string,
    readonly converter: Converter,
  ) {
    super(storage, versions);
  }

  /** Streams events. Events of other resources become progress events, by which the cache learns its revision. */
  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent> {
    for await (const event of this.storage.watch(prefix, from, signal)) {
      if (event.type === 'PROGRESS' || event.key.startsWith(this.prefix)) yield await this.#converted(event);
      else yield { type: 'PROGRESS', key: '', revision: event.revision, record: undefined, previous: undefined };
    }
  }

  async #converted(event: StorageEvent): Promise<StorageEvent> {
    const records = [event.record, event.previous].filter((record) => record !== undefined);
    const [first, second] = await this.fromStored(records).catch((error: unknown) => {
      throw new UnconvertibleEventError(event.revision, error as Error);
    });
    return event.record ? { ...event, record: first, previous: second } : { ...event, previous: first };
  }

  protected async fromStored(records: readonly StorageRecord[]): Promise<StorageRecord[]> {
    const { served } = this.versions;
    const read = records.map((record) => readStored(record, served));
    const stored = read.flatMap((object) => (object instanceof UnreadableRecord ? [] : [object]));
    for (const object of stored) repairStored(object, this.versions);
    const objects = (await this.converter.convert(stored, served.groupVersion)).values();
    return records.map(({ key, revision, createRevision }, i) => {
      const before = read[i]!;
      if (before instanceof UnreadableRecord) return before;
      const object = objects.next().value!;
      if (object !== before) served.prune(object);
      object.metadata.resourceVersion = String(revision);
      return { key, revision, createRevision, value: served.encode(object) };
    });
  }

  /** Converts the object before its revision is known; afterwards only the revision is added. */
  protected async toStored(encode: Encode): Promise<Encode> {
    const { served, stored } = this.versions;
    const [object] = await this.converter.convert([served.parse(encode(0))], stored.groupVersion);
    const converted = object!;
    stored.prune(converted);
    return (revision) => {
      converted.metadata.resourceVersion = String(revision);
      return stored.encode(converted);
    };
  }

  async isStale(key: string): Promise<boolean> {
    const record = await this.storage.get(key);
    return record !== undefined && this.versions.stored.parse(record.value).apiVersion !== this.versions.stored.groupVersion;
  }
}

/** Throws UndecodableRecordError for a record that is not an object of the resource. */
function parseStored(record: StorageRecord, served: CustomVersion): KubeObject {
  const { key, revision, value } = record;
  try {
    const object = served.parse(value);
    checkKind(object, served.kind);
    return object;
  } catch (error) {
    throw new UndecodableRecordError(key, revision, (error as Error).message, { cause: error });
  }
}

/** Like `parseStored`, but returns unreadable records, so that they do not prevent the conversion of the others. */
function readStored(record: StorageRecord, served: CustomVersion): KubeObject | UnreadableRecord {
  try {
    return parseStored(record, served);
  } catch (error) {
    return new UnreadableRecord(record, error as Error);
  }
}

/**
 * Repairs a stored object by the schema of its stored version, in place. After a conversion the served version prunes it, without defaults.
 * Upstream: apiserver/customresource_handler.go (crdConversionRESTOptionsGetter).
 */
function repairStored(object: KubeObject, versions: VersionPair): void {
  (versions.named(object.apiVersion) ?? versions.stored).repair(object);
}

/** Returns the storage view of a version. Without a converter, versions differ only by name. `prefix` is that of its objects. */
export function versionedStorage(
  inner: Storage & Partial<CommitFeed>,
  versions: VersionPair,
  prefix: string,
  converter: Converter | undefined,
): VersionedStorage {
  if (converter) {
    const storage = new ConvertingStorage(inner, versions, prefix, converter);
    return { storage, source: storage, hooks: { isStale: (key) => storage.isStale(key), asStored: (bytes) => storage.asStored(bytes) } };
  }
  const storage = new RenamingStorage(inner, versions);
  return {
    storage,
    source: inner,
    decode: storage.decode,
    hooks: {
      isStale: (key, object) => storage.isStale(key, versions.served.encode(object)),
      asStored: (bytes) => storage.asStored(bytes),
    },
  };
}
