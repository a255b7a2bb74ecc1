import type { Buffer } from 'node:buffer';
import {
  groupResourceString,
  newInternalError,
  newResourceExpired,
  newTooLargeResourceVersion,
  newTooManyRequests,
  StatusError,
} from '#apimachinery/api/errors';
import type { GroupResource, KubeObject, Status } from '#apimachinery/meta/types';
import { oneStep, startSteps, type Steps } from '#apimachinery/runtime/steps';
import { UnavailableError } from '../errors.ts';
import { compareKeys } from '../key.ts';
import type { CommitFeed, Revision, Storage, StorageEvent, StorageRecord } from '../storage.ts';
import type { CachedObject } from './cached-object.ts';
import { type Clock, systemClock } from '#apiserver/base/clock';
import { type CacheEvent, EventHistory } from './event-history.ts';
import { type Feed, feedOf } from './feed.ts';
import { FieldIndex } from './field-index.ts';
import { Leaf, type ListChunk, ObjectTree, type Snapshot } from './object-tree.ts';
import { everything, type Predicate } from './predicate.ts';
import { pathsAround } from './large-object.ts';
import { ListCounts } from './list-counts.ts';
import {
  type CacheList,
  type CacheListOptions,
  firstOf,
  type ListQuery,
  parseListQuery,
  parseListVersion,
  selectedList,
  singleList,
  tokenAfter,
} from './list-query.ts';
import { ReadCounts } from './read-counts.ts';
import { parseResourceVersion } from './resource-version.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { ErrorEvent } from './watch-event.ts';
import { digestOf, StoredObjects } from './stored-objects.ts';
import { causeOf, refuseUnreadable } from './unreadable.ts';
import { type ShardCounts, WatchGroups } from './watch-groups.ts';
import { WatchTimer } from './watch-timer.ts';
import { Watcher, type WatchHandle, type WatchSink, type WatchSource } from './watcher.ts';

/** Values of upstream's metric label. */
export type ConsistencyStatus = 'success' | 'failure' | 'error';

export interface CacherOptions {
  readonly storage: Storage & Partial<CommitFeed>;
  /** For example `/pods/`: all keys under it belong to the resource. */
  readonly prefix: string;
  /** Kind that the error of a failed list names. Default: none. Upstream: client-go/tools/cache/reflector.go. */
  readonly listed?: string | undefined;
  readonly parse: (bytes: Buffer) => KubeObject;
  /** Parses a large object in chunks. Default: parses in one call. */
  readonly parseSteps?: ((bytes: Buffer) => Steps<KubeObject>) | undefined;
  readonly fields: (object: KubeObject) => Readonly<Record<string, string>>;
  /** Names of the fields that `fields` returns. Default: only metadata fields. */
  readonly fieldNames?: readonly string[] | undefined;
  /** Fields with an index for lists and watches (`spec.nodeName` of pods). */
  readonly indexed?: readonly string[] | undefined;
  /**
   * Decodes a record to JSON with its resourceVersion (decrypts it, for example). Throws if it is unreadable. Default: the
   * stored bytes.
   */
  readonly decode?: ((record: StorageRecord) => Buffer) | undefined;
  /** Throws if the decoded JSON is not an object of the resource. Default: accepts all. */
  readonly recognise?: ((bytes: Buffer) => void) | undefined;
  /** Name of the resource in messages. Default: the prefix. */
  readonly resource?: GroupResource | undefined;
  /** Minimum retention of events. Default: 75 s. */
  readonly historyMs?: number | undefined;
  /** Interval of bookmarks. Default: 60 s. */
  readonly bookmarkMs?: number | undefined;
  /**
   * Called after each comparison with the storage, every 5 minutes. `failure`: they differ, which is a bug; `error`: the
   * storage could not be read.
   */
  readonly onConsistencyCheck?: ((status: ConsistencyStatus, message: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  /** True if a read answers as upstream's storage does, without a watch cache in front of it: see `ResourceDefinition.readsStorage`. */
  readonly answersAsStorage?: boolean | undefined;
}

/** Counters since the start. */
export interface CacherCounts {
  /** Number of times the cache listed the storage. */
  readonly initializations: number;
  /** Events received from the feed. */
  readonly received: number;
  /** Events dispatched to watchers. */
  readonly dispatched: number;
  /** Lists by the index used, under upstream's name (`f:spec.nodeName`); the empty name counts lists without an index. */
  readonly fromCache: ReadonlyMap<string, Readonly<ListCounts>>;
  readonly fromStorage: Readonly<ListCounts>;
  readonly reads: Readonly<ReadCounts>;
  readonly shards: Readonly<ShardCounts>;
}

export interface CacheWatchOptions {
  readonly scope: string;
  readonly resourceVersion?: string | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly allowBookmarks?: boolean | undefined;
  readonly predicate?: Predicate | undefined;
  /**
   * Time at which the caller will end the watch, by the cacher's clock (milliseconds). A bookmark is sent two seconds
   * earlier.
   */
  readonly deadline?: number | undefined;
}

/** Timeout of reads that wait for a revision. Upstream: watch_cache.go, cacher.go. */
const freshTimeoutMs = 3_000;
const tooLargeRetrySeconds = 1;
const retryMs = 1_000;
const sweepMs = 30_000;
/** Interval at which the revision of the last compaction is read. Upstream: compactorPollPeriod. */
const compactionMs = 15_000;
const consistencyCheckMs = 300_000;

/**
 * The watch cache of one resource: the current objects, the history of the last minutes and the watchers. It also serves
 * consistent reads: immediately if a commit feed supplies it, otherwise after it has reached the storage's revision.
 * Upstream: apiserver/pkg/storage/cacher (Cacher, watchCache, CacheDelegator).
 */
export class Cacher {
  readonly #storage: Storage;
  readonly #answersAsStorage: boolean;
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #stored: StoredObjects;
  readonly #historyMs: number;
  readonly #indexed: readonly string[];
  readonly #unsubscribe: () => void;
  readonly #source: WatchSource;
  readonly #groups: WatchGroups;
  readonly #timer: WatchTimer;
  readonly #snapshots: SnapshotStore;
  readonly #indexes = new Map<string, FieldIndex>();

  #objects = new Map<string, CachedObject>();
  #tree = new ObjectTree();
  #history: EventHistory;
  #listRevision: Revision = 0;
  #bytes = 0;
  #unreadable = 0;
  #initializations = 0;
  #received = 0;
  #dispatched = 0;
  readonly #reads = new ReadCounts();
  readonly #fromCache = new Map<string, ListCounts>();

  #state: 'initializing' | 'ready' | 'closed' = 'initializing';
  #stateSince: number;
  #lastError: Error | undefined;
  readonly #listed: string | undefined;
  #ready = Promise.withResolvers<void>();
  #tried = Promise.withResolvers<void>();
  /** Events received during the initial list. */
  #early: StorageEvent[] = [];
  /** Number of the current list; the result of a list that a reset has superseded is discarded. */
  #generation = 0;
  #cancelRetry: (() => void) | undefined;
  #stopSweeping: (() => void) | undefined;
  readonly #stopChecking: () => void;
  readonly #name: string;
  readonly #resource: GroupResource;

  constructor(options: CacherOptions) {
    this.#storage = options.storage;
    this.#clock = options.clock ?? systemClock;
    this.#prefix = options.prefix;
    this.#listed = options.listed;
    this.#resource = options.resource ?? { group: '', resource: options.prefix };
    this.#name = groupResourceString(this.#resource);
    this.#stored = new StoredObjects({
      storage: options.storage,
      prefix: options.prefix,
      reader: {
        parse: options.parse,
        parseSteps: options.parseSteps ?? ((bytes) => oneStep(() => options.parse(bytes))),
        fields: options.fields,
        fieldPaths: pathsAround(options.fieldNames ?? []),
      },
      decode: options.decode,
      recognise: options.recognise,
      resource: this.#resource,
    });
    this.#answersAsStorage = options.answersAsStorage ?? false;
    this.#historyMs = options.historyMs ?? 75_000;
    this.#indexed = options.indexed ?? [];
    this.#groups = new WatchGroups(this.#indexed);
    const random = options.random ?? Math.random;
    this.#timer = new WatchTimer({
      clock: this.#clock,
      random,
      bookmarkMs: options.bookmarkMs ?? 60_000,
      watchers: this.#groups,
      revision: () => this.currentRevision(),
    });
    this.#snapshots = new SnapshotStore(this.#historyMs);
    this.#history = new EventHistory(0, this.#historyMs);
    this.#stateSince = this.#clock.now();
    this.#ready.promise.catch(() => {});
    this.#source = {
      history: () => this.#history,
      now: () => this.#clock.now(),
      tooOld: (revision) => this.#tooOld(revision).status,
      defer: (callback) => setImmediate(callback),
      remove: (watcher) => this.#groups.remove(watcher),
    };
    this.#stopChecking = this.#clock.every(consistencyCheckMs * (1 + 0.5 * random()), () => this.#check(options.onConsistencyCheck));
    this.#feed = feedOf(options.storage, this.#clock);
    this.#unsubscribe = this.#feed.subscribe({
      prefix: this.#prefix,
      onEvent: (event) => this.#onEvent(event),
      onReset: () => this.#initialize(),
    });
  }

  get ready(): boolean {
    return this.#state === 'ready';
  }

  /** Resolves when the cache becomes ready; rejects if it is closed. */
  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  /**
   * Resolves when the cache is ready, is closed, or failed to list. After a failure, reads go to the storage, which reports
   * the reason.
   */
  whenTried(): Promise<void> {
    return this.#tried.promise;
  }

  /** Revision up to which all events have been applied. */
  currentRevision(): Revision {
    return Math.max(this.#listRevision, this.#feed.revision);
  }

  /** Current capacity of the history in events. */
  get historyCapacity(): number {
    return this.#history.capacity;
  }

  get counts(): CacherCounts {
    return {
      initializations: this.#initializations,
      received: this.#received,
      dispatched: this.#dispatched,
      fromCache: this.#fromCache,
      fromStorage: this.#stored.counts,
      reads: this.#reads,
      shards: this.#groups.shardCounts,
    };
  }

  /** Number of objects and their average size in bytes. Upstream: storage.Stats. */
  stats(): { readonly objectCount: number; readonly estimatedAverageObjectSizeBytes: number } {
    const objectCount = this.#objects.size;
    return { objectCount, estimatedAverageObjectSizeBytes: objectCount === 0 ? 0 : Math.round(this.#bytes / objectCount) };
  }

  /**
   * Returns the object of a key; undefined if it does not exist.
   *
   * | resourceVersion | state                                                                          |
   * |-----------------|--------------------------------------------------------------------------------|
   * | ''              | the most recent                                                                |
   * | '0'             | any: the cached state                                                          |
   * | 'N'             | at least N: waits up to 3 s, then throws 504 (Too large resource version)      |
   */
  get(key: string, resourceVersion = ''): CachedObject | undefined | Promise<CachedObject | undefined> {
    if (resourceVersion === '' && this.#feed.isImmediate && this.#state === 'ready') return this.#objects.get(key)?.readable;
    const revision = this.#answersAsStorage ? parseListVersion(resourceVersion) : parseResourceVersion(resourceVersion);
    if (this.#state !== 'ready') return this.#getFromStorage(key, revision);
    if (resourceVersion === '') return this.#storage.sharesRevision ? this.#getConsistent(key) : this.#getFromStorage(key, 0);
    const wait = this.#fresh(revision);
    if (!wait) return this.#objects.get(key)?.readable;
    return wait.then(() => (this.#state === 'ready' ? this.#objects.get(key)?.readable : this.#getFromStorage(key, revision)));
  }

  /** Returns the record of a key from the storage even if it is unreadable (`failure`). */
  async stored(key: string): Promise<CachedObject | undefined> {
    const record = await this.#stored.get(key, 0);
    return record && this.#stored.of(record);
  }

  /** True if the cache receives each write before the writer's promise resolves, so that its state is always current. */
  get isImmediate(): boolean {
    return this.#feed.isImmediate;
  }

  /**
   * Returns the cached object without a read from the storage; undefined if it is missing or the cache is not ready. Throws if it
   * is unreadable.
   */
  peek(key: string): CachedObject | undefined {
    return this.#state === 'ready' ? this.#objects.get(key)?.readable : undefined;
  }

  /**
   * Lists objects.
   *
   * | match        | resourceVersion | limit | continue | state                                                     |
   * |--------------|-----------------|-------|----------|-----------------------------------------------------------|
   * | Exact        | N               | any   |          | N                                                         |
   * | NotOlderThan | N               | any   |          | at least N                                                |
   * |              | any             | any   | rv = N   | N, the rest after the token's key                         |
   * |              | any             | any   | rv = -1  | the most recent, the rest after the token's key           |
   * |              | N               | yes   |          | N (the behaviour before `match` was added)                |
   * |              | N               |       |          | at least N                                                |
   * |              | ''              | any   |          | the most recent                                           |
   * |              | '0'             | any   |          | any; the limit is ignored                                 |
   *
   * Throws 400 for an invalid token or version, 410 for a compacted state, 429 while the cache is not ready, 504 for a state
   * not reached within 3 s. The caller has checked that the combination of options is permitted.
   */
  list(options: CacheListOptions): CacheList | Promise<CacheList> {
    const query = parseListQuery(options);
    if (this.#state !== 'ready') return this.#listUnready(query);
    if (query.at === 'exact') return this.#listExact(query);
    if (query.at === 'atLeast')
      return this.#afterWait(this.#fresh(query.revision), () =>
        this.#state === 'ready' ? this.#listPresent(query) : this.#listUnready(query),
      );
    if (this.#feed.isImmediate) {
      this.#reads.served += 1;
      this.#reads.waited(0);
      return this.#listPresent(query);
    }
    return this.#listConsistent(query);
  }

  /**
   * Starts a watch. Events are ordered by revision; the initial ones are sent in a later microtask. `resourceVersion`: ''
   * and '0' start with the current objects as ADDED, N with the events after N (a history that is too short sends one ERROR
   * event, 410). `sendInitialEvents` true sends the objects at a revision of at least N, followed by a bookmark if bookmarks
   * are enabled; false omits them. Throws 429 while the cache is not ready.
   */
  watch(options: CacheWatchOptions, sink: WatchSink): WatchHandle {
    const text = options.resourceVersion ?? '';
    const revision = parseResourceVersion(text);
    if (this.#state !== 'ready') throw this.#notReady();
    const { sendInitialEvents } = options;
    if (sendInitialEvents === undefined || (text !== '' && (revision === 0 || !sendInitialEvents)))
      return this.#startWatch(options, revision, sink);
    return this.#watchWhenFresh(options, text === '' ? undefined : revision, sink);
  }

  /**
   * Compares the keys and revisions of the cache with those of the storage at one revision. If they differ, past states are
   * read from the storage until a check succeeds. Upstream: consistencyChecker (delegator.go).
   */
  async checkConsistency(): Promise<{ readonly revision: Revision; readonly cacheDigest: string; readonly storageDigest: string }> {
    if (this.#state !== 'ready') throw new Error('cache is not ready');
    const revision = this.currentRevision();
    const cacheDigest = digestOf(
      this.#tree
        .snapshot()
        .chunks(this.#prefix)
        .map(({ items }) => items),
    );
    const storageDigest = await this.#stored.digest(revision);
    this.markConsistent(cacheDigest === storageDigest);
    return { revision, cacheDigest, storageDigest };
  }

  #check(onCheck: CacherOptions['onConsistencyCheck']): void {
    this.checkConsistency().then(
      ({ revision, cacheDigest, storageDigest }) => {
        if (cacheDigest === storageDigest) onCheck?.('success', '');
        else onCheck?.('failure', `the cache of ${this.#name} differs from the storage at revision ${revision}`);
      },
      (error: unknown) => onCheck?.('error', (error as Error).message),
    );
  }

  /** Sets whether past states may be served from memory. */
  markConsistent(isConsistent: boolean): void {
    this.#snapshots.enable(isConsistent);
  }

  close(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'ready') this.#ready = Promise.withResolvers();
    this.#setState('closed');
    this.#generation++;
    this.#unsubscribe();
    this.#cancelRetry?.();
    this.#timer.stop();
    this.#stopSweeping?.();
    this.#stopChecking();
    for (const watcher of [...this.#groups]) watcher.end('closed');
    this.#retireAll();
    this.#ready.reject(new Error('apiserver cacher is stopped'));
    this.#ready.promise.catch(() => {});
    this.#tried.resolve();
  }

  /** Lists again and ends the watches, whose clients must list again, too. */
  #initialize(): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'ready') {
      this.#ready = Promise.withResolvers();
      this.#ready.promise.catch(() => {});
      this.#tried = Promise.withResolvers();
      this.#setState('initializing');
    }
    for (const watcher of [...this.#groups]) watcher.fail(this.#tooOld(this.#history.completeAfter).status);
    this.#early = [];
    const generation = ++this.#generation;
    this.#stored.load().then(
      ({ objects, revision }) => {
        if (generation === this.#generation) this.#replace(objects, revision);
        else for (const object of objects) object.retire();
      },
      (error: unknown) => {
        if (generation !== this.#generation) return;
        this.#lastError = error instanceof Error ? error : new Error(String(error));
        this.#tried.resolve();
        this.#cancelRetry = this.#clock.after(retryMs, () => this.#initialize());
      },
    );
  }

  #replace(objects: readonly CachedObject[], revision: Revision): void {
    this.#retireAll();
    this.#objects = new Map(objects.map((object) => [object.key, object]));
    this.#tree = ObjectTree.from(objects);
    this.#history = new EventHistory(revision, this.#historyMs);
    this.#snapshots.clear();
    this.#indexes.clear();
    this.#bytes = objects.reduce((sum, object) => sum + object.size, 0);
    this.#unreadable = objects.filter((object) => object.failure).length;
    this.#listRevision = revision;
    this.#lastError = undefined;
    this.#initializations += 1;
    const early = this.#early;
    this.#early = [];
    this.#setState('ready');
    for (const event of early) this.#onEvent(event);
    this.#ready.resolve();
    this.#tried.resolve();
  }

  #retireAll(): void {
    for (const object of this.#objects.values()) object.retire();
    this.#history.clear();
  }

  #onEvent(event: StorageEvent): void {
    this.#received += 1;
    if (this.#state !== 'ready') {
      this.#early.push(event);
      return;
    }
    if (event.revision <= this.#listRevision) return;
    const { key, revision, record } = event;
    const previous = this.#objects.get(key);
    const object = record && this.#stored.of(record);
    if (object?.failure && causeOf(object.failure) instanceof UnavailableError) {
      // Retries until the storage can be read.
      this.#initialize();
      return;
    }
    if (!object && !previous) return;
    if (object) {
      object.settle();
      this.#objects.set(key, object);
      this.#tree.set(object);
    } else {
      this.#objects.delete(key);
      this.#tree.delete(key);
    }
    for (const index of this.#indexes.values()) index.replace(previous, object);
    this.#bytes += (object?.size ?? 0) - (previous?.size ?? 0);
    this.#unreadable += (object?.failure ? 1 : 0) - (previous?.failure ? 1 : 0);
    const change: CacheEvent = { key, revision, object, previous, at: this.#clock.now() };
    this.#history.add(change);
    if (this.#history.isLarge) this.#sweepRegularly();
    this.#dispatched += 1;
    this.#groups.dispatch(change);
  }

  /** Counts a list. `read` is the number of objects it examined. */
  #counted(list: CacheList, read: number, index = ''): CacheList {
    let counts = this.#fromCache.get(index);
    if (!counts) this.#fromCache.set(index, (counts = new ListCounts()));
    return counts.counted(list, read);
  }

  #setState(state: 'initializing' | 'ready' | 'closed'): void {
    this.#state = state;
    this.#stateSince = this.#clock.now();
  }

  /** Returns a 429 with the time after which to retry. Upstream: ready.go, util.go (calculateRetryAfterForUnreadyCache). */
  #notReady(): StatusError {
    const seconds = Math.floor(Math.min(30, Math.max(1, Math.exp((0.06 * (this.#clock.now() - this.#stateSince)) / 1_000))));
    if (this.#state === 'closed') return newTooManyRequests('apiserver cacher is stopped', seconds);
    const list = this.#listed === undefined ? '' : `failed to list ${this.#listed}: `;
    return newTooManyRequests(`storage is (re)initializing${this.#lastError ? `: ${list}${this.#lastError.message}` : ''}`, seconds);
  }

  /** True if the cache has reached the revision. */
  #isFresh(revision: Revision): boolean {
    if (revision > this.currentRevision()) return false;
    if (revision > 0) this.#reads.waited(0);
    return true;
  }

  /** Waits for the revision; undefined if the cache has reached it already. */
  #fresh(revision: Revision): Promise<void> | undefined {
    if (this.#isFresh(revision)) return undefined;
    const seconds = this.#answersAsStorage ? 0 : tooLargeRetrySeconds;
    if (this.#answersAsStorage && this.#feed.isImmediate) throw newTooLargeResourceVersion(revision, this.currentRevision(), seconds);
    return this.#waitFor(revision).then((isReached) => {
      if (!isReached) throw newTooLargeResourceVersion(revision, this.currentRevision(), seconds);
    });
  }

  #afterWait<T>(wait: Promise<void> | undefined, read: () => T | Promise<T>): T | Promise<T> {
    return wait ? wait.then(read) : read();
  }

  /** Reads from the cache once it has reached the storage's revision at the time of the call. */
  async #getConsistent(key: string): Promise<CachedObject | undefined> {
    const revision = await this.#storage.currentRevision();
    if (this.#state === 'ready' && revision <= this.currentRevision()) return this.#objects.get(key)?.readable;
    return this.#getFromStorage(key, 0);
  }

  async #getFromStorage(key: string, minimum: Revision): Promise<CachedObject | undefined> {
    const record = await this.#stored.get(key, minimum);
    if (!record) return undefined;
    const cached = this.#objects.get(key);
    return (cached?.revision === record.revision ? cached : this.#stored.of(record)).readable;
  }

  async #listConsistent(query: ListQuery): Promise<CacheList> {
    const revision = await this.#storage.currentRevision();
    try {
      const isReached = this.#isFresh(revision) || (await this.#waitFor(revision));
      if (isReached && this.#state === 'ready') {
        const list = await this.#listPresent(query);
        this.#reads.served += 1;
        return list;
      }
      const list = await this.#stored.list(query, undefined);
      this.#reads.fellBack += 1;
      return list;
    } catch (error) {
      this.#reads.failed += 1;
      throw error;
    }
  }

  /** Resolves to true if the cache reaches the revision before the timeout. */
  async #waitFor(revision: Revision): Promise<boolean> {
    const began = this.#clock.now();
    try {
      return await this.#feed.waitFor(revision, freshTimeoutMs, this.#clock);
    } finally {
      this.#reads.waited((this.#clock.now() - began) / 1_000);
    }
  }

  /**
   * Serves lists from the storage while the cache is initializing, because the old objects predate the revision of the new list: small
   * ones, and all if an object that cannot be converted ended the cache. Then only the lists that contain it fail, as with upstream's
   * cache, which remains ready and waits in vain for the newest revision.
   */
  #listUnready(query: ListQuery): Promise<CacheList> {
    const isSmall = query.predicate.isEmpty && query.limit > 0;
    // Storage backends throw StorageErrors: a StatusError is that of a conversion.
    const isUnconvertible = this.#initializations > 0 && this.#lastError instanceof StatusError;
    if (!isSmall && !isUnconvertible) throw this.#notReady();
    return this.#stored.list(query, query.at === 'exact' ? query.revision : undefined);
  }

  #listPresent(query: ListQuery): CacheList | Promise<CacheList> {
    const revision = this.currentRevision();
    if (!query.isPrefix) {
      const object = this.#objects.get(query.scope);
      const isSelected = object !== undefined && query.predicate.matches(object.readable);
      return this.#counted(singleList(isSelected ? object : undefined, revision), object ? 1 : 0);
    }
    const snapshot = this.#tree.snapshot();
    // The fields of an unreadable object are unknown, so no index is used.
    const indexed = query.isContinued || this.#unreadable > 0 ? undefined : this.#indexFor(query.predicate);
    const kept = (list: CacheList): CacheList => {
      if (list.continueToken !== '') this.#snapshots.keep(revision, snapshot, this.#clock.now());
      this.#sweepRegularly();
      return list;
    };
    const list = indexed ? this.#listIndexed(indexed, query, revision) : this.#listSnapshot(snapshot, query, revision);
    return list instanceof Promise ? list.then(kept) : kept(list);
  }

  #listExact(query: ListQuery): CacheList | Promise<CacheList> {
    const { revision } = query;
    if (!query.isPrefix) return this.#stored.list(query, revision);
    return this.#afterWait(this.#fresh(revision), () => {
      if (this.#state !== 'ready') return this.#listUnready(query);
      const snapshot = this.#snapshots.at(revision, this.currentRevision(), this.#tree, this.#history, this.#clock.now());
      return snapshot ? this.#listSnapshot(snapshot, query, revision) : this.#stored.list(query, revision);
    });
  }

  #listSnapshot(snapshot: Snapshot, query: ListQuery, revision: Revision): CacheList | Promise<CacheList> {
    const { scope, from, predicate, limit } = query;
    const chunks = snapshot.chunks(scope, from);
    const total = chunks.reduce((sum, chunk) => sum + chunk.items.length, 0);
    if (!predicate.isEmpty) {
      this.#refuseUnreadable(chunks);
      return this.#selected(chunks, total, query, revision, '');
    }
    if (limit === 0 || total <= limit) {
      this.#refuseUnreadable(chunks);
      return this.#counted({ chunks, count: total, revision, continueToken: '', remainingItemCount: undefined }, total);
    }
    const page = firstOf(chunks, limit);
    this.#refuseUnreadable(page);
    const continueToken = tokenAfter(page, scope, revision);
    return this.#counted({ chunks: page, count: limit, revision, continueToken, remainingItemCount: total - limit }, total);
  }

  #refuseUnreadable(chunks: readonly ListChunk[]): void {
    if (this.#unreadable > 0)
      refuseUnreadable(
        chunks.flatMap(({ items }) => items),
        this.#resource,
      );
  }

  #indexFor({ exactField }: Predicate): Iterable<CachedObject> | undefined {
    if (!exactField || !this.#indexed.includes(exactField.field)) return undefined;
    let index = this.#indexes.get(exactField.field);
    if (!index) {
      index = new FieldIndex(exactField.field, this.#objects.values());
      this.#indexes.set(exactField.field, index);
    }
    return index.get(exactField.value);
  }

  #listIndexed(objects: Iterable<CachedObject>, query: ListQuery, revision: Revision): CacheList | Promise<CacheList> {
    const items = [...objects].filter((object) => object.key.startsWith(query.scope)).sort((a, b) => compareKeys(a.key, b.key));
    return this.#selected([new Leaf(undefined, items)], items.length, query, revision, `f:${query.predicate.exactField!.field}`);
  }

  /**
   * Returns the selected objects. Parses objects that have not been selected this way before, yielding to the event loop if
   * there are many.
   */
  #selected(chunks: readonly Leaf[], total: number, query: ListQuery, revision: Revision, index: string): CacheList | Promise<CacheList> {
    const selected = startSteps(selectedList(chunks, total, query, revision));
    const counted = (list: CacheList): CacheList => this.#counted(list, total, index);
    return selected instanceof Promise ? selected.then(counted) : counted(selected);
  }

  #watchWhenFresh(options: CacheWatchOptions, revision: Revision | undefined, sink: WatchSink): WatchHandle {
    if (revision === undefined && this.#feed.isImmediate) return this.#startWatch(options, this.currentRevision(), sink);
    if (revision !== undefined && revision <= this.currentRevision()) return this.#startWatch(options, revision, sink);
    let handle: WatchHandle | undefined;
    let isClosed = false;
    const start = async (): Promise<void> => {
      const required = revision ?? (await this.#storage.currentRevision());
      if (options.sendInitialEvents) await this.#fresh(required);
      if (isClosed) return;
      if (this.#state !== 'ready') throw this.#notReady();
      handle = this.#startWatch(options, required, sink);
    };
    start().catch((error: unknown) => {
      if (isClosed) return;
      isClosed = true;
      failSink(sink, error);
    });
    return {
      drained: () => handle?.drained(),
      close: () => {
        isClosed = true;
        handle?.close();
      },
    };
  }

  #startWatch(options: CacheWatchOptions, revision: Revision, sink: WatchSink): WatchHandle {
    const { scope, predicate = everything, allowBookmarks = false, sendInitialEvents } = options;
    const withInitial = sendInitialEvents === true || (revision === 0 && sendInitialEvents === undefined);
    const current = this.currentRevision();
    const watcher = new Watcher(this.#source, sink, this.#groups.groupFor(scope, predicate), {
      initial: withInitial ? this.#tree.snapshot() : undefined,
      revision: withInitial || revision === 0 ? current : revision,
      endBookmark: sendInitialEvents === true && allowBookmarks,
      bookmarkAt: allowBookmarks ? this.#timer.nextBookmark(options.deadline) : Infinity,
    });
    this.#groups.add(watcher);
    this.#timer.added(watcher, options.deadline);
    queueMicrotask(() => watcher.pump());
    return watcher;
  }

  #tooOld(revision: Revision): StatusError {
    return newResourceExpired(`too old resource version: ${revision} (${this.#history.completeAfter})`);
  }

  #sweepRegularly(): void {
    if (this.#stopSweeping) return;
    const stops = [this.#clock.every(sweepMs, () => this.#sweep()), this.#clock.every(compactionMs, () => void this.#dropCompacted())];
    this.#stopSweeping = () => {
      for (const stop of stops) stop();
    };
  }

  #sweep(): void {
    this.#tree.sweep();
    this.#snapshots.prune(this.#clock.now());
    this.#history.trim(this.#clock.now());
  }

  async #dropCompacted(): Promise<void> {
    if (this.#snapshots.isEmpty) return;
    // After a failure, the next call tries again.
    const revision = await this.#storage.compactRevision().catch(() => 0);
    this.#snapshots.compact(revision);
  }
}

function failSink(sink: WatchSink, error: unknown): void {
  const status = (error as Partial<StatusError>).status ?? newInternalError(error as Error).status;
  sink.send(new ErrorEvent(status as Status));
  sink.end('error');
}
