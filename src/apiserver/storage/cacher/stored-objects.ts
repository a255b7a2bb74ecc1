import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newResourceExpired, newTooLargeResourceVersion } from '#apimachinery/api/errors';
import type { GroupResource } from '#apimachinery/meta/types';
import { needsSteps, turnOfOthers } from '#apimachinery/runtime/steps';
import { CompactedError, FutureRevisionError, InvalidKeyError, UndecodableRecordError } from '../errors.ts';
import type { ListResult, Revision, Storage, StorageRecord } from '../storage.ts';
import { CachedObject, type ObjectReader } from './cached-object.ts';
import { encodeContinue } from './continue-token.ts';
import { ListCounts } from './list-counts.ts';
import { type CacheList, expiredContinue, type ListQuery, singleList } from './list-query.ts';
import { leavesOf } from './object-tree.ts';
import { failureOfRecord, refuseUnreadable } from './unreadable.ts';

/** Maximum page size of a read from the storage. Upstream: apiserver/pkg/storage/etcd3/store.go (maxLimit). */
const pageLimit = 10_000;
const loadPage = 1_000;
const digestPage = 1_000;

const expired = 'The resourceVersion for the provided list is too old.';

export interface StoredObjectsOptions {
  readonly storage: Storage;
  /** For example `/pods/`: all keys under it belong to the resource. */
  readonly prefix: string;
  readonly reader: ObjectReader;
  /** Decodes a record to JSON with its resourceVersion; throws if it is unreadable. */
  readonly decode: ((record: StorageRecord) => Buffer) | undefined;
  /** Throws if the JSON is not an object of the resource. */
  readonly recognise: ((bytes: Buffer) => void) | undefined;
  readonly resource: GroupResource;
}

/** Reads the objects of one resource from the storage: the initial list of a cache, and reads that the cache cannot serve. */
export class StoredObjects {
  readonly counts = new ListCounts();
  readonly #storage: Storage;
  readonly #prefix: string;
  readonly #reader: ObjectReader;
  readonly #decode: ((record: StorageRecord) => Buffer) | undefined;
  readonly #recognise: ((bytes: Buffer) => void) | undefined;
  readonly #resource: GroupResource;

  constructor({ storage, prefix, reader, decode, recognise, resource }: StoredObjectsOptions) {
    this.#storage = storage;
    this.#prefix = prefix;
    this.#reader = reader;
    this.#decode = decode;
    this.#recognise = recognise;
    this.#resource = resource;
  }

  /** Returns the object of a record; if it is unreadable, `failure` is set. */
  of(record: StorageRecord): CachedObject {
    const { key, revision, createRevision } = record;
    try {
      return new CachedObject(key, revision, createRevision, this.#bytesOf(record), this.#reader);
    } catch (error) {
      return new CachedObject(key, revision, createRevision, Buffer.alloc(0), this.#reader, failureOfRecord(record, error as Error));
    }
  }

  /** Returns the validated bytes, which lists and watches send without further checks. */
  #bytesOf(record: StorageRecord): Buffer {
    const bytes = this.#decode ? this.#decode(record) : record.value;
    try {
      this.#recognise?.(bytes);
    } catch (error) {
      throw new UndecodableRecordError(record.key, record.revision, (error as Error).message, { cause: error });
    }
    return bytes;
  }

  /**
   * Loads all objects at one revision, sorted by key and settled. Each page is settled before the next is read, so that its
   * buffers can be collected. Rejects with CompactedError if the revision is compacted meanwhile.
   */
  async load(): Promise<{ readonly objects: readonly CachedObject[]; readonly revision: Revision }> {
    const objects: CachedObject[] = [];
    try {
      let revision: Revision | undefined;
      for (let from: string | undefined = this.#prefix; ; ) {
        const page: ListResult = await this.#storage.list(this.#prefix, { revision, from, limit: loadPage, uncounted: true });
        revision ??= page.revision;
        for (const record of page.records) {
          const object = this.of(record);
          object.settle();
          objects.push(object);
        }
        if (!page.more) break;
        from = `${page.records.at(-1)!.key}\0`;
        await nextTurn();
      }
      this.counts.add(objects.length, objects.length);
      return { objects, revision };
    } catch (error) {
      for (const object of objects) object.retire();
      throw error;
    }
  }

  /** Reads a record at a revision of at least `minimum`. Throws 504 if the store has not reached it. */
  async get(key: string, minimum: Revision): Promise<StorageRecord | undefined> {
    const record = await this.#storage.get(key).catch((error: unknown) => {
      // A request may name any key, including an invalid one.
      if (error instanceof InvalidKeyError) return undefined;
      throw error;
    });
    if (minimum === 0) return record;
    const current = await this.#storage.currentRevision();
    if (minimum > current) throw newTooLargeResourceVersion(minimum, current, 0);
    return record;
  }

  /** Lists at a revision, or at the newest if undefined. Throws 410 for a compacted revision and 504 for a future one. */
  async list(query: ListQuery, at: Revision | undefined): Promise<CacheList> {
    try {
      return await (query.isPrefix ? this.#listPrefix(query, at) : this.#listKey(query, at));
    } catch (error) {
      if (error instanceof CompactedError) throw query.isContinued ? expiredContinue(query) : newResourceExpired(expired);
      if (error instanceof InvalidKeyError) return singleList(undefined, at ?? (await this.#storage.currentRevision()));
      if (error instanceof FutureRevisionError) throw newTooLargeResourceVersion(error.revision, error.currentRevision, 0);
      throw error;
    }
  }

  /** Returns `digestOf` of the keys and revisions at a revision. */
  async digest(revision: Revision): Promise<string> {
    const pages: Versioned[][] = [];
    for (let from: string | undefined = this.#prefix; from !== undefined; ) {
      const { records, more } = await this.#storage.list(this.#prefix, { revision, from, limit: digestPage, uncounted: true });
      pages.push(records.map(({ key, revision: at }) => ({ key, revision: at })));
      from = more ? `${records.at(-1)!.key}\0` : undefined;
      await nextTurn();
    }
    return digestOf(pages);
  }

  async #listKey({ scope, predicate }: ListQuery, at: Revision | undefined): Promise<CacheList> {
    const revision = at ?? (await this.#storage.currentRevision());
    const record = await this.#storage.get(scope, at === undefined ? {} : { revision: at });
    const object = record && this.of(record).readable;
    return this.counts.counted(singleList(object && predicate.matches(object) ? object : undefined, revision), record ? 1 : 0);
  }

  /** Reads pages that grow like upstream's until the limit is reached. */
  async #listPrefix(query: ListQuery, at: Revision | undefined): Promise<CacheList> {
    const { scope, predicate, limit } = query;
    const items: CachedObject[] = [];
    let revision = at;
    let { from } = query;
    let page = limit;
    let last = '';
    let read = 0;
    for (;;) {
      const result = await this.#storage.list(scope, { revision, from, limit: page });
      revision ??= result.revision;
      read += result.records.length;
      if (query.at === 'atLeast' && query.revision > revision) throw newTooLargeResourceVersion(query.revision, revision, 0);
      let { more } = result;
      const objects = result.records.map((record) => this.of(record));
      refuseUnreadable(limit > 0 && predicate.isEmpty ? objects.slice(0, limit - items.length) : objects, this.#resource);
      for (const object of objects) {
        if (limit > 0 && items.length >= limit) {
          more = true;
          break;
        }
        last = object.key;
        if (predicate.matches(object)) items.push(object);
        if (needsSteps(object.size)) await turnOfOthers();
      }
      if (!more || limit === 0 || items.length >= limit) {
        const list: CacheList = {
          chunks: leavesOf(items),
          count: items.length,
          revision,
          continueToken: more ? encodeContinue(`${last}\0`, scope, revision) : '',
          remainingItemCount: more && (predicate.isEmpty || predicate.countsRemaining) ? result.count - limit : undefined,
        };
        return this.counts.counted(list, read);
      }
      from = `${last}\0`;
      page = Math.min(page * 2, pageLimit);
    }
  }
}

interface Versioned {
  readonly key: string;
  readonly revision: Revision;
}

/**
 * Returns a digest that is equal for equal keys and revisions in the same order. Upstream: storageDigest
 * (cacher/delegator.go).
 */
export function digestOf(pages: readonly (readonly Versioned[])[]): string {
  const hash = createHash('sha256');
  for (const page of pages) for (const { key, revision } of page) hash.update(`${key}/${revision}\n`);
  return hash.digest('hex');
}
