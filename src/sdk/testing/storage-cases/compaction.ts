import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CompactedError, FutureRevisionError } from '#apiserver/storage/errors';
import type { StorageEvent } from '#apiserver/storage/storage';
import { describeEvent, plain, take, text, until, type TestedStore } from './tested-store.ts';

/** Registers the cases of compaction and of times to live. */
export function compactionCases(tested: TestedStore): void {
  describe('compaction', () => {
    it('removes past states and keeps the current one', async () => {
      const a1 = await tested.storage.create('/pods/a', text('a1'));
      const b1 = await tested.storage.create('/pods/b', text('b1'));
      const a2 = await tested.storage.update('/pods/a', a1.revision, text('a2'));
      const gone = await tested.storage.delete('/pods/b', b1.revision);
      const a3 = await tested.storage.update('/pods/a', a2.revision, text('a3'));
      await tested.storage.compact(gone.revision);
      expect(await tested.storage.compactRevision()).toBe(gone.revision);
      for (const revision of [a1.revision, b1.revision, a2.revision]) {
        await expect(tested.storage.get('/pods/a', { revision })).rejects.toThrow(CompactedError);
        await expect(tested.storage.list('/pods/', { revision })).rejects.toThrow(CompactedError);
        await expect(tested.watch('/pods/', revision).next()).rejects.toThrow(CompactedError);
      }
      expect((await tested.storage.get('/pods/a', { revision: gone.revision }))?.value.toString()).toBe('a2');
      expect(await tested.storage.get('/pods/b', { revision: gone.revision })).toBeUndefined();
      expect(plain(await tested.storage.get('/pods/a'))).toEqual(plain(a3));
      expect((await take(tested.watch('/pods/', gone.revision), 1)).map(describeEvent)).toEqual([`PUT /pods/a a3 after a2`]);
    });

    it('keeps the current state when the newest revision is compacted', async () => {
      const a = await tested.storage.create('/pods/a', text('1'));
      const b = await tested.storage.create('/pods/b', text('1'));
      await tested.storage.update('/pods/a', a.revision, text('2'));
      const { revision } = await tested.storage.delete('/pods/b', b.revision);
      await tested.storage.compact(revision);
      expect((await tested.storage.list('/pods/', { revision })).records.map((record) => record.value.toString())).toEqual(['2']);
      const again = await tested.storage.create('/pods/b', text('new'));
      expect(again.revision).toBeGreaterThan(revision);
      expect((await take(tested.watch('/pods/', revision), 1)).map(describeEvent)).toEqual(['PUT /pods/b new']);
    });

    it('has no effect when repeated and rejects a future revision', async () => {
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      await tested.storage.compact(revision);
      await tested.storage.compact(revision);
      await tested.storage.compact(revision - 1);
      expect(await tested.storage.compactRevision()).toBe(revision);
      await expect(tested.storage.compact(revision + 1)).rejects.toThrow(FutureRevisionError);
    });

    it('keeps every current record of many rows', async () => {
      const records = await Promise.all(Array.from({ length: 400 }, (_, i) => tested.storage.create(`/pods/${i}`, text('1'))));
      const updated = await Promise.all(records.map(({ key, revision }) => tested.storage.update(key, revision, text('2'))));
      await Promise.all(updated.slice(0, 200).map(({ key, revision }) => tested.storage.delete(key, revision)));
      await tested.storage.compact(await tested.storage.currentRevision());
      const { records: left } = await tested.storage.list('/pods/');
      expect(left.map((record) => record.value.toString())).toEqual(new Array(200).fill('2'));
    });

    it('ends a watch whose next event was compacted', async () => {
      const events = tested.watch('/pods/', await tested.storage.currentRevision());
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      expect((await take(events, 1)).map(describeEvent)).toEqual(['PUT /pods/a 1']);
      const updated = await tested.storage.update('/pods/a', revision, text('2'));
      const last = await tested.storage.update('/pods/a', updated.revision, text('3'));
      await tested.storage.compact(last.revision);
      const next = await events.next().then(
        (result) => result.value as StorageEvent,
        (error: Error) => error,
      );
      // A pushing backend may have sent the event before the compaction; then no event may be missing.
      if (next instanceof Error) expect(next).toBeInstanceOf(CompactedError);
      else expect(next.revision).toBe(updated.revision);
    });

    it('does not end an idle watch', async () => {
      const events = tested.watch('/idle/', await tested.storage.currentRevision());
      const first = events.next();
      await sleep(20);
      let { revision } = await tested.storage.create('/pods/a', text('0'));
      for (let i = 1; i < 5; i++) ({ revision } = await tested.storage.update('/pods/a', revision, text(String(i))));
      await sleep(20);
      await tested.storage.compact(revision);
      await tested.storage.create('/idle/a', text('1'));
      expect(describeEvent((await first).value as StorageEvent)).toBe('PUT /idle/a 1');
    });
  });

  describe('time to live', () => {
    it('expires a record with a DELETE event, not early, without a client', async () => {
      const events = tested.watch('/events/', await tested.storage.currentRevision());
      const started = performance.now();
      await tested.storage.create('/events/a', text('1'), { ttlSeconds: 1 });
      await tested.storage.create('/events/b', text('1'));
      const [, , deletion] = await take(events, 3);
      expect(performance.now() - started).toBeGreaterThan(990);
      expect(describeEvent(deletion!)).toBe('DELETE /events/a after 1');
      expect(deletion!.revision).toBe(await tested.storage.currentRevision());
      expect((await tested.storage.list('/events/')).records.map((record) => record.key)).toEqual(['/events/b']);
    });

    it('is replaced by the last write', async () => {
      const a = await tested.storage.create('/events/a', text('1'), { ttlSeconds: 1 });
      const b = await tested.storage.create('/events/b', text('1'), { ttlSeconds: 100 });
      await tested.storage.update('/events/a', a.revision, text('2'));
      await tested.storage.update('/events/b', b.revision, text('2'), { ttlSeconds: 1 });
      await until(async () => (await tested.storage.get('/events/b')) === undefined);
      expect((await tested.storage.get('/events/a'))?.value.toString()).toBe('2');
    });

    it('continues after a restart', async ({ skip }) => {
      if (!tested.canReopen) return skip('this storage persists nothing');
      await tested.storage.create('/events/a', text('1'), { ttlSeconds: 1 });
      await tested.storage.create('/events/b', text('1'), { ttlSeconds: 100 });
      await tested.reopen();
      expect((await tested.storage.list('/events/')).count).toBe(2);
      await until(async () => (await tested.storage.get('/events/a')) === undefined);
      expect((await tested.storage.list('/events/')).count).toBe(1);
    });
  });
}
