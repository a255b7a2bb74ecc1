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

/** Upstream: apiserver/pkg/storage/etcd3/store.go (maxLimit). */
const pageLimit = 10_000;
const loadPage = 1_000;
const digestPage = 1_000;

const expired = 'The resourceVersion for the provided list is too old.';

export interface StoredObjectsOptions {
  readonly storage: Storage;
  /** `/pods/`: all keys under it are the resource's. */
  readonly prefix: string;
  readonly reader: ObjectReader;
  /** JSON with the resourceVersion of what is stored; throws for what cannot be read. */
  readonly decode: ((record: StorageRecord) => Buffer) | undefined;
  /** Throws for JSON that is none of an object of the resource. */
  readonly recognise: ((bytes: Buffer) => void) | undefined;
  readonly resource: GroupResource;
}

/** The objects of one resource as the storage has them: what a cache begins with, and what it does not have. */
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

  /** What is stored, or why it cannot be read (`failure`). */
  of(record: StorageRecord): CachedObject {
    const { key, revision, createRevision } = record;
    try {
      return new CachedObject(key, revision, createRevision, this.#bytesOf(record), this.#reader);
    } catch (error) {
      return new CachedObject(key, revision, createRevision, Buffer.alloc(0), this.#reader, failureOfRecord(record, error as Error));
    }
  }

  /** Lists and watches hand these bytes on without a further look at them. */
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
   * All objects at one revision, in the order of their keys, settled: page by page, so that what was read does not wait for the
   * rest beside where it is held. Rejects with CompactedError where compaction was faster.
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

  /** Throws 504 for a minimum that has not come. */
  async get(key: string, minimum: Revision): Promise<StorageRecord | undefined> {
    const record = await this.#storage.get(key).catch((error: unknown) => {
      // A request may ask for any name, also for one that nothing can have.
      if (error instanceof InvalidKeyError) return undefined;
      throw error;
    });
    if (minimum === 0) return record;
    const current = await this.#storage.currentRevision();
    if (minimum > current) throw newTooLargeResourceVersion(minimum, current, 0);
    return record;
  }

  /** At a revision, or at present. Throws 410 and 504 for revisions that are gone or have not come. */
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

  /** Of keys and revisions at a revision, as `digestOf` makes it. */
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

  /** Pages grow as upstream's, until as many are found as were asked for. */
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
          remainingItemCount: more && predicate.isEmpty ? result.count - limit : undefined,
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

/** Equal for equal keys and revisions in the same order. Upstream: storageDigest (cacher/delegator.go). */
export function digestOf(pages: readonly (readonly Versioned[])[]): string {
  const hash = createHash('sha256');
  for (const page of pages) for (const { key, revision } of page) hash.update(`${key}/${revision}\n`);
  return hash.digest('hex');
}
