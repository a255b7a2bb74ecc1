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

/** One storage for all resources, and one watch cache for each place where objects are stored: versions and groups of a kind share it. */
export class StorageFactory {
  /** By the place where objects are stored. */
  readonly #resources = new Map<string, GroupResource & { readonly cacher: Cacher }>();
  /** Of custom resources, one for each version that was asked for. */
  readonly #versions = new Set<GroupResource & { readonly cacher: Cacher }>();

  /**
   * `hooks`: by `group/resource`. `ttlSeconds`: of those kinds whose objects vanish, where it is another than the definition's.
   * `onConsistencyCheck`: told of each comparison of a cache with the storage.
   */
  constructor(
    readonly storage: Storage & Partial<CommitFeed>,
    readonly hooks: ReadonlyMap<string, StoreHooks> = new Map(),
    readonly ttlSeconds: number | undefined = undefined,
    readonly onConsistencyCheck?: (resource: GroupResource, status: ConsistencyStatus, message: string) => void,
  ) {}

  /** What reads and writes a resource's objects; of a virtual resource nothing can be read. */
  storeFor(definition: ResourceDefinition, schemas: SchemaRegistry): Store {
    const lasting = definition.ttlSeconds === undefined || this.ttlSeconds === undefined;
    const stored = lasting ? definition : { ...definition, ttlSeconds: this.ttlSeconds };
    const cacher = definition.storagePath === undefined ? undefined : this.#cacherFor(definition, definition.storagePath, schemas);
    return new Store(stored, this.storage, cacher, schemas, this.hooks.get(`${definition.group}/${definition.resource}`));
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
      onConsistencyCheck: (status, message) => this.onConsistencyCheck?.({ group, resource }, status, message),
      decode: versioned.decode,
    });
    const opened = { group, resource, cacher };
    this.#versions.add(opened);
    return {
      store: new Store(definition, versioned.storage, cacher, types, versioned.hooks),
      [Symbol.dispose]: () => {
        this.#versions.delete(opened);
        cacher.close();
      },
    };
  }

  #cacherFor(definition: ResourceDefinition, path: string, schemas: SchemaRegistry): Cacher {
    let found = this.#resources.get(path);
    if (!found) {
      const { group, resource } = definition;
      const type = schemas.struct(definition.storageVersion?.schema ?? definition.schema);
      const cacher = new Cacher({
        storage: this.storage,
        prefix: `/${path}/`,
        ...parsing,
        parse: (bytes) => parseEncoded(bytes, hasRawContent(type)) as KubeObject,
        fields: fieldsOf(definition),
        fieldNames: Object.keys(definition.selectableFields),
        resource: { group, resource },
        onConsistencyCheck: (status, message) => this.onConsistencyCheck?.({ group, resource }, status, message),
        recognise: recordForm(definition.kind, definition.storageVersion?.version ?? definition, this.storage.verifiesValues ?? false),
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

  async close(): Promise<void> {
    for (const { cacher } of this.resources) cacher.close();
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
