import type { Buffer } from 'node:buffer';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { parseJson } from '#apimachinery/runtime/json';
import type { SchemaRegistry } from '#apimachinery/runtime/schema';
import type { ResourceDefinition } from './resource-definition.ts';
import { Store, type StoreHooks } from './store.ts';
import { Cacher } from '#apiserver/storage/cacher/cacher';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';

/** One storage for all resources, and one watch cache for each place where objects are stored: versions and groups of a kind share it. */
export class StorageFactory {
  /** By the place where objects are stored. */
  readonly #resources = new Map<string, GroupResource & { readonly cacher: Cacher }>();

  /** `hooks`: by `group/resource`. `ttlSeconds`: of those kinds whose objects vanish, where it is another than the definition's. */
  constructor(
    readonly storage: Storage & Partial<CommitFeed>,
    readonly hooks: ReadonlyMap<string, StoreHooks> = new Map(),
    readonly ttlSeconds: number | undefined = undefined,
  ) {}

  /** What reads and writes a resource's objects; of a virtual resource nothing can be read. */
  storeFor(definition: ResourceDefinition, schemas: SchemaRegistry): Store {
    const lasting = definition.ttlSeconds === undefined || this.ttlSeconds === undefined;
    const stored = lasting ? definition : { ...definition, ttlSeconds: this.ttlSeconds };
    const cacher = definition.storagePath === undefined ? undefined : this.#cacherFor(definition, definition.storagePath);
    return new Store(stored, this.storage, cacher, schemas, this.hooks.get(`${definition.group}/${definition.resource}`));
  }

  #cacherFor(definition: ResourceDefinition, path: string): Cacher {
    let found = this.#resources.get(path);
    if (!found) {
      const { group, resource } = definition;
      const cacher = new Cacher({
        storage: this.storage,
        prefix: `/${path}/`,
        parse: (bytes: Buffer) => parseJson(bytes).value as KubeObject,
        fields: fieldsOf(definition),
        resource: { group, resource },
        indexed: Object.keys(definition.selectableFields).filter((field) => field === 'spec.nodeName'),
      });
      found = { group, resource, cacher };
      this.#resources.set(path, found);
    }
    return found.cacher;
  }

  /** What is stored, each once. */
  get resources(): Iterable<GroupResource & { readonly cacher: Cacher }> {
    return this.#resources.values();
  }

  /** Resolves when every cache has read what is stored. */
  async whenReady(): Promise<void> {
    await Promise.all([...this.#resources.values()].map(({ cacher }) => cacher.whenReady()));
  }

  async close(): Promise<void> {
    for (const { cacher } of this.#resources.values()) cacher.close();
    await this.storage.close();
  }
}

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
