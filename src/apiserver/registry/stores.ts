import type { GroupResource } from '#apimachinery/meta/types';
import type { Scheme } from './scheme.ts';
import type { StorageFactory } from './storage-factory.ts';
import type { Store } from './store.ts';

/** Lookup of stores, for endpoints that access other resources than their own. */
export class Stores {
  readonly #stores = new Map<string, Store>();

  constructor(
    readonly scheme: Scheme,
    readonly storage: StorageFactory,
  ) {}

  /** Returns the store of a resource's preferred version. Throws if the server does not store the resource. */
  of(resource: GroupResource): Store {
    const key = `${resource.group}/${resource.resource}`;
    let store = this.#stores.get(key);
    if (!store) {
      const definition = this.scheme.resource(resource);
      if (definition?.storagePath === undefined) throw new Error(`stores: ${resource.resource}.${resource.group} is not stored here`);
      store = this.storage.storeFor(definition, this.scheme.schemasOf(resource.group));
      this.#stores.set(key, store);
    }
    return store;
  }
}
