import type { Buffer } from 'node:buffer';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { parseEncoded, parseJsonSteps } from '#apimachinery/runtime/json';
import { hasRawContent } from '#apimachinery/runtime/raw-content';
import type { Steps } from '#apimachinery/runtime/steps';
import type { SchemaRegistry, TypeSource } from '#apimachinery/runtime/schema';
import { recordForm } from './record-form.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { Store, type StoreHooks } from './store.ts';
import { Cacher, type ConsistencyStatus } from '#apiserver/storage/cacher/cacher';
import type { CommitFeed, Storage, StorageRecord } from '#apiserver/storage/storage';

/** How a custom resource's objects are read and written in one version. */
export interface VersionedStorage {
  /** What writes go to. */
  readonly storage: Storage;
  /** What the cache reads, and is fed by. */
  readonly source: Storage & Partial<CommitFeed>;
  /** A stored record as this version shows it, where `source` does not. */
  readonly decode?: ((record: StorageRecord) => Buffer) | undefined;
  readonly hooks?: StoreHooks | undefined;
}

/** How objects are stored, apart from where. */
export interface StorageFactoryOptions {
  /** By `group/resource`. */
  readonly hooks?: ReadonlyMap<string, StoreHooks>;
  /** Of those kinds whose objects vanish, where it is another than the definition's. */
  readonly ttlSeconds?: number | undefined;
  /** The storages of single resources, by the place where their objects are stored. */
  readonly overrides?: ReadonlyMap<string, Storage & Partial<CommitFeed>> | undefined;
  /** False: no finalizer is set for a garbage collector. Default: true. */
  readonly hasGarbageCollection?: boolean | undefined;
  /** Called with each comparison of a cache with the storage. */
  readonly onConsistencyCheck?: (resource: GroupResource, status: ConsistencyStatus, message: string) => void;
}

/** One storage for all resources but those of an override, and one watch cache for each place where objects are stored: versions and groups of a kind share it. */
export class StorageFactory {
  /** By the place where objects are stored. */
  readonly #resources = new Map<string, GroupResource & { readonly cacher: Cacher }>();
  /** Of custom resources, one for each version that was asked for. */
  readonly #versions = new Set<GroupResource & { readonly cacher: Cacher }>();

  constructor(
    readonly storage: Storage & Partial<CommitFeed>,
    private readonly options: StorageFactoryOptions = {},
  ) {}

  /** What reads and writes a resource's objects; of a virtual resource nothing can be read. */
  storeFor(definition: ResourceDefinition, schemas: SchemaRegistry): Store {
    const cacher = definition.storagePath === undefined ? undefined : this.#cacherFor(definition, definition.storagePath, schemas);
    const hooks = this.options.hooks?.get(`${definition.group}/${definition.resource}`);
    return new Store(this.#asConfigured(definition), this.#storageAt(definition.storagePath), cacher, schemas, hooks);
  }

  /**
   * What reads and writes the objects of one version of a custom resource, with a cache of its own. To be disposed of when
   * the definition changes: its watches end then.
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
      onConsistencyCheck: (status, message) => this.options.onConsistencyCheck?.({ group, resource }, status, message),
      decode: versioned.decode,
    });
    const opened = { group, resource, cacher };
    this.#versions.add(opened);
    return {
      store: new Store(this.#asConfigured(definition), versioned.storage, cacher, types, versioned.hooks),
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
        indexed: Object.keys(definition.selectableFields).filter((field) => field === 'spec.nodeName'),
      });
      found = { group, resource, cacher };
      this.#resources.set(path, found);
    }
    return found.cacher;
  }

  /** What is stored, each once. */
  get resources(): Iterable<GroupResource & { readonly cacher: Cacher }> {
    return [...this.#resources.values(), ...this.#versions];
  }

  /** Resolves when every cache of a built-in resource has read what is stored. */
  async whenReady(): Promise<void> {
    await Promise.all([...this.#resources.values()].map(({ cacher }) => cacher.whenReady()));
  }

  /** Resolves when every cache of a built-in resource has tried to. */
  async whenTried(): Promise<void> {
    await Promise.all([...this.#resources.values()].map(({ cacher }) => cacher.whenTried()));
  }

  /** The built-in resources whose caches have not, or have no longer, read what is stored. */
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

/** The fields that selectors may ask for, of an object in the storage version. */
export function fieldsOf(definition: ResourceDefinition): (object: KubeObject) => Record<string, string> {
  const selectable = Object.entries(definition.selectableFields);
  return (object) => {
    const fields: Record<string, string> = { 'metadata.name': object.metadata.name ?? '' };
    if (definition.namespaced) fields['metadata.namespace'] = object.metadata.namespace ?? '';
    for (const [label, text] of selectable) fields[label] = text(object);
    return fields;
  };
}
