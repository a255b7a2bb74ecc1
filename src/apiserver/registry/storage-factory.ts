import type { Buffer } from 'node:buffer';
import { type GroupResource, groupVersionString, type KubeObject } from '#apimachinery/meta/types';
import { parseEncoded, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { hasRawContent } from '#apimachinery/runtime/raw-content';
import type { Steps } from '#apimachinery/runtime/steps';
import type { SchemaRegistry, TypeSource } from '#apimachinery/runtime/schema';
import type { OnRefusal } from './identity.ts';
import { recordForm } from './record-form.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { Store } from './store.ts';
import type { StoreHooks } from './write.ts';
import { Cacher, type ConsistencyStatus } from '#apiserver/storage/cacher/cacher';
import type { CommitFeed, Storage, StorageRecord } from '#apiserver/storage/storage';

/** Storage of a custom resource in one version. */
export interface VersionedStorage {
  /** Storage for writes. */
  readonly storage: Storage;
  /** Storage for the cache: its initial list and its events. */
  readonly source: Storage & Partial<CommitFeed>;
  /** Converts a stored record to this version, if `source` does not. */
  readonly decode?: ((record: StorageRecord) => Buffer) | undefined;
  readonly hooks?: StoreHooks | undefined;
}

/** Options of stored objects, independent of the storage. */
export interface StorageFactoryOptions {
  /** Hooks by `group/resource`. */
  readonly hooks?: ReadonlyMap<string, StoreHooks>;
  /** Time to live of kinds that expire, if it differs from the definition's. */
  readonly ttlSeconds?: number | undefined;
  /** Storages of individual resources, by storage path. */
  readonly overrides?: ReadonlyMap<string, Storage & Partial<CommitFeed>> | undefined;
  /** False if no garbage collector runs: its finalizers are never set. Default: true. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** Called for each write that is refused because the object is not that of its key. */
  readonly onRefusal?: OnRefusal;
  /** Called after each comparison of a cache with the storage. */
  readonly onConsistencyCheck?: (resource: GroupResource, status: ConsistencyStatus, message: string) => void;
}

/**
 * Creates stores over one storage (except for overrides), with one watch cache for each storage path, shared by all versions
 * and groups of a kind.
 */
export class StorageFactory {
  /** Built-in resources by storage path. */
  readonly #resources = new Map<string, GroupResource & { readonly cacher: Cacher }>();
  /** Custom resources, one for each opened version. */
  readonly #versions = new Set<GroupResource & { readonly cacher: Cacher }>();

  constructor(
    readonly storage: Storage & Partial<CommitFeed>,
    private readonly options: StorageFactoryOptions = {},
  ) {}

  /** Returns the store of a resource. The store of a virtual resource cannot be read. */
  storeFor(definition: ResourceDefinition, schemas: SchemaRegistry): Store {
    const cacher = definition.storagePath === undefined ? undefined : this.#cacherFor(definition, definition.storagePath, schemas);
    const hooks = this.options.hooks?.get(`${definition.group}/${definition.resource}`);
    return new Store(
      this.#asConfigured(definition),
      this.#storageAt(definition.storagePath),
      cacher,
      schemas,
      hooks,
      this.options.onRefusal,
    );
  }

  /**
   * Opens the store of one version of a custom resource with its own cache. Dispose of it when the definition changes, which
   * ends its watches.
   */
  openVersion(definition: ResourceDefinition, types: TypeSource, versioned: VersionedStorage): { store: Store } & Disposable {
    const { group, resource, storagePath } = definition;
    const cacher = new Cacher({
      storage: versioned.source,
      prefix: `/${storagePath}/`,
      ...parsing,
      fields: fieldsOf(definition),
      fieldNames: Object.keys(definition.selectableFields),
      resource: { group, resource },
      listed: `${groupVersionString(definition)}, Kind=${definition.kind}`,
      onConsistencyCheck: (status, message) => this.options.onConsistencyCheck?.({ group, resource }, status, message),
      decode: versioned.decode,
    });
    const opened = { group, resource, cacher };
    this.#versions.add(opened);
    return {
      store: new Store(this.#asConfigured(definition), versioned.storage, cacher, types, versioned.hooks, this.options.onRefusal),
      [Symbol.dispose]: () => {
        this.#versions.delete(opened);
        cacher.close();
      },
    };
  }

  #storageAt(path: string | undefined): Storage & Partial<CommitFeed> {
    return (path === undefined ? undefined : this.options.overrides?.get(path)) ?? this.storage;
  }

  #asConfigured(definition: ResourceDefinition): ResourceDefinition {
    const { ttlSeconds, hasGarbageCollection = true } = this.options;
    const vanishes = definition.ttlSeconds !== undefined && ttlSeconds !== undefined;
    if (!vanishes && hasGarbageCollection) return definition;
    return { ...definition, hasGarbageCollection, ...(vanishes && { ttlSeconds }) };
  }

  #cacherFor(definition: ResourceDefinition, path: string, schemas: SchemaRegistry): Cacher {
    let found = this.#resources.get(path);
    if (!found) {
      const { group, resource } = definition;
      const type = schemas.struct(definition.storageVersion?.schema ?? definition.schema);
      const storage = this.#storageAt(path);
      const cacher = new Cacher({
        storage,
        prefix: `/${path}/`,
        ...parsing,
        parse: (bytes) => parseEncoded(bytes, hasRawContent(type)) as KubeObject,
        fields: fieldsOf(definition),
        fieldNames: Object.keys(definition.selectableFields),
        resource: { group, resource },
        onConsistencyCheck: (status, message) => this.options.onConsistencyCheck?.({ group, resource }, status, message),
        recognise: recordForm(definition.kind, definition.storageVersion?.version ?? definition, storage.verifiesValues ?? false),
        indexed: definition.indexedFields ?? [],
        answersAsStorage: definition.readsStorage ?? false,
      });
      found = { group, resource, cacher };
      this.#resources.set(path, found);
    }
    return found.cacher;
  }

  /** The stored resources, each once. */
  get resources(): Iterable<GroupResource & { readonly cacher: Cacher }> {
    return [...this.#resources.values(), ...this.#versions];
  }

  /** Resolves when every cache of a built-in resource is ready. */
  async whenReady(): Promise<void> {
    await Promise.all([...this.#resources.values()].map(({ cacher }) => cacher.whenReady()));
  }

  /** Resolves when every cache of a built-in resource has tried to list its objects. */
  async whenTried(): Promise<void> {
    await Promise.all([...this.#resources.values()].map(({ cacher }) => cacher.whenTried()));
  }

  /** Returns the built-in resources whose caches are not ready. */
  unread(): GroupResource[] {
    return [...this.#resources.values()].filter(({ cacher }) => !cacher.ready);
  }

  /** Closes the caches. */
  closeCaches(): void {
    for (const { cacher } of this.resources) cacher.close();
  }

  /** Closes the caches and the storage behind them. */
  async close(): Promise<void> {
    this.closeCaches();
    await this.storage.close();
  }
}

const parsing = {
  parse: (bytes: Buffer) => parseEncoded(bytes) as KubeObject,
  *parseSteps(bytes: Buffer): Steps<KubeObject> {
    return (yield* parseJsonSteps(bytes)).value as KubeObject;
  },
};

/** Returns the function that computes an object's selectable fields in the storage version. */
export function fieldsOf(definition: ResourceDefinition): (object: KubeObject) => Record<string, string> {
  const selectable = Object.entries(definition.selectableFields);
  return (object) => {
    const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' };
    if (definition.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? '';
    for (const [label, text] of selectable) fields[label] = text(object);
    return fields;
  };
}
