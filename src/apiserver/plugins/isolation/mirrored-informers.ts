import { groupResourceString } from '#apimachinery/api/errors';
import type { GroupResource, KubeObject } from '#apimachinery/meta/types';
import { deepFreeze } from '#apimachinery/runtime/deep-freeze';
import { parseEncodedText } from '#apimachinery/runtime/json/json';
import { type Informer, type Informers, notReadYet, type SubscriptionProgress } from '#apiserver/registry/informers';
import type { FollowedEvent } from './messages.ts';

/**
 * The informers of a worker thread. Each holds a copy of a resource's objects, which the server keeps current by messages. A call of a
 * plugin is a later message than the events before it, so that a plugin sees what the server saw. Listeners must not throw (see
 * PackageInformers).
 */
export class MirroredInformers implements Informers {
  readonly #mirrors = new Map<string, Mirror>();

  /** `follow` requests the events of a resource from the server. */
  constructor(private readonly follow: (resource: GroupResource) => void) {}

  for<T extends KubeObject>({ group, resource }: GroupResource): Informer<T> {
    const key = groupResourceString({ group, resource });
    let mirror = this.#mirrors.get(key);
    if (!mirror) {
      this.#mirrors.set(key, (mirror = new Mirror(key)));
      this.follow({ group, resource });
    }
    return mirror as Informer as Informer<T>;
  }

  /** Resolves when all informers have the current objects. Undefined if they have. */
  whenSynced(): Promise<unknown> | undefined {
    const missing = [...this.#mirrors.values()].filter(({ isSynced }) => !isSynced);
    return missing.length === 0 ? undefined : Promise.all(missing.map(({ synced }) => synced));
  }

  receive(resource: GroupResource, event: FollowedEvent): void {
    this.#mirrors.get(groupResourceString(resource))?.receive(event);
  }
}

type Listener = Parameters<Informer['subscribe']>[0];

/** An object, kept as text: the parsed form takes several times as much memory, and most objects are never read. */
class MirroredObject {
  #parsed: WeakRef<KubeObject> | undefined;

  constructor(private readonly text: string) {}

  get object(): KubeObject {
    const known = this.#parsed?.deref();
    if (known) return known;
    const object = deepFreeze(parseEncodedText(this.text, true) as KubeObject);
    this.#parsed = new WeakRef(object);
    return object;
  }
}

/** Objects by namespace and name. */
type Objects = Map<string, Map<string, MirroredObject>>;

class Mirror implements Informer {
  #objects: Objects = new Map();
  /** The objects since the last interruption of the server's cache, until it has sent all of them. */
  #next: Objects | undefined;
  readonly #listeners = new Set<{ readonly listener: Listener; readonly progress: SubscriptionProgress }>();
  readonly #synced = Promise.withResolvers<void>();
  isSynced = false;

  /** `resource` is the name for messages. */
  constructor(private readonly resource: string) {}

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get(namespace: string, name: string): KubeObject | undefined {
    this.#assertSynced();
    return this.#objects.get(namespace)?.get(name)?.object;
  }

  list(namespace = ''): KubeObject[] {
    this.#assertSynced();
    return this.#received(namespace);
  }

  #assertSynced(): void {
    if (!this.isSynced) throw notReadYet(this.resource);
  }

  #received(namespace: string): KubeObject[] {
    const places = namespace === '' ? [...this.#objects.values()] : [this.#objects.get(namespace) ?? new Map<string, MirroredObject>()];
    return places.flatMap((objects) => Array.from(objects.values(), ({ object }) => object));
  }

  subscribe(listener: Listener, progress: SubscriptionProgress = {}): Disposable {
    const subscription = { listener, progress };
    let isEnded = false;
    // As in the server, the listener is called after `subscribe` has returned.
    queueMicrotask(() => {
      if (isEnded) return;
      this.#listeners.add(subscription);
      for (const object of this.#received('')) listener('ADDED', object);
      if (this.isSynced) progress.synced?.();
    });
    return {
      [Symbol.dispose]: () => {
        isEnded = true;
        this.#listeners.delete(subscription);
      },
    };
  }

  receive(event: FollowedEvent): void {
    if ('text' in event) this.#change(event.type, event.namespace, event.name, new MirroredObject(event.text));
    else if (event.type === 'restarted') {
      this.#next = new Map();
      for (const { progress } of this.#listeners) progress.restarted?.();
    } else {
      if (this.#next) this.#objects = this.#next;
      this.#next = undefined;
      this.isSynced = true;
      this.#synced.resolve();
      for (const { progress } of this.#listeners) progress.synced?.();
    }
  }

  #change(type: 'ADDED' | 'MODIFIED' | 'DELETED', namespace: string, name: string, changed: MirroredObject): void {
    for (const objects of [this.#objects, this.#next]) {
      if (!objects) continue;
      const place = objects.get(namespace) ?? new Map<string, MirroredObject>();
      if (type === 'DELETED') place.delete(name);
      else place.set(name, changed);
      if (place.size > 0) objects.set(namespace, place);
      else objects.delete(namespace);
    }
    for (const { listener } of this.#listeners) listener(type, changed.object);
  }
}
