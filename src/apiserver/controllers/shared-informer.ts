import type { OfType } from '#apiserver/registry/kind';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { groupResourceString } from '#apimachinery/api/errors';
import type { Informer, Informers, LateInformers } from '#apiserver/registry/informers';

/** Reacts to the changes of a resource. Objects are shared and must not be modified. */
export interface ObjectHandler<T extends KubeObject = KubeObject> {
  /** The object is new to this process: created, or present when the handler was added. */
  added?(object: T): void;
  updated?(object: T, old: T): void;
  deleted?(object: T): void;
}

/** Returns the values under which an object is found; none leaves it out of the index. */
export type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

/** The objects of a resource, kept up to date from the watch cache, with indexes. Upstream: client-go/tools/cache. */
export interface SharedInformer<T extends KubeObject = KubeObject> extends Informer<T> {
  /** Resolves when the objects that exist now are known and handled. */
  readonly synced: Promise<void>;
  /** Adds an index; a name that exists already keeps its function. */
  addIndex(name: string, of: IndexFunction<T>): void;
  /** Returns the objects with the value in the index. Throws for an unknown index. */
  byIndex(name: string, value: string): T[];
  /** Calls the handler for each object and for each later change. Dispose of the result to remove it. */
  handle(handler: ObjectHandler<T>): Disposable;
}

/** Informers of a controller. All controllers of the process share one informer for each resource. */
export interface SharedInformers extends Informers {
  for<T extends KubeObject = KubeObject>(resource: GroupResource & OfType<T>): SharedInformer<T>;
}

export const SharedInformers = Symbol.for('kubenest.SharedInformers');

/** Key of an object in an informer and in a work queue: `namespace/name`, or the name of a cluster-scoped object. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace ? `${namespace}/${name}` : (name ?? '');
}

class Index<T extends KubeObject> {
  readonly #objects = new Map<string, Map<string, T>>();
  /** Values of each object, because the function might return others when the object leaves. */
  readonly #values = new Map<string, readonly string[]>();

  constructor(readonly of: IndexFunction<T>) {}

  /** Replaces the object of a key. Throws what the function throws; the object has no values then. */
  replace(key: string, object: T | undefined): void {
    for (const value of this.#values.get(key) ?? []) {
      const objects = this.#objects.get(value);
      objects?.delete(key);
      if (objects?.size === 0) this.#objects.delete(value);
    }
    this.#values.delete(key);
    const values = object ? this.of(object) : [];
    if (!object || values.length === 0) return;
    this.#values.set(key, values);
    for (const value of values) {
      const objects = this.#objects.get(value);
      if (objects) objects.set(key, object);
      else this.#objects.set(value, new Map([[key, object]]));
    }
  }

  get(value: string): T[] {
    return [...(this.#objects.get(value)?.values() ?? [])];
  }
}

/** Name of the index by namespace, which every informer has. */
const byNamespace = 'namespace';

/** Returns the function of that index. Objects of a namespace share their list of values. */
function namespaceOf(): IndexFunction<KubeObject> {
  const lists = new Map<string, readonly string[]>();
  return ({ metadata: { namespace } }) => {
    if (!namespace) return [];
    let list = lists.get(namespace);
    if (!list) lists.set(namespace, (list = [namespace]));
    return list;
  };
}

/** An informer over another one, which it follows from its construction on. */
class IndexedInformer<T extends KubeObject> implements SharedInformer<T> {
  readonly synced: Promise<void>;
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<ObjectHandler<T>>();
  readonly #subscription: Disposable;
  /** Keys of the objects sent since the source restarted; undefined once it has sent all. */
  #resent: Set<string> | undefined;

  constructor(
    source: Informer<T>,
    readonly onHandlerError: (error: unknown) => void,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.synced = promise;
    this.addIndex(byNamespace, namespaceOf());
    this.#subscription = source.subscribe((type, object) => this.#changed(type, object), {
      restarted: () => {
        this.#resent = new Set();
      },
      synced: () => {
        this.#dropMissing();
        resolve();
      },
    });
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(namespace = ''): T[] {
    return namespace ? this.byIndex(byNamespace, namespace) : [...this.#objects.values()];
  }

  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void): Disposable {
    return this.handle({
      added: (object) => listener('ADDED', object),
      updated: (object) => listener('MODIFIED', object),
      deleted: (object) => listener('DELETED', object),
    });
  }

  addIndex(name: string, of: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return;
    const index = new Index(of);
    for (const [key, object] of this.#objects) this.#call(() => index.replace(key, object));
    this.#indexes.set(name, index);
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`informer: unknown index "${name}"`);
    return index.get(value);
  }

  handle(handler: ObjectHandler<T>): Disposable {
    for (const object of this.#objects.values()) this.#call(() => handler.added?.(object));
    this.#handlers.add(handler);
    return { [Symbol.dispose]: () => void this.#handlers.delete(handler) };
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (type === 'DELETED') {
      if (old) this.#remove(key, object);
      return;
    }
    this.#resent?.add(key);
    // A restarted source sends unchanged objects again.
    if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    if (old && old.metadata.uid !== object.metadata.uid) this.#remove(key, old);
    this.#store(key, object);
  }

  #store(key: string, object: T): void {
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) this.#call(() => index.replace(key, object));
    for (const handler of this.#handlers) this.#call(() => (old ? handler.updated?.(object, old) : handler.added?.(object)));
  }

  /** `last`: the state in which the object was deleted. */
  #remove(key: string, last: T): void {
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.replace(key, undefined);
    for (const handler of this.#handlers) this.#call(() => handler.deleted?.(last));
  }

  /** Removes the objects that were deleted while the source did not watch. */
  #dropMissing(): void {
    const resent = this.#resent;
    this.#resent = undefined;
    if (!resent) return;
    for (const [key, object] of [...this.#objects]) if (!resent.has(key)) this.#remove(key, object);
  }

  #call(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.onHandlerError(error);
    }
  }
}

/** The informers of one controller, which notes those that it has taken. */
export class TakenInformers implements SharedInformers {
  readonly #taken = new Map<SharedInformer, string>();

  constructor(readonly source: SharedInformers) {}

  /** The informers taken so far, with the names of their resources. */
  get taken(): ReadonlyMap<SharedInformer, string> {
    return this.#taken;
  }

  for<T extends KubeObject = KubeObject>(resource: GroupResource & OfType<T>): SharedInformer<T> {
    const informer = this.source.for<T>(resource);
    this.#taken.set(informer as unknown as SharedInformer, groupResourceString(resource));
    return informer;
  }
}

/** Creates the shared informers of a process over its watch caches. */
export class CachedSharedInformers implements SharedInformers {
  readonly #informers = new Map<string, IndexedInformer<KubeObject>>();

  constructor(
    readonly source: Pick<LateInformers, 'late'>,
    readonly onHandlerError: (error: unknown) => void,
  ) {}

  for<T extends KubeObject = KubeObject>(resource: GroupResource): SharedInformer<T> {
    const key = `${resource.resource}.${resource.group}`;
    let informer = this.#informers.get(key);
    if (!informer) {
      informer = new IndexedInformer(this.source.late(resource), this.onHandlerError);
      this.#informers.set(key, informer);
    }
    return informer as unknown as SharedInformer<T>;
  }

  [Symbol.dispose](): void {
    for (const informer of this.#informers.values()) informer[Symbol.dispose]();
    this.#informers.clear();
  }
}
