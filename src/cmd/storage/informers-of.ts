import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { CacherInformer, type Informer, type LateInformers, sourceOf } from '#apiserver/registry/informers';
import type { Scheme } from '#apiserver/registry/scheme';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { Store } from '#apiserver/registry/store';

/**
 * Creates informers over the watch caches. `storeOf` returns the present stores of resources that are not in the scheme: those of custom
 * resources are replaced when a definition changes.
 */
export function informersOf(
  scheme: Scheme,
  storage: StorageFactory,
  storeOf: (resource: GroupResource) => Store | undefined,
): LateInformers {
  const ofCustom = <T extends KubeObject>(resource: GroupResource): Informer<T> =>
    new CacherInformer<T>(() => {
      const store = storeOf(resource);
      return store && sourceOf(store);
    });
  const ofStored = <T extends KubeObject>(resource: GroupResource): Informer<T> => {
    const definition = scheme.resource(resource);
    if (definition?.storagePath) return new CacherInformer<T>(sourceOf(storage.storeFor(definition, scheme.schemasOf(resource.group))));
    if (storeOf(resource)) return ofCustom(resource);
    const name = `${resource.resource}.${resource.group}`;
    throw new Error(
      `informers: ${name} is not stored here: it is neither built in nor in an apiGroup of a package, and no CustomResourceDefinition of it is served yet`,
    );
  };
  return {
    for: ofStored,
    late: (resource) => (scheme.known.some(({ group }) => group === resource.group) ? ofStored(resource) : ofCustom(resource)),
  };
}
