import type { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import { withoutResourceVersion } from '#apiserver/storage/cacher/resource-version';
import { DelegatingStorage } from '#apiserver/storage/delegating-storage';
import { ConflictError, UndecodableRecordError } from '#apiserver/storage/errors';
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

/** A version that is served, and the one that is stored. */
export interface VersionPair {
  readonly served: CustomVersion;
  readonly stored: CustomVersion;
  /** Any version of the definition by its apiVersion: records keep the version in which they were stored. */
  named(apiVersion: string): CustomVersion | undefined;
}

/** What both kinds of conversion leave to the storage itself. */
abstract class StorageView extends DelegatingStorage {
  constructor(
    storage: Storage & Partial<CommitFeed>,
    readonly versions: VersionPair,
  ) {
    super(storage);
  }

  override close(): Promise<void> {
    return Promise.reject(new Error('storage: a view of it cannot close it'));
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
    return this.#told(this.storage.delete(key, expected));
  }

  async create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#shown(await this.storage.create(key, await this.toStored(encode), options));
  }

  async update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord> {
    return this.#shown(await this.#told(this.storage.update(key, expected, await this.toStored(encode), options)));
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
   * True if an object that is written reads back as it is: no other version's schema comes between, and no default brings back
   * the status that a create drops.
   */
  protected get keepsForm(): boolean {
    const { served, stored } = this.versions;
    return served === stored && !served.defaultsStatus;
  }

  /** Records as the served version shows them. */
  protected abstract fromStored(records: readonly StorageRecord[]): Promise<StorageRecord[]>;
  /** What makes the stored bytes of an object of the served version. */
  protected abstract toStored(encode: Encode): Encode | Promise<Encode>;

  async #shown(record: StorageRecord): Promise<StorageRecord> {
    return this.keepsForm ? record : (await this.fromStored([record]))[0]!;
  }

  /** Who lost a compare-and-swap gets the winner in the served version. */
  async #told<T>(write: Promise<T>): Promise<T> {
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
 * Views of the stored objects in versions of a definition without conversion: the name of the version changes, and each
 * version drops and fills in what its own schema says. Nothing waits, so the cache is fed by the commit as that of built-ins.
 */
class RenamingStorage extends StorageView {
  /** Bytes that were written here are in form. */
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

  /** Whether a write of the object would store other bytes than are stored; where its revision stands in them does not count. */
  async isStale(key: string, shown: Buffer): Promise<boolean> {
    const record = await this.storage.get(key);
    if (!record) return false;
    const { served, stored } = this.versions;
    const written = served === stored ? shown : this.#renamed(shown);
    return !withoutResourceVersion(record.value).equals(withoutResourceVersion(written));
  }
}

/** Views of the stored objects in versions that a webhook converts; lists go to it as one batch. */
class ConvertingStorage extends StorageView {
  constructor(
    storage: Storage & Partial<CommitFeed>,
    versions: VersionPair,
    readonly prefix: string,
    readonly converter: Converter,
  ) {
    super(storage, versions);
  }

  /** Events of other resources are told as progress only: the cache knows by them how far it has come. */
  async *watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent> {
    for await (const event of this.storage.watch(prefix, from, signal)) {
      if (event.type === 'PROGRESS' || event.key.startsWith(this.prefix)) yield await this.#converted(event);
      else yield { type: 'PROGRESS', key: '', revision: event.revision, record: undefined, previous: undefined };
    }
  }

  async #converted(event: StorageEvent): Promise<StorageEvent> {
    const records = [event.record, event.previous].filter((record) => record !== undefined);
    const [first, second] = await this.fromStored(records);
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

  /** The object is converted before its revision is known, which is then all that is added. */
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

/** Throws UndecodableRecordError for what is no object of the resource. */
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

/** As `parseStored`. What cannot be read does not keep others from being converted with it. */
function readStored(record: StorageRecord, served: CustomVersion): KubeObject | UnreadableRecord {
  try {
    return parseStored(record, served);
  } catch (error) {
    return new UnreadableRecord(record, error as Error);
  }
}

/**
 * Repairs a stored object by the schema of the version in which it is stored; in place. Behind a conversion the served version
 * prunes it, and has no defaults for it. Upstream: apiserver/customresource_handler.go (crdConversionRESTOptionsGetter).
 */
function repairStored(object: KubeObject, versions: VersionPair): void {
  (versions.named(object.apiVersion) ?? versions.stored).repair(object);
}

/** How a version is read and written; without a converter, versions differ by name. `prefix` is that of its objects. */
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
