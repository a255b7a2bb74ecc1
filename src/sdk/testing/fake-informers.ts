import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Informer, Informers } from '#apiserver/registry/informers';

/** Informers over fixed objects, by `resource.group` (`configmaps`, `deployments.apps`). Resources that are not listed have no informer. */
export function fakeInformers(objects: Readonly<Record<string, readonly KubeObject[]>> = {}): Informers {
  return {
    for<T extends KubeObject>({ group, resource }: GroupResource): Informer<T> {
      const all = (objects[group ? `${resource}.${group}` : resource] ?? []) as readonly T[];
      return {
        get: (namespace, name) => all.find(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === namespace),
        list: (namespace = '') => all.filter(({ metadata }) => !namespace || metadata.namespace === namespace),
        subscribe(listener, { synced } = {}) {
          for (const object of all) listener('ADDED', object);
          synced?.();
          return { [Symbol.dispose]() {} };
        },
      };
    },
  };
}
