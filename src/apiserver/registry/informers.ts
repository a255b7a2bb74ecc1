import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { isValidPathSegmentName } from '#apimachinery/validation/names';
import type { OfType } from './kind.ts';
import type { Store } from './store.ts';
import type { Cacher } from '#apiserver/storage/cacher/cacher';

/**
 * The current objects of a resource, read synchronously from the server's own cache. Returned objects are shared and must
 * not be modified.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  get(namespace: string, name: string): T | undefined;
  /** Returns all objects, or those of a namespace. */
  list(namespace?: string): T[];
  /**
   * Calls the listener for each current object (as ADDED) and after each change. After an interruption of the cache it calls
   * `restarted`, sends the current objects as ADDED again, and does not report what was deleted meanwhile. Dispose of the result to
   * unsubscribe.
   */
  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void, progress?: SubscriptionProgress): Disposable;
}

export interface SubscriptionProgress {
  /** The current objects are about to be sent again. */
  restarted?(): void;
  /** All current objects were sent, at the start or after `restarted`. */
  synced?(): void;
}

export interface Informers {
  /** Returns the informer of a resource. Throws if the server does not store it. */
  for<T extends KubeObject = KubeObject>(resource: GroupResource & OfType<T>): Informer<T>;
}

export const Informers = Symbol.for('kubenest.Informers');

export interface LateInformers extends Informers {
  /**
   * Returns the informer of a resource, also of one that may be served later by a CustomResourceDefinition: until then, it has no objects
   * and is not synced. Throws for an unknown resource of a built-in group.
   */
  late<T extends KubeObject = KubeObject>(resource: GroupResource & OfType<T>): Informer<T>;
}

export const LateInformers = Symbol.for('kubenest.LateInformers');

/**
 * Returns the error of a read of objects that are not received yet, of informers that are not the server's own caches. A plugin that took
 * missing objects for none would admit what it must deny.
 */
export function notReadYet(objects: string): Error {
  return new Error(
    `informer: ${objects} are not read yet: get the informer in the constructor, or name the resource in \`follows\` of the policy`,
  );
}

/** Interval at which an interrupted informer looks for a cache, and the time after which it looks first. */
const [retryMs, firstRetryMs] = [1_000, 20];

/** A watch cache with the keys of its objects. */
export interface InformerSource {
  readonly cacher: Cacher;
  /** Returns the storage key of an object. */
  keyOf(namespace: string, name: string): string;
  /** Returns the prefix of the keys of a namespace, or of all objects if it is empty. */
  prefixOf(namespace: string): string;
}

/**
 * An informer over a watch cache. That of a custom resource is replaced when its definition changes: then the informer changes to the new
 * one, and its subscribers get the objects again, as after an interruption. While no version is served, it has no objects.
 */
export class CacherInformer<T extends KubeObject> implements Informer<T> {
  readonly #sourceOf: () => InformerSource | undefined;
  readonly #isReplaceable: boolean;

  /** `source`: the cache, or a function that returns the one that serves now; undefined if none does. */
  constructor(source: InformerSource | (() => InformerSource | undefined)) {
    this.#isReplaceable = typeof source === 'function';
    this.#sourceOf = typeof source === 'function' ? source : () => source;
  }

  get(namespace: string, name: string): T | undefined {
    // Names come from fields of objects that are not validated yet; no object has this one, and it has no key.
    if (isValidPathSegmentName(name).length > 0) return undefined;
    const source = this.#sourceOf();
    if (this.#isReplaceable && source && !source.cacher.ready) throw new Error('informer: the cache is not ready yet');
    return source?.cacher.peek(source.keyOf(namespace, name))?.object as T | undefined;
  }

  list(namespace = ''): T[] {
    const source = this.#sourceOf();
    if (!source) return [];
    const list = source.cacher.list({ scope: source.prefixOf(namespace), resourceVersion: '0' });
    if (list instanceof Promise) throw new Error('informer: the cache is not ready yet');
    return list.chunks.flatMap(({ items }) => items.map(({ object }) => object as T));
  }

  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void, progress: SubscriptionProgress = {}): Disposable {
    let ended = false;
    let isFirst = true;
    let handle: Disposable | undefined;
    let timer: NodeJS.Timeout | undefined;
    const retry = (afterMs: number): void => {
      if (ended) return;
      timer = setTimeout(startWhenReady, afterMs);
      // A replaceable cache that is closed may never be replaced, for example because the server stops.
      if (this.#isReplaceable) timer.unref();
    };
    const start = ({ cacher, prefixOf }: InformerSource): void => {
      if (ended) return;
      if (!isFirst) progress.restarted?.();
      isFirst = false;
      let synced = progress.synced;
      const watch = cacher.watch(
        { scope: prefixOf(''), resourceVersion: '0', sendInitialEvents: true, allowBookmarks: synced !== undefined },
        {
          send(event) {
            if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
              listener(event.type, event.object.object as T);
            else if (event.type === 'BOOKMARK' && event.initialEventsEnd) {
              synced?.();
              synced = undefined;
            }
          },
          bufferedBytes: () => 0,
          end: (reason) => {
            if (reason !== 'closed') retry(retryMs);
            else if (this.#isReplaceable) retry(firstRetryMs);
          },
        },
      );
      handle = { [Symbol.dispose]: () => watch.close() };
    };
    // The cache may be reinitializing, for example after a failover of its store. The promise rejects once the cache is closed.
    const startWhenReady = (): void => {
      const source = this.#sourceOf();
      if (!source) return retry(retryMs);
      void source.cacher.whenReady().then(
        () => start(source),
        () => {
          if (this.#isReplaceable) retry(retryMs);
        },
      );
    };
    startWhenReady();
    return {
      [Symbol.dispose]() {
        ended = true;
        clearTimeout(timer);
        handle?.[Symbol.dispose]();
      },
    };
  }
}

/** Returns the watch cache of a store as the source of an informer. */
export function sourceOf(store: Pick<Store, 'cacher' | 'key' | 'prefix'>): InformerSource {
  return {
    cacher: store.cacher,
    keyOf: (namespace, name) => store.key(namespace, name),
    prefixOf: (namespace) => store.prefix(namespace),
  };
}
