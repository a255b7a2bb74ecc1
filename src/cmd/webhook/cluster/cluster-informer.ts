import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { WebhookError } from '#apiserver/network/webhook/json-client';
import { keyOf } from '#apiserver/controllers/shared-informer';
import { type Informer, notReadYet, type SubscriptionProgress } from '#apiserver/registry/informers';
import type { RequestClient } from '#apiserver/registry/client';
import type { ClusterApi } from './cluster-api.ts';

/** Objects in one chunk of a list. Upstream: client-go/tools/pager. */
const listChunk = 500;
/** Duration of one watch, which the server ends; it varies so that the watches of many processes do not end together. */
const watchSeconds = { least: 300, spread: 300 };
/** Time after which a watch counts as dead if the server did not end it. */
const lateMs = 30_000;
/** Delays after failures. Upstream: client-go/tools/cache/reflector.go. */
const backoff = { firstMs: 800, mostMs: 30_000, jitter: 1 };
/** Time after which the informer looks again for a resource that the cluster does not serve. */
const absentMs = 5_000;

/** The objects that an informer follows. */
export interface FollowedObjects {
  /**
   * Path of the collection. Undefined: the cluster does not serve the resource, which therefore has no objects; it may serve it later.
   * Rejects for a resource that the cluster must serve.
   */
  path(): Promise<string | undefined>;
  /** Selects the objects by fields, such as `metadata.name=NAME`. */
  readonly fieldSelector?: string | undefined;
  /** Converts an object of the API to the form in which the server's own informers have it. */
  convert?(object: KubeObject): KubeObject;
}

/** The requests of informers. */
export interface InformerApi extends Pick<ClusterApi, 'watch'> {
  readonly client: Pick<RequestClient, 'read'>;
}

/** Called with the cause of each failure; the informer tries again. */
export type OnInformerFailure = (error: Error) => void;

/**
 * The objects of one resource of a cluster, kept up to date by a list and a watch. The watch resumes at the last revision, which bookmarks
 * advance; after `410 Gone` the list is read again, and its differences are reported as changes. Upstream:
 * client-go/tools/cache/reflector.go.
 */
export class ClusterInformer<T extends KubeObject = KubeObject> implements Informer<T>, Disposable {
  readonly #objects = new Map<string, T>();
  readonly #listeners = new Map<(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void, SubscriptionProgress>();
  readonly #ending = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #revision = '';
  /** Cause of the last failure; undefined after a success. */
  #failure: Error | undefined;

  constructor(
    private readonly api: InformerApi,
    private readonly followed: FollowedObjects,
    private readonly onFailure: OnInformerFailure,
  ) {
    void this.#run();
  }

  /** Resolves when the objects that existed at the start are known. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  get(namespace: string, name: string): T | undefined {
    this.#assertSynced();
    return this.#objects.get(namespace ? `${namespace}/${name}` : name);
  }

  list(namespace = ''): T[] {
    this.#assertSynced();
    const all = [...this.#objects.values()];
    return namespace ? all.filter(({ metadata }) => metadata.namespace === namespace) : all;
  }

  subscribe(listener: (type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T) => void, progress: SubscriptionProgress = {}): Disposable {
    this.#listeners.set(listener, progress);
    for (const object of this.#objects.values()) listener('ADDED', object);
    if (this.#isSynced) progress.synced?.();
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    this.#listeners.clear();
  }

  #assertSynced(): void {
    if (!this.#isSynced) throw notReadYet('the objects of the cluster');
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    let delay = backoff.firstMs;
    while (!signal.aborted) {
      try {
        const path = await this.followed.path();
        if (path === undefined) this.#replaceAll(new Map(), '');
        else if (this.#revision === '') await this.#readList(path);
        this.#failure = undefined;
        if (path === undefined) await pause(absentMs, signal);
        else await this.#watch(path, signal);
        delay = backoff.firstMs;
      } catch (error) {
        if (signal.aborted) return;
        if (isGone(error)) {
          this.#revision = '';
          continue;
        }
        this.#failure = error as Error;
        this.onFailure(error as Error);
        await pause(delay * (1 + Math.random() * backoff.jitter), signal);
        delay = Math.min(delay * 2, backoff.mostMs);
      }
    }
  }

  async #readList(path: string): Promise<void> {
    const read = new Map<string, T>();
    let next: string | undefined;
    let revision = '';
    do {
      const page = await this.api.client.read<ListPage>(`${path}?${this.#query({ limit: `${listChunk}`, continue: next })}`);
      for (const item of page.items ?? []) {
        const object = this.#converted({ ...item, apiVersion: page.apiVersion, kind: page.kind.replace(/List$/, '') });
        read.set(keyOf(object), object);
      }
      revision = page.metadata.resourceVersion ?? '';
      next = page.metadata.continue;
    } while (next);
    this.#replaceAll(read, revision);
  }

  /** Reports the differences to the objects of a list. Afterwards the informer is synced. */
  #replaceAll(read: ReadonlyMap<string, T>, revision: string): void {
    for (const [key, object] of [...this.#objects]) if (!read.has(key)) this.#remove(key, object);
    for (const [key, object] of read) this.#store(key, object);
    this.#revision = revision;
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#synced.resolve();
    for (const { synced } of this.#listeners.values()) synced?.();
  }

  async #watch(path: string, signal: AbortSignal): Promise<void> {
    const seconds = watchSeconds.least + Math.floor(Math.random() * watchSeconds.spread);
    const query = this.#query({
      watch: 'true',
      resourceVersion: this.#revision,
      allowWatchBookmarks: 'true',
      timeoutSeconds: `${seconds}`,
    });
    for await (const { type, object } of this.api.watch(`${path}?${query}`, signal, { timeoutMs: seconds * 1_000 + lateMs })) {
      if (type === 'ERROR' || !isJsonObject(object)) throw new WatchError(object);
      const found = object as unknown as KubeObject;
      if (type !== 'BOOKMARK') this.#changed(type as string, this.#converted(found));
      this.#revision = found.metadata.resourceVersion ?? this.#revision;
    }
  }

  #changed(type: string, object: T): void {
    const key = keyOf(object);
    if (type === 'DELETED') this.#remove(key, object);
    else this.#store(key, object);
  }

  #store(key: string, object: T): void {
    const old = this.#objects.get(key);
    if (old?.metadata.resourceVersion === object.metadata.resourceVersion && old?.metadata.uid === object.metadata.uid) return;
    if (old && old.metadata.uid !== object.metadata.uid) this.#remove(key, old);
    const isKnown = this.#objects.has(key);
    this.#objects.set(key, object);
    this.#report(isKnown ? 'MODIFIED' : 'ADDED', object);
  }

  #remove(key: string, last: T): void {
    if (this.#objects.delete(key)) this.#report('DELETED', last);
  }

  #report(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    for (const listener of this.#listeners.keys()) {
      try {
        listener(type, object);
      } catch (error) {
        this.onFailure(error as Error);
      }
    }
  }

  #converted(object: KubeObject): T {
    return (this.followed.convert?.(object) ?? object) as T;
  }

  #query(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams {
    const { fieldSelector } = this.followed;
    const given = Object.entries({ ...parameters, fieldSelector });
    return new URLSearchParams(given.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

/** Waits, at most until the informer ends. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
}

interface ListPage {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly items?: readonly KubeObject[] | null;
}

/** An ERROR event of a watch. */
class WatchError extends Error {
  readonly code: number;

  constructor(status: unknown) {
    const { message = 'the watch failed', code = 0 } = isJsonObject(status) ? (status as { message?: string; code?: number }) : {};
    super(message);
    this.code = code;
  }
}

/** True if the revision from which a watch should resume is no longer available. */
function isGone(error: unknown): boolean {
  return (error instanceof WatchError && error.code === 410) || (error instanceof WebhookError && error.status === 410);
}
