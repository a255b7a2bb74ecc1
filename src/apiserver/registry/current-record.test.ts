import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { ConflictError } from '#apiserver/storage/errors';
import { CurrentRecords, type RecordCache } from './current-record.ts';

const key = '/r/a';
const at = (revision: number) => ({ key, revision, createRevision: 1, value: Buffer.from(String(revision)) });
const cached = (revision: number) => ({ revision, bytes: Buffer.from(String(revision)) }) as CachedObject;

/** A cache that lags behind its store. */
class Behind implements RecordCache {
  reads = 0;
  isImmediate = false;
  seen = 0;
  constructor(
    public known: number | undefined,
    public stored: number | undefined,
  ) {}
  peek = () => (this.known === undefined ? undefined : cached(this.known));
  currentRevision = () => Math.max(this.seen, this.known ?? 0);
  get = async () => {
    this.reads += 1;
    return this.stored === undefined ? undefined : cached(this.stored);
  };
}

describe('CurrentRecords', () => {
  it('start with the cached record and read the store only if the write compared nothing', async () => {
    const cache = new Behind(5, 5);
    const current = await new CurrentRecords(cache).of(key, true);
    expect([current.record?.revision, current.isCurrent, cache.reads]).toEqual([5, false, 0]);
    expect([await current.isOutdated(), current.isCurrent, cache.reads]).toEqual([false, true, 1]);
    expect([await current.isOutdated(), cache.reads]).toEqual([false, 1]);
  });

  it.each([
    { name: 'another record', stored: 7 },
    { name: 'none', stored: undefined },
  ])('find $name in the store', async ({ stored }) => {
    const current = await new CurrentRecords(new Behind(5, stored)).of(key, true);
    expect([await current.isOutdated(), current.record?.revision]).toEqual([true, stored]);
  });

  it('do not read the store after a write that compares', async () => {
    const cache = new Behind(5, 7);
    const current = await new CurrentRecords(cache).of(key, true);
    current.compared();
    expect([await current.isOutdated(), cache.reads]).toEqual([false, 0]);
    current.lost(new ConflictError(key, at(7)));
    expect([current.record, await current.isOutdated()]).toEqual([{ revision: 7, bytes: Buffer.from('7') }, false]);
    current.lost(new ConflictError(key, undefined));
    expect(current.record).toBe(undefined);
  });

  it('read the store if a stale record is not allowed or the cache has none', async () => {
    for (const [cache, mayBeOld] of [
      [new Behind(5, 7), false],
      [new Behind(undefined, 7), true],
    ] as const) {
      const current = await new CurrentRecords(cache).of(key, mayBeOld);
      expect([current.record?.revision, current.isCurrent, cache.reads]).toEqual([7, true, 1]);
    }
  });

  it('prefer a record written here until the cache has received it', async () => {
    const cache = new Behind(5, 6);
    const records = new CurrentRecords(cache);
    records.written(at(6));
    const known = async () => (await records.of(key, true)).record?.revision;
    expect([await known(), cache.reads]).toEqual([6, 0]);
    // The watch delivers a write of another server.
    cache.known = 8;
    expect(await known()).toBe(8);
    // Then the object is deleted.
    [cache.known, cache.stored, cache.seen] = [undefined, undefined, 9];
    expect([await known(), cache.reads]).toEqual([undefined, 1]);
  });

  it('know a new object, unless the cache has already received it', async () => {
    const cache = new Behind(undefined, undefined);
    const records = new CurrentRecords(cache);
    records.written(at(6));
    expect((await records.of(key, true)).record?.revision).toBe(6);
    cache.seen = 6;
    expect((await records.of(key, true)).record).toBe(undefined);
    records.written(at(6));
    cache.seen = 0;
    expect((await records.of(key, true)).record).toBe(undefined);
  });

  it('need no read of the store if the cache receives writes first', async () => {
    const cache = new Behind(5, 7);
    cache.isImmediate = true;
    const current = await new CurrentRecords(cache).of(key, true);
    expect([current.isCurrent, await current.isOutdated(), cache.reads]).toEqual([true, false, 0]);
  });
});
