import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { isValidPathSegmentName } from '#apimachinery/validation/names';
import type { OfType } from './kind.ts';
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

/**
 * Returns the error of a read of objects that are not received yet, of informers that are not the server's own caches. A plugin that took
 * missing objects for none would admit what it must deny.
 */
export function notReadYet(objects: string): Error {
  return new Error(
    `informer: ${objects} are not read yet: get the informer in the constructor, or name the resource in \`follows\` of the policy`,
  );
}

const retryMs = 1_000;

/** An informer over a watch cache. `keyOf` returns the storage key of an object. */
export class CacherInformer<T extends KubeObject> implements Informer<T> {
  constructor(
    readonly cacher: Cacher,
    readonly keyOf: (namespace: string, name: string) => string,
    readonly prefixOf: (namespace: string) => string,
  ) {}

  get(namespace: string, name: string): T | undefined {
    // Names come from fields of objects that are not validated yet; no object has this one, and it has no key.
    if (isValidPathSegmentName(name).length > 0) return undefined;
    return this.cacher.peek(this.keyOf(namespace, name))?.object as T | undefined;
  }

  list(namespace = ''): T[] {
    const list = this.cacher.list({ scope: this.prefixOf(namespace), resourceVersion: '0' });
    if (list instanceof Promise) throw new Error('informer: the cache is not ready yet');
    return list.chunks.flatMap(({ items }) => items.map(({ object }) => object as T));
  }

  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void, progress: SubscriptionProgress = {}): Disposable {
    let ended = false;
    let isFirst = true;
    let handle: Disposable | undefined;
    let timer: NodeJS.Timeout | undefined;
    const start = (): void => {
      if (ended) return;
      if (!isFirst) progress.restarted?.();
      isFirst = false;
      let synced = progress.synced;
      const watch = this.cacher.watch(
        { scope: this.prefixOf(''), resourceVersion: '0', sendInitialEvents: true, allowBookmarks: synced !== undefined },
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
          end(reason) {
            if (reason !== 'closed') timer = setTimeout(startWhenReady, retryMs);
          },
        },
      );
      handle = { [Symbol.dispose]: () => watch.close() };
    };
    // The cache may be reinitializing, for example after a failover of its store. The promise rejects once the cache is
    // closed.
    const startWhenReady = (): void => void this.cacher.whenReady().then(start, () => {});
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
