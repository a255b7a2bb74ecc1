/** The conformance tests of storage backends. They run in vitest, which the package must install. */
import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ClosedError,
  CompactedError,
  ConflictError,
  FutureRevisionError,
  InvalidKeyError,
  KeyExistsError,
} from '#apiserver/storage/errors';
import { compareKeys } from '#apiserver/storage/key';
import type { CommitFeed, Encode, Revision, Storage, StorageEvent, StorageRecord } from '#apiserver/storage/storage';

export interface ConformanceStore {
  /** The store under test, without records. */
  readonly storage: Storage & Partial<CommitFeed>;
  /** Closes the storage and opens it again with its persisted data; undefined for a storage that persists nothing. */
  readonly reopen?: (() => Promise<Storage & Partial<CommitFeed>>) | undefined;
  readonly cleanup: () => Promise<void>;
}

/**
 * Builds a store with `reopen`. `open` opens the persisted data; `end` releases the resources behind it (a directory, a
 * process).
 */
export async function reopenableStore(
  open: () => Promise<Storage & Partial<CommitFeed>>,
  end: () => PromiseLike<void> = async () => {},
): Promise<ConformanceStore> {
  const opened = [await open()];
  return {
    storage: opened[0]!,
    async reopen() {
      await opened.at(-1)!.close();
      opened.push(await open());
      return opened.at(-1)!;
    },
    async cleanup() {
      for (const storage of opened) await storage.close();
      await end();
    },
  };
}

/**
 * Registers the cases that every backend must pass: the cases of upstream's apiserver/pkg/storage/testing (store_tests.go,
 * watcher_tests.go) that concern the storage, not the cache. Call it at the top level of a test file.
 */
export function storageConformance(name: string, open: () => Promise<ConformanceStore>): void {
  describe(`${name}: storage contract`, () => {
    let store: ConformanceStore;
    let storage: Storage & Partial<CommitFeed>;
    const ends: AbortController[] = [];

    beforeEach(async () => {
      store = await open();
      storage = store.storage;
    });
    afterEach(async () => {
      for (const end of ends.splice(0)) end.abort();
      await store.cleanup();
    });

    /** Starts a watch that `afterEach` ends. */
    function watch(prefix: string, from: Revision): AsyncIterator<StorageEvent> {
      const end = new AbortController();
      ends.push(end);
      return storage.watch(prefix, from, end.signal)[Symbol.asyncIterator]();
    }

    describe('create', () => {
      it('returns the record and passes its revision to the encoder', async () => {
        const before = await storage.currentRevision();
        const record = await storage.create('/pods/default/a', (revision) => Buffer.from(`v${revision}`));
        expect(plain(record)).toEqual({
          key: '/pods/default/a',
          revision: record.revision,
          createRevision: record.revision,
          value: `v${record.revision}`,
        });
        expect(record.revision).toBeGreaterThan(before);
        expect(await storage.currentRevision()).toBe(record.revision);
        expect(plain(await storage.get('/pods/default/a'))).toEqual(plain(record));
      });

      it('rejects with KeyExistsError', async () => {
        const first = await storage.create('/pods/a', text('1'));
        await expect(storage.create('/pods/a', text('2'))).rejects.toThrow(KeyExistsError);
        expect(plain(await storage.get('/pods/a'))).toEqual(plain(first));
      });

      it('lets exactly one of many concurrent creators of a key succeed', async () => {
        const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => storage.create('/pods/a', text(String(i)))));
        const won = results.filter((result) => result.status === 'fulfilled');
        expect(won).toHaveLength(1);
        for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(KeyExistsError);
        expect(plain(await storage.get('/pods/a'))).toEqual(plain(won[0]!.value));
      });

      it('gives a recreated key a new createRevision', async () => {
        const first = await storage.create('/pods/a', text('1'));
        await storage.delete('/pods/a', first.revision);
        const second = await storage.create('/pods/a', text('2'));
        expect(second.createRevision).toBe(second.revision);
        expect(second.revision).toBeGreaterThan(first.revision);
      });

      it('stores nothing if the encoder throws, and accepts later writes', async () => {
        await expect(
          storage.create('/pods/a', () => {
            throw new Error('cannot encode');
          }),
        ).rejects.toThrow('cannot encode');
        expect(await storage.get('/pods/a')).toBeUndefined();
        await storage.create('/pods/a', text('1'));
        expect((await storage.list('/pods/')).count).toBe(1);
      });

      it.each([
        ['an empty value', Buffer.alloc(0)],
        ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
        ['1.5 MB', Buffer.alloc(1_500_000, 7)],
      ])('stores %s unchanged', async (_, value) => {
        await storage.create('/pods/a', () => value);
        expect((await storage.get('/pods/a'))?.value.equals(value)).toBe(true);
      });
    });

    describe('revisions', () => {
      it('are above 0 in an empty store', async () => {
        const current = await storage.currentRevision();
        expect(current).toBeGreaterThan(0);
        expect(await storage.list('/pods/')).toEqual({ records: [], revision: current, more: false, count: 0 });
        expect(await storage.compactRevision()).toBeLessThanOrEqual(current);
      });

      it('increase with each write of any key, deletions included, and are never repeated', async () => {
        const revisions: Revision[] = [];
        await Promise.all(
          Array.from({ length: 16 }, async (_, writer) => {
            for (let i = 0; i < 10; i++) {
              const key = `/r${writer % 3}/${writer}`;
              const created = await storage.create(key, text('1'));
              const updated = await storage.update(key, created.revision, text('2'));
              const deleted = await storage.delete(key, updated.revision);
              expect(created.revision).toBeLessThan(updated.revision);
              expect(updated.revision).toBeLessThan(deleted.revision);
              revisions.push(created.revision, updated.revision, deleted.revision);
            }
          }),
        );
        expect(new Set(revisions).size).toBe(480);
        expect(await storage.currentRevision()).toBe(Math.max(...revisions));
      });
    });

    describe('raiseRevision', () => {
      it('puts later writes above the revision and leaves existing records unchanged', async ({ skip }) => {
        if (!storage.raiseRevision) return skip('this storage does not implement raiseRevision');
        const before = await storage.create('/pods/ns/a', text('a'));
        const revision = before.revision + 100;
        await storage.raiseRevision(revision);
        expect(await storage.currentRevision()).toBeGreaterThanOrEqual(revision);
        expect((await storage.get('/pods/ns/a'))?.revision).toBe(before.revision);
        const after = await storage.update('/pods/ns/a', before.revision, text('b'));
        expect(after.revision).toBeGreaterThan(revision);
        await storage.raiseRevision(before.revision);
        expect(await storage.currentRevision()).toBe(after.revision);
        expect((await storage.list('/pods/')).records.map(({ revision: at }) => at)).toEqual([after.revision]);
      });
    });

    describe('get', () => {
      it('reads the state at any past revision', async () => {
        const before = await storage.currentRevision();
        const created = await storage.create('/pods/a', text('1'));
        const other = await storage.create('/pods/b', text('b'));
        const updated = await storage.update('/pods/a', created.revision, text('2'));
        const deleted = await storage.delete('/pods/a', updated.revision);
        const again = await storage.create('/pods/a', text('3'));
        const states = await Promise.all(
          [before, created.revision, other.revision, updated.revision, deleted.revision, again.revision].map(async (revision) =>
            (await storage.get('/pods/a', { revision }))?.value.toString(),
          ),
        );
        expect(states).toEqual([undefined, '1', '1', '2', undefined, '3']);
        expect((await storage.get('/pods/a', { revision: updated.revision }))?.createRevision).toBe(created.revision);
      });

      it('rejects a future revision', async () => {
        const current = await storage.currentRevision();
        await expect(storage.get('/pods/a', { revision: current + 1 })).rejects.toThrow(FutureRevisionError);
        await expect(storage.list('/pods/', { revision: current + 1 })).rejects.toThrow(FutureRevisionError);
      });
    });

    describe('update', () => {
      it('keeps createRevision', async () => {
        const created = await storage.create('/pods/a', text('1'));
        const updated = await storage.update('/pods/a', created.revision, text('2'));
        expect(plain(updated)).toEqual({ key: '/pods/a', revision: updated.revision, createRevision: created.revision, value: '2' });
      });

      it.each(['update', 'delete'] as const)('%s rejects with the current record if its revision is not the expected one', async (verb) => {
        const created = await storage.create('/pods/a', text('1'));
        const updated = await storage.update('/pods/a', created.revision, text('2'));
        const stale =
          verb === 'update' ? storage.update('/pods/a', created.revision, text('3')) : storage.delete('/pods/a', created.revision);
        const error = await stale.catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ConflictError);
        expect(plain((error as ConflictError).current)).toEqual(plain(updated));
      });

      it.each(['update', 'delete'] as const)('%s rejects without a record if the key does not exist', async (verb) => {
        const { revision } = await storage.create('/pods/a', text('1'));
        await storage.delete('/pods/a', revision);
        for (const key of ['/pods/a', '/pods/b']) {
          const error = await (verb === 'update' ? storage.update(key, revision, text('2')) : storage.delete(key, revision)).catch(
            (reason: unknown) => reason,
          );
          expect(error).toBeInstanceOf(ConflictError);
          expect((error as ConflictError).current).toBeUndefined();
        }
      });

      it('lets exactly one of many concurrent writers succeed; the others receive the new record', async () => {
        const { revision } = await storage.create('/pods/a', text('0'));
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => storage.update('/pods/a', revision, text(String(i)))),
        );
        const won = results.filter((result) => result.status === 'fulfilled');
        expect(won).toHaveLength(1);
        for (const result of results) {
          if (result.status === 'rejected') expect(plain((result.reason as ConflictError).current)).toEqual(plain(won[0]!.value));
        }
      });

      it('loses no increment under contention', async () => {
        await storage.create('/counter', text('0'));
        await Promise.all(
          Array.from({ length: 8 }, async () => {
            for (let i = 0; i < 10; i++) {
              let present = (await storage.get('/counter'))!;
              for (;;) {
                const next = text(String(Number(present.value.toString()) + 1));
                const lost = await storage.update('/counter', present.revision, next).then(
                  () => undefined,
                  (error: unknown) => error as ConflictError,
                );
                if (!lost) break;
                present = lost.current!;
              }
            }
          }),
        );
        expect((await storage.get('/counter'))?.value.toString()).toBe('80');
      });
    });

    describe('delete', () => {
      it('returns the last record and the revision of the deletion', async () => {
        const created = await storage.create('/pods/a', text('1'));
        const deleted = await storage.delete('/pods/a', created.revision);
        expect(plain(deleted.record)).toEqual(plain(created));
        expect(deleted.revision).toBeGreaterThan(created.revision);
        expect(await storage.get('/pods/a')).toBeUndefined();
        expect((await storage.list('/pods/')).count).toBe(0);
      });

      it('succeeds once', async () => {
        const { revision } = await storage.create('/pods/a', text('1'));
        const results = await Promise.allSettled([1, 2, 3].map(() => storage.delete('/pods/a', revision)));
        expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      });
    });

    describe('list', () => {
      it('returns records in the order of their UTF-8 bytes', async () => {
        // U+FF5A is above the emoji's surrogates in UTF-16, and below the emoji in UTF-8.
        const keys = [
          '/pods/a',
          '/pods/a-b',
          '/pods/a.b',
          '/pods/a/b',
          '/pods/B',
          '/pods/é',
          '/pods/ｚ',
          '/pods/😀',
          '/pods/a😀',
          '/pods/aｚ',
        ];
        for (const key of keys) await storage.create(key, text(key));
        const listed = (await storage.list('/pods/')).records.map((record) => record.key);
        expect(listed).toEqual([...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
        expect(listed).toEqual([...keys].sort(compareKeys));
      });

      it('does not return keys that share only the beginning of the last segment', async () => {
        for (const key of ['/pods/first/a', '/pods/first-bar/a', '/pods/first', '/pods.apps/first/a', '/podsfirst/a'])
          await storage.create(key, text(key));
        const keysOf = async (prefix: string): Promise<string[]> => (await storage.list(prefix)).records.map((record) => record.key);
        expect(await keysOf('/pods/first/')).toEqual(['/pods/first/a']);
        expect(await keysOf('/pods/')).toEqual(['/pods/first', '/pods/first-bar/a', '/pods/first/a']);
        expect(await keysOf('/')).toHaveLength(5);
      });

      it('returns pages of one state during concurrent writes', async () => {
        for (let i = 0; i < 10; i++) await storage.create(`/pods/${i}`, text('1'));
        const first = await storage.list('/pods/', { limit: 3 });
        expect(first).toMatchObject({ more: true, count: 10 });
        const { revision } = first;
        const seen = first.records.map((record) => record.key);
        const sizes: number[] = [];
        for (let page = first; page.more; ) {
          await storage.create(`/pods/${seen.length}x`, text('new'));
          const gone = (await storage.get('/pods/9'))?.revision;
          if (gone) await storage.delete('/pods/9', gone);
          page = await storage.list('/pods/', { revision, limit: 3, from: `${seen.at(-1)}\0` });
          expect(page.revision).toBe(revision);
          sizes.push(page.count);
          seen.push(...page.records.map((record) => record.key));
        }
        expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `/pods/${i}`));
        expect(sizes).toEqual([7, 4, 1]);
      });

      it('reports for an uncounted page whether more records follow', async () => {
        for (let i = 0; i < 6; i++) await storage.create(`/pods/${i}`, text('1'));
        await storage.delete('/pods/4', (await storage.get('/pods/4'))!.revision);
        const page = async (from: string, limit: number): Promise<string> => {
          const { records, more } = await storage.list('/pods/', { from, limit, uncounted: true });
          return `${records.map(({ key }) => key.at(-1)).join('')}${more ? '…' : ''}`;
        };
        expect(
          await Promise.all([page('/pods/', 2), page('/pods/2', 2), page('/pods/2', 3), page('/pods/5', 1), page('/pods/6', 1)]),
        ).toEqual(['01…', '23…', '235', '5', '']);
      });

      it('starts at a key, even one that does not exist', async () => {
        for (const name of ['a', 'c', 'e']) await storage.create(`/pods/${name}`, text(name));
        const from = async (key: string): Promise<string[]> =>
          (await storage.list('/pods/', { from: key })).records.map((record) => record.value.toString());
        expect(await from('/pods/a')).toEqual(['a', 'c', 'e']);
        expect(await from('/pods/a\0')).toEqual(['c', 'e']);
        expect(await from('/pods/d')).toEqual(['e']);
        expect(await from('/pods/f')).toEqual([]);
        expect(await from('/a')).toEqual(['a', 'c', 'e']);
      });

      it('has the revision of the newest write, including writes of other keys', async () => {
        const { revision } = await storage.create('/other/a', text('1'));
        expect((await storage.list('/pods/')).revision).toBe(revision);
      });

      it('returns past states', async () => {
        const a = await storage.create('/pods/a', text('a1'));
        const b = await storage.create('/pods/b', text('b1'));
        await storage.update('/pods/a', a.revision, text('a2'));
        const deletion = await storage.delete('/pods/b', b.revision);
        await storage.create('/pods/c', text('c1'));
        const valuesAt = async (revision: Revision): Promise<string[]> =>
          (await storage.list('/pods/', { revision })).records.map((record) => record.value.toString());
        expect(await valuesAt(a.revision)).toEqual(['a1']);
        expect(await valuesAt(b.revision)).toEqual(['a1', 'b1']);
        expect(await valuesAt(deletion.revision)).toEqual(['a2']);
        expect(await storage.list('/pods/', { revision: b.revision, limit: 1 })).toMatchObject({ more: true, count: 2 });
      });
    });

    describe('keys', () => {
      const bad = [
        '',
        '/',
        '.',
        '..',
        'pods',
        'pods/a',
        '/pods/',
        '/pods//a',
        '/pods/../secrets/a',
        '/pods/./a',
        '/pods/..',
        '/pods/.',
        '/pods/a\0b',
        '/pods/\ud800',
      ];
      // One store for all keys: some backends take a tenth of a second to open one.
      it('rejects malformed keys', async () => {
        for (const key of bad) {
          const name = JSON.stringify(key);
          await expect(storage.create(key, text('1')), name).rejects.toThrow(InvalidKeyError);
          await expect(storage.update(key, 1, text('1')), name).rejects.toThrow(InvalidKeyError);
          await expect(storage.delete(key, 1), name).rejects.toThrow(InvalidKeyError);
          await expect(storage.get(key), name).rejects.toThrow(InvalidKeyError);
        }
      });

      it('rejects malformed prefixes', async () => {
        for (const prefix of ['', 'pods/', '/pods', '/pods//', '/../', '/pods/../', '/./']) {
          await expect(storage.list(prefix), JSON.stringify(prefix)).rejects.toThrow(InvalidKeyError);
          await expect(watch(prefix, 1).next(), JSON.stringify(prefix)).rejects.toThrow(InvalidKeyError);
        }
      });

      it('accepts unusual keys', async () => {
        for (const key of ['/a', '/pods/..a', '/pods/a..', '/pods/__proto__', '/pods/constructor', '/pods/system:node:a b', '/pods/é😀']) {
          const record = await storage.create(key, text('1'));
          expect(plain(await storage.get(key)), key).toEqual(plain(record));
        }
      });
    });

    describe('compaction', () => {
      it('removes past states and keeps the current one', async () => {
        const a1 = await storage.create('/pods/a', text('a1'));
        const b1 = await storage.create('/pods/b', text('b1'));
        const a2 = await storage.update('/pods/a', a1.revision, text('a2'));
        const gone = await storage.delete('/pods/b', b1.revision);
        const a3 = await storage.update('/pods/a', a2.revision, text('a3'));
        await storage.compact(gone.revision);
        expect(await storage.compactRevision()).toBe(gone.revision);
        for (const revision of [a1.revision, b1.revision, a2.revision]) {
          await expect(storage.get('/pods/a', { revision })).rejects.toThrow(CompactedError);
          await expect(storage.list('/pods/', { revision })).rejects.toThrow(CompactedError);
          await expect(watch('/pods/', revision).next()).rejects.toThrow(CompactedError);
        }
        expect((await storage.get('/pods/a', { revision: gone.revision }))?.value.toString()).toBe('a2');
        expect(await storage.get('/pods/b', { revision: gone.revision })).toBeUndefined();
        expect(plain(await storage.get('/pods/a'))).toEqual(plain(a3));
        expect((await take(watch('/pods/', gone.revision), 1)).map(describeEvent)).toEqual([`PUT /pods/a a3 after a2`]);
      });

      it('keeps the current state when the newest revision is compacted', async () => {
        const a = await storage.create('/pods/a', text('1'));
        const b = await storage.create('/pods/b', text('1'));
        await storage.update('/pods/a', a.revision, text('2'));
        const { revision } = await storage.delete('/pods/b', b.revision);
        await storage.compact(revision);
        expect((await storage.list('/pods/', { revision })).records.map((record) => record.value.toString())).toEqual(['2']);
        const again = await storage.create('/pods/b', text('new'));
        expect(again.revision).toBeGreaterThan(revision);
        expect((await take(watch('/pods/', revision), 1)).map(describeEvent)).toEqual(['PUT /pods/b new']);
      });

      it('has no effect when repeated and rejects a future revision', async () => {
        const { revision } = await storage.create('/pods/a', text('1'));
        await storage.compact(revision);
        await storage.compact(revision);
        await storage.compact(revision - 1);
        expect(await storage.compactRevision()).toBe(revision);
        await expect(storage.compact(revision + 1)).rejects.toThrow(FutureRevisionError);
      });

      it('keeps every current record of many rows', async () => {
        const records = await Promise.all(Array.from({ length: 400 }, (_, i) => storage.create(`/pods/${i}`, text('1'))));
        const updated = await Promise.all(records.map(({ key, revision }) => storage.update(key, revision, text('2'))));
        await Promise.all(updated.slice(0, 200).map(({ key, revision }) => storage.delete(key, revision)));
        await storage.compact(await storage.currentRevision());
        const { records: left } = await storage.list('/pods/');
        expect(left.map((record) => record.value.toString())).toEqual(new Array(200).fill('2'));
      });

      it('ends a watch whose next event was compacted', async () => {
        const events = watch('/pods/', await storage.currentRevision());
        const { revision } = await storage.create('/pods/a', text('1'));
        expect((await take(events, 1)).map(describeEvent)).toEqual(['PUT /pods/a 1']);
        const updated = await storage.update('/pods/a', revision, text('2'));
        const last = await storage.update('/pods/a', updated.revision, text('3'));
        await storage.compact(last.revision);
        const next = await events.next().then(
          (result) => result.value as StorageEvent,
          (error: Error) => error,
        );
        // A pushing backend may have sent the event before the compaction; then no event may be missing.
        if (next instanceof Error) expect(next).toBeInstanceOf(CompactedError);
        else expect(next.revision).toBe(updated.revision);
      });

      it('does not end an idle watch', async () => {
        const events = watch('/idle/', await storage.currentRevision());
        const first = events.next();
        await sleep(20);
        let { revision } = await storage.create('/pods/a', text('0'));
        for (let i = 1; i < 5; i++) ({ revision } = await storage.update('/pods/a', revision, text(String(i))));
        await sleep(20);
        await storage.compact(revision);
        await storage.create('/idle/a', text('1'));
        expect(describeEvent((await first).value as StorageEvent)).toBe('PUT /idle/a 1');
      });
    });

    describe('time to live', () => {
      it('expires a record with a DELETE event, not early, without a client', async () => {
        const events = watch('/events/', await storage.currentRevision());
        const started = performance.now();
        await storage.create('/events/a', text('1'), { ttlSeconds: 1 });
        await storage.create('/events/b', text('1'));
        const [, , deletion] = await take(events, 3);
        expect(performance.now() - started).toBeGreaterThan(990);
        expect(describeEvent(deletion!)).toBe('DELETE /events/a after 1');
        expect(deletion!.revision).toBe(await storage.currentRevision());
        expect((await storage.list('/events/')).records.map((record) => record.key)).toEqual(['/events/b']);
      });

      it('is replaced by the last write', async () => {
        const a = await storage.create('/events/a', text('1'), { ttlSeconds: 1 });
        const b = await storage.create('/events/b', text('1'), { ttlSeconds: 100 });
        await storage.update('/events/a', a.revision, text('2'));
        await storage.update('/events/b', b.revision, text('2'), { ttlSeconds: 1 });
        await until(async () => (await storage.get('/events/b')) === undefined);
        expect((await storage.get('/events/a'))?.value.toString()).toBe('2');
      });

      it('continues after a restart', async ({ skip }) => {
        if (!store.reopen) return skip('this storage persists nothing');
        await storage.create('/events/a', text('1'), { ttlSeconds: 1 });
        await storage.create('/events/b', text('1'), { ttlSeconds: 100 });
        storage = await store.reopen();
        expect((await storage.list('/events/')).count).toBe(2);
        await until(async () => (await storage.get('/events/a')) === undefined);
        expect((await storage.list('/events/')).count).toBe(1);
      });
    });

    describe('watch', () => {
      it('sends each write after the revision, in order, with the previous record', async () => {
        const a1 = await storage.create('/pods/a', text('a1'));
        const a2 = await storage.update('/pods/a', a1.revision, text('a2'));
        await storage.create('/other/x', text('x'));
        await storage.create('/pods-b/x', text('x'));
        await storage.delete('/pods/a', a2.revision);
        await storage.create('/pods/a', text('a3'));
        expect((await take(watch('/pods/', a1.revision), 3)).map(describeEvent)).toEqual([
          'PUT /pods/a a2 after a1',
          'DELETE /pods/a after a2',
          'PUT /pods/a a3',
        ]);
        expect((await take(watch('/pods/', a1.revision - 1), 4)).map(describeEvent)[0]).toBe('PUT /pods/a a1');
        expect((await take(watch('/', a2.revision), 4)).map((event) => event.key)).toEqual(['/other/x', '/pods-b/x', '/pods/a', '/pods/a']);
      });

      it('sends a deletion at its own revision', async () => {
        const { revision } = await storage.create('/pods/a', text('1'));
        const deleted = await storage.delete('/pods/a', revision);
        const [event] = await take(watch('/pods/', revision), 1);
        expect(event).toMatchObject({ type: 'DELETE', revision: deleted.revision, record: undefined });
        expect(event!.previous?.revision).toBe(revision);
      });

      it('sends later events', async () => {
        const events = watch('/pods/', await storage.currentRevision());
        const first = events.next();
        await sleep(10);
        const record = await storage.create('/pods/a', text('1'));
        const event = (await first).value as StorageEvent;
        expect(plain(event.record)).toEqual(plain(record));
        expect(event.previous).toBeUndefined();
      });

      it('sends nothing before a future start revision', async () => {
        const events = watch('/pods/', (await storage.currentRevision()) + 2);
        const first = events.next();
        for (const name of ['a', 'b', 'c']) await storage.create(`/pods/${name}`, text(name));
        expect(describeEvent((await first).value as StorageEvent)).toBe('PUT /pods/c c');
      });

      it('neither misses nor repeats events under concurrent writes, from any start revision', async () => {
        const from = await storage.currentRevision();
        const early = take(watch('/pods/', from), 320);
        await Promise.all(
          Array.from({ length: 16 }, async (_, writer) => {
            let { revision } = await storage.create(`/pods/${writer}`, text('0'));
            for (let i = 1; i < 20; i++) ({ revision } = await storage.update(`/pods/${writer}`, revision, text(String(i))));
          }),
        );
        const all = await take(watch('/pods/', from), 320);
        expect((await early).map(describeEvent)).toEqual(all.map(describeEvent));
        const revisions = all.map((event) => event.revision);
        expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
        for (const event of all)
          if (event.previous) expect(Number(event.record!.value.toString())).toBe(Number(event.previous.value.toString()) + 1);
        for (const cut of [0, 1, 99, 100, 101, 318]) {
          expect((await take(watch('/pods/', revisions[cut]!), 319 - cut)).map(describeEvent)).toEqual(
            all.slice(cut + 1).map(describeEvent),
          );
        }
      });

      it('is not blocked by watches that do not read', async () => {
        const from = await storage.currentRevision();
        const idle = Array.from({ length: 50 }, () => watch('/pods/', from));
        for (const events of idle) void events.next();
        const reading = watch('/pods/', from);
        let { revision } = await storage.create('/pods/a', text('0'));
        await take(reading, 1);
        const milliseconds: number[] = [];
        for (let i = 1; i <= 21; i++) {
          const started = performance.now();
          ({ revision } = await storage.update('/pods/a', revision, text(String(i))));
          await take(reading, 1);
          milliseconds.push(performance.now() - started);
        }
        // A busy machine delays single ones.
        expect(milliseconds.toSorted((a, b) => a - b)[10]).toBeLessThan(250);
        expect((await take(idle[7]!, 21)).map((event) => event.record?.value.toString())).toEqual(
          Array.from({ length: 21 }, (_, i) => String(i + 1)),
        );
      });

      it('ends when its signal aborts, also while it waits', async () => {
        const end = new AbortController();
        const events = storage.watch('/pods/', await storage.currentRevision(), end.signal)[Symbol.asyncIterator]();
        const waiting = events.next();
        await sleep(10);
        end.abort();
        expect(await waiting).toEqual({ value: undefined, done: true });
        expect(await events.next()).toEqual({ value: undefined, done: true });
        const aborted = storage.watch('/pods/', 1, AbortSignal.abort())[Symbol.asyncIterator]();
        expect(await aborted.next()).toEqual({ value: undefined, done: true });
      });

      it('ends when the storage closes', async () => {
        const waiting = watch('/pods/', await storage.currentRevision()).next();
        await sleep(10);
        await storage.close();
        expect(await waiting).toEqual({ value: undefined, done: true });
      });
    });

    describe('commit feed', () => {
      it('delivers each event before the write resolves, in order', async ({ skip }) => {
        if (!storage.onCommit) return skip('this storage has no commit feed');
        const seen: StorageEvent[] = [];
        const end = storage.onCommit((events) => void seen.push(...events));
        await Promise.all(
          Array.from({ length: 16 }, async (_, i) => {
            const key = `/pods/${i}`;
            const created = await storage.create(key, text('1'));
            expect(seen.some((event) => event.revision === created.revision)).toBe(true);
            const updated = await storage.update(key, created.revision, text('2'));
            const deleted = await storage.delete(key, updated.revision);
            expect(seen.at(-1)!.revision).toBeGreaterThanOrEqual(deleted.revision);
          }),
        );
        const revisions = seen.map((event) => event.revision);
        expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
        const mine = seen.filter((event) => event.key === '/pods/3').map(describeEvent);
        expect(mine).toEqual(['PUT /pods/3 1', 'PUT /pods/3 2 after 1', 'DELETE /pods/3 after 2']);
        end();
        await storage.create('/pods/late', text('1'));
        expect(seen).toHaveLength(48);
      });

      it('calls listeners after the store contains the events', async ({ skip }) => {
        if (!storage.onCommit) return skip('this storage has no commit feed');
        const reads: Promise<unknown>[] = [];
        const end = storage.onCommit(([event]) => void reads.push(Promise.all([storage.currentRevision(), storage.get(event!.key)])));
        const record = await storage.create('/pods/a', text('1'));
        end();
        const [[revision, read]] = (await Promise.all(reads)) as [[Revision, StorageRecord]];
        expect(revision).toBe(record.revision);
        expect(plain(read)).toEqual(plain(record));
      });
    });

    describe('lifecycle', () => {
      it('is healthy', async () => {
        await storage.healthy();
      });

      it('completes pending calls before closing and rejects later ones', async () => {
        const writes = Promise.all(Array.from({ length: 100 }, (_, i) => storage.create(`/pods/${i}`, text('1'))));
        await storage.close();
        await expect(writes).resolves.toHaveLength(100);
        await expect(storage.create('/pods/x', text('1'))).rejects.toThrow(ClosedError);
        await expect(storage.get('/pods/1')).rejects.toThrow(ClosedError);
        await expect(storage.list('/pods/')).rejects.toThrow(ClosedError);
        await expect(storage.currentRevision()).rejects.toThrow(ClosedError);
        await expect(storage.healthy()).rejects.toThrow(ClosedError);
        await storage.close();
      });

      it('keeps all data across a restart', async ({ skip }) => {
        if (!store.reopen) return skip('this storage persists nothing');
        const a1 = await storage.create('/pods/a', text('a1'));
        const a2 = await storage.update('/pods/a', a1.revision, text('a2'));
        const b = await storage.create('/pods/b', text('b1'));
        const deleted = await storage.delete('/pods/b', b.revision);
        storage = await store.reopen();
        expect(await storage.currentRevision()).toBe(deleted.revision);
        expect(plain(await storage.get('/pods/a'))).toEqual(plain(a2));
        expect((await storage.list('/pods/', { revision: b.revision })).records.map((record) => record.value.toString())).toEqual([
          'a2',
          'b1',
        ]);
        expect((await take(watch('/pods/', a1.revision), 3)).map(describeEvent)).toEqual([
          'PUT /pods/a a2 after a1',
          'PUT /pods/b b1',
          'DELETE /pods/b after b1',
        ]);
        expect((await storage.update('/pods/a', a2.revision, text('a3'))).revision).toBeGreaterThan(deleted.revision);
      });

      it('keeps the compact revision across a restart and reuses no revision', async ({ skip }) => {
        if (!store.reopen) return skip('this storage persists nothing');
        const { revision } = await storage.create('/pods/a', text('1'));
        const deleted = await storage.delete('/pods/a', revision);
        await storage.compact(deleted.revision);
        storage = await store.reopen();
        expect(await storage.compactRevision()).toBe(deleted.revision);
        expect(await storage.currentRevision()).toBe(deleted.revision);
        await expect(storage.list('/pods/', { revision })).rejects.toThrow(CompactedError);
        expect((await storage.create('/pods/a', text('2'))).revision).toBeGreaterThan(deleted.revision);
      });
    });
  });
}

function text(value: string): Encode {
  return () => Buffer.from(value);
}

function plain(record: StorageRecord | undefined): unknown {
  return record && { key: record.key, revision: record.revision, createRevision: record.createRevision, value: record.value.toString() };
}

/** `PUT /pods/a new after old`. */
function describeEvent({ type, key, record, previous }: StorageEvent): string {
  return `${type} ${key}${record ? ` ${record.value.toString()}` : ''}${previous ? ` after ${previous.value.toString()}` : ''}`;
}

async function take(events: AsyncIterator<StorageEvent>, count: number): Promise<StorageEvent[]> {
  const taken: StorageEvent[] = [];
  while (taken.length < count) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the watch ended after ${taken.length} of ${count} events`);
    if (value.type !== 'PROGRESS') taken.push(value);
  }
  return taken;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await condition()); ) {
    if (performance.now() > end) throw new Error('the condition did not become true within 10 s');
    await sleep(20);
  }
}
