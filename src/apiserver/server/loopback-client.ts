import type { KubeObject } from '#apimachinery/meta/types';
import { isAlreadyExists, isConflict, isNotFound, newNotFound } from '#apimachinery/api/errors';
import { decode } from '#apimachinery/runtime/decode';
import { deepCopy } from '#apimachinery/runtime/copy';
import { now } from '#apimachinery/runtime/time';
import { groupNames, userNames } from '#apiserver/request/user-info';
import { groupVersionString } from '#apimachinery/meta/types';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import { withAuthenticatedGroup } from '#apiserver/authentication/union';
import type { Client, ClientTarget, ObjectClient } from '#apiserver/registry/client';
import { type ServeAs, UserClient } from './user-client.ts';
import { CacherInformer, type Informer, sourceOf } from '#apiserver/registry/informers';
import type { WriteRequest } from '#apiserver/registry/write';

const attempts = 8;
const scanPage = 200;
const apiServer = { name: userNames.apiServer, groups: [groupNames.privileged] };

export type LoopbackTarget = ClientTarget;

/** Returns the installed endpoint of a resource. Throws if there is none. */
export type InstalledEndpoints = (target: LoopbackTarget) => ResourceEndpoint;

/**
 * Reads and writes the server's own objects in process as system:apiserver, with the same stores, strategies and validation
 * as requests, without admission.
 */
export class LoopbackClient implements ObjectClient {
  /** `manager` is the field manager of its writes. */
  constructor(
    readonly lookup: InstalledEndpoints,
    readonly manager = 'kube-apiserver',
  ) {}

  /** Returns a client with another field manager. */
  as(manager: string): LoopbackClient {
    return new LoopbackClient(this.lookup, manager);
  }

  /** Returns the client given to plugins, which can also act as users. */
  withUsers(serve: ServeAs): Client {
    return {
      get: (target, namespace, name) => this.get(target, namespace, name),
      list: (target, namespace) => this.list(target, namespace),
      create: (target, object) => this.create(target, object),
      update: (target, namespace, name, change) => this.update(target, namespace, name, change),
      delete: (...asked) => this.delete(...asked),
      asUser: (user) => new UserClient(serve, withAuthenticatedGroup(user)),
    };
  }

  /** Returns the cached object, shared and not to be modified; undefined if it does not exist or the cache is not ready. */
  peek(target: LoopbackTarget, namespace: string, name: string): KubeObject | undefined {
    const { store } = this.lookup(target);
    return store.cacher.peek(store.key(namespace, name))?.object;
  }

  informer<T extends KubeObject>(target: LoopbackTarget): Informer<T> {
    const { store } = this.lookup(target);
    return new CacherInformer<T>(sourceOf(store));
  }

  /** Returns the newest state; undefined if the object does not exist. */
  async get<T extends KubeObject = KubeObject>(target: LoopbackTarget, namespace: string, name: string): Promise<T | undefined> {
    const endpoint = this.lookup(target);
    if (endpoint.definition.namespaced && namespace === '') return undefined;
    try {
      return deepCopy((await endpoint.store.get(namespace, name, '')).object) as T;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns the cached objects, shared and not to be modified. Throws if the cache is not ready. */
  peekAll(target: LoopbackTarget, namespace = ''): KubeObject[] {
    const { store } = this.lookup(target);
    const list = store.cacher.list({ scope: store.prefix(namespace), resourceVersion: '0' });
    if (list instanceof Promise) throw new Error('loopback: the cache is not ready yet');
    return list.chunks.flatMap(({ items }) => items.map(({ object }) => object));
  }

  /** Returns the newest state of the objects of a namespace, or of all objects. */
  async list<T extends KubeObject = KubeObject>(target: LoopbackTarget, namespace: string): Promise<T[]> {
    await this.whenCurrent(target);
    const objects: T[] = [];
    for await (const object of this.scan(target, namespace)) objects.push(deepCopy(object) as T);
    return objects;
  }

  /** Resolves when the cache of a resource, and thus its informers, have all writes that were acknowledged before the call. */
  async whenCurrent(target: LoopbackTarget): Promise<void> {
    const { store } = this.lookup(target);
    await store.cacher.list({ scope: store.prefix('') });
  }

  /**
   * Yields the objects of one cache snapshot, and yields to the event loop after each page. The objects are shared and must not be
   * modified.
   */
  async *scan(target: LoopbackTarget, namespace = ''): AsyncIterable<KubeObject> {
    const { store } = this.lookup(target);
    const { chunks } = await store.cacher.list({ scope: store.prefix(namespace), resourceVersion: '0' });
    let count = 0;
    for (const { items } of chunks) {
      for (const { object } of items) {
        yield object;
        count += 1;
        if (count % scanPage === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  /** Creates an object. Rejects with AlreadyExists. */
  async create<T extends KubeObject>(target: LoopbackTarget, object: T): Promise<T> {
    const endpoint = this.lookup(target);
    const { object: decoded } = decode<KubeObject>(endpoint.type, deepCopy(object));
    endpoint.definition.defaults?.(decoded);
    const stored = await endpoint.store.create(this.#request(endpoint, object.metadata.namespace ?? ''), decoded);
    return stored.object as T;
  }

  /**
   * A variant of `create` for thousands of objects: `object` must be decoded and defaulted and have its managedFields; it is
   * modified to the stored state. Rejects with AlreadyExists.
   */
  async createPrepared(target: LoopbackTarget, object: KubeObject): Promise<void> {
    const endpoint = this.lookup(target);
    await endpoint.store.create({ ...this.#request(endpoint, object.metadata.namespace ?? ''), admit: () => {} }, object);
  }

  /** Creates an object unless it exists. */
  async ensure(target: LoopbackTarget, object: KubeObject): Promise<void> {
    const { namespace = '', name = '' } = object.metadata;
    if (this.peek(target, namespace, name)) return;
    try {
      await this.create(target, object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /**
   * Updates an object to the result of `change`; undefined leaves it unchanged. Retries after conflicts. Returns the stored
   * object.
   */
  async update<T extends KubeObject = KubeObject>(
    target: LoopbackTarget,
    namespace: string,
    name: string,
    change: (object: T) => T | undefined,
  ): Promise<T | undefined> {
    const endpoint = this.lookup(target);
    for (let attempt = 1; ; attempt += 1) {
      const current = await this.get<T>(target, namespace, name);
      const next = current && change(current);
      if (!next) return undefined;
      const request = this.#request(endpoint, namespace);
      try {
        const stored = await endpoint.store.update(
          request,
          name,
          async (existing) => {
            await request.admit('UPDATE', next, existing);
            return next;
          },
          { strategy: endpoint.strategy },
        );
        return stored.object as T;
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error;
      }
    }
  }

  /** Applies to an existing object with force, taking over the fields of other managers. */
  async apply(target: LoopbackTarget, applied: KubeObject): Promise<void> {
    const endpoint = this.lookup(target);
    const { namespace = '', name = '' } = applied.metadata;
    const request = this.#request(endpoint, namespace);
    await endpoint.store.update(
      request,
      name,
      (existing) => {
        if (!existing) throw newNotFound(endpoint.store.groupResource, name);
        const configuration = { ...deepCopy(applied), kind: endpoint.kind.kind, apiVersion: groupVersionString(endpoint.kind) };
        const merged = endpoint.fieldManager.apply(existing, configuration, this.manager, true);
        return deepCopy(merged ?? existing);
      },
      { strategy: endpoint.strategy },
    );
  }

  /** Deletes an object. Succeeds if it does not exist. */
  async delete(target: LoopbackTarget, namespace: string, name: string): Promise<void> {
    const endpoint = this.lookup(target);
    try {
      await endpoint.store.delete(this.#request(endpoint, namespace), name, {});
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  #request(endpoint: ResourceEndpoint, namespace: string): WriteRequest {
    return {
      namespace,
      user: apiServer,
      dryRun: false,
      bodyBytes: 0,
      now: now(),
      isEnabled: endpoint.isEnabled,
      capabilities: endpoint.capabilities,
      warn: () => {},
      admit: (_operation, object, old) => {
        object.metadata = endpoint.fieldManager.update(old, object, this.manager).metadata;
      },
      validate: () => {},
    };
  }
}
