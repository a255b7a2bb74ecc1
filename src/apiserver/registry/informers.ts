import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import type { Cacher } from '#apiserver/storage/cacher/cacher';

/** The present objects of a resource, read from the server's own cache: no request, no waiting. What it gives is shared and must not be changed. */
export interface Informer<T extends KubeObject = KubeObject> {
  get(namespace: string, name: string): T | undefined;
  /** All objects, or those of a namespace. */
  list(namespace?: string): T[];
  /** Calls after each change, and once with what there is (as ADDED). Returns the end of it. */
  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void): Disposable;
}

export interface Informers {
  /** Throws for a resource that the server does not store. */
  for<T extends KubeObject = KubeObject>(resource: GroupResource): Informer<T>;
}

export const Informers = Symbol.for('kubenest.Informers');

const retryMs = 1_000;

/** An informer over a watch cache. `keyOf` makes the storage key. */
export class CacherInformer<T extends KubeObject> implements Informer<T> {
  constructor(
    readonly cacher: Cacher,
    readonly keyOf: (namespace: string, name: string) => string,
    readonly prefixOf: (namespace: string) => string,
  ) {}

  get(namespace: string, name: string): T | undefined {
    return this.cacher.peek(this.keyOf(namespace, name))?.object as T | undefined;
  }

  list(namespace = ''): T[] {
    const list = this.cacher.list({ scope: this.prefixOf(namespace), resourceVersion: '0' });
    if (list instanceof Promise) throw new Error('informer: the cache is not ready yet');
    return list.chunks.flatMap(({ items }) => items.map(({ object }) => object as T));
  }

  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void): Disposable {
    let ended = false;
    let handle: Disposable | undefined;
    let timer: NodeJS.Timeout | undefined;
    const start = (): void => {
      if (ended) return;
      const watch = this.cacher.watch(
        { scope: this.prefixOf(''), resourceVersion: '0' },
        {
          send(event) {
            if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
              listener(event.type, event.object.object as T);
          },
          bufferedBytes: () => 0,
          end(reason) {
            if (reason !== 'closed') timer = setTimeout(startWhenReady, retryMs);
          },
        },
      );
      handle = { [Symbol.dispose]: () => watch.close() };
    };
    // The cache may be making itself anew, as after a failover of its store. It rejects once it is closed.
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
