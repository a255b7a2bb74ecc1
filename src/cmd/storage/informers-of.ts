import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { CacherInformer, type Informer, type Informers } from '#apiserver/registry/informers';
import type { Scheme } from '#apiserver/registry/scheme';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';

/** Creates informers over the watch caches. `storeOf`: returns the stores of resources that are not in the scheme. */
export function informersOf(scheme: Scheme, storage: StorageFactory, storeOf: (resource: GroupResource) => Store | undefined): Informers {
  return {
    for<T extends KubeObject>(resource: GroupResource): Informer<T> {
      const definition = scheme.resource(resource);
      const store = definition?.storagePath ? storage.storeFor(definition, scheme.schemasOf(resource.group)) : storeOf(resource);
      if (!store) {
        const name = `${resource.resource}.${resource.group}`;
        throw new Error(
          `informers: ${name} is not stored here: it is neither built in nor in an apiGroup of a package, and no CustomResourceDefinition of it is served yet`,
        );
      }
      return new CacherInformer<T>(
        store.cacher,
        (namespace, name) => store.key(namespace, name),
        (namespace) => store.prefix(namespace),
      );
    },
  };
}
