import { withAlwaysFields } from '#apimachinery/managedfields/always-fields';
import { shapeOf } from '#apimachinery/managedfields/shape';
import type { GroupVersionKind, KubeObject } from '#apimachinery/meta/types';
import { fromStorage, type ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { KindObjects, ServedKinds } from '#apiserver/registry/served-kinds';
import type { ApiServerTarget } from './api-server-target.ts';

/** Looks up kinds in the endpoints of the servers, which change with custom resources. */
export class ChainKinds implements ServedKinds {
  constructor(readonly chain: readonly Pick<ApiServerTarget, 'endpoints'>[]) {}

  find(kind: GroupVersionKind): KindObjects | undefined {
    for (const { endpoints } of this.chain) {
      for (const { endpoint } of endpoints.get(`${kind.group}/${kind.version}`)?.values() ?? []) {
        if (endpoint.kind.kind === kind.kind && endpoint.subresource === '') return new EndpointObjects(endpoint);
      }
    }
    return undefined;
  }
}

class EndpointObjects implements KindObjects {
  constructor(readonly endpoint: ResourceEndpoint) {}

  get namespaced(): boolean {
    return this.endpoint.definition.namespaced;
  }

  get ready(): boolean {
    return this.endpoint.store.cacher.ready;
  }

  whenReady(): Promise<void> {
    return this.endpoint.store.cacher.whenReady();
  }

  get(namespace: string, name: string): KubeObject | undefined {
    const { store } = this.endpoint;
    const found = store.cacher.get(store.key(namespace, name), '0');
    if (found instanceof Promise) throw new Error(`the cache of ${store.groupResource.resource} is not ready yet`);
    return found && this.#shown(found.object);
  }

  list(namespace: string): KubeObject[] {
    const { store } = this.endpoint;
    const list = store.cacher.list({ scope: store.prefix(namespace), resourceVersion: '0' });
    if (list instanceof Promise) throw new Error(`the cache of ${store.groupResource.resource} is not ready yet`);
    return list.chunks.flatMap(({ items }) => items.map(({ object }) => this.#shown(object)));
  }

  /** Returns the object with the fields of its JSON form. */
  #shown(object: KubeObject): KubeObject {
    return withAlwaysFields(shapeOf(this.endpoint.type), fromStorage(this.endpoint, object)) as KubeObject;
  }
}
