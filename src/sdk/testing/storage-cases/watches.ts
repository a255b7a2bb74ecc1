import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Revision, StorageEvent, StorageRecord } from '#apiserver/storage/storage';
import { describeEvent, plain, take, text, type TestedStore } from './tested-store.ts';

/** Registers the cases of watches and of the commit feed. */
export function watchCases(tested: TestedStore): void {
  describe('watch', () => {
    it('sends each write after the revision, in order, with the previous record', async () => {
      const a1 = await tested.storage.create('/pods/a', text('a1'));
      const a2 = await tested.storage.update('/pods/a', a1.revision, text('a2'));
      await tested.storage.create('/other/x', text('x'));
      await tested.storage.create('/pods-b/x', text('x'));
      await tested.storage.delete('/pods/a', a2.revision);
      await tested.storage.create('/pods/a', text('a3'));
      expect((await take(tested.watch('/pods/', a1.revision), 3)).map(describeEvent)).toEqual([
        'PUT /pods/a a2 after a1',
        'DELETE /pods/a after a2',
        'PUT /pods/a a3',
      ]);
      expect((await take(tested.watch('/pods/', a1.revision - 1), 4)).map(describeEvent)[0]).toBe('PUT /pods/a a1');
      expect((await take(tested.watch('/', a2.revision), 4)).map((event) => event.key)).toEqual([
        '/other/x',
        '/pods-b/x',
        '/pods/a',
        '/pods/a',
      ]);
    });

    it('sends a deletion at its own revision', async () => {
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      const deleted = await tested.storage.delete('/pods/a', revision);
      const [event] = await take(tested.watch('/pods/', revision), 1);
      expect(event).toMatchObject({ type: 'DELETE', revision: deleted.revision, record: undefined });
      expect(event!.previous?.revision).toBe(revision);
    });

    it('sends later events', async () => {
      const events = tested.watch('/pods/', await tested.storage.currentRevision());
      const first = events.next();
      await sleep(10);
      const record = await tested.storage.create('/pods/a', text('1'));
      const event = (await first).value as StorageEvent;
      expect(plain(event.record)).toEqual(plain(record));
      expect(event.previous).toBeUndefined();
    });

    it('sends nothing before a future start revision', async () => {
      const events = tested.watch('/pods/', (await tested.storage.currentRevision()) + 2);
      const first = events.next();
      for (const name of ['a', 'b', 'c']) await tested.storage.create(`/pods/${name}`, text(name));
      expect(describeEvent((await first).value as StorageEvent)).toBe('PUT /pods/c c');
    });

    it('neither misses nor repeats events under concurrent writes, from any start revision', async () => {
      const from = await tested.storage.currentRevision();
      const early = take(tested.watch('/pods/', from), 320);
      await Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          let { revision } = await tested.storage.create(`/pods/${writer}`, text('0'));
          for (let i = 1; i < 20; i++) ({ revision } = await tested.storage.update(`/pods/${writer}`, revision, text(String(i))));
        }),
      );
      const all = await take(tested.watch('/pods/', from), 320);
      expect((await early).map(describeEvent)).toEqual(all.map(describeEvent));
      const revisions = all.map((event) => event.revision);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
      for (const event of all)
        if (event.previous) expect(Number(event.record!.value.toString())).toBe(Number(event.previous.value.toString()) + 1);
      for (const cut of [0, 1, 99, 100, 101, 318]) {
        expect((await take(tested.watch('/pods/', revisions[cut]!), 319 - cut)).map(describeEvent)).toEqual(
          all.slice(cut + 1).map(describeEvent),
        );
      }
    });

    it('is not blocked by watches that do not read', async () => {
      const from = await tested.storage.currentRevision();
      const idle = Array.from({ length: 50 }, () => tested.watch('/pods/', from));
      for (const events of idle) void events.next();
      const reading = tested.watch('/pods/', from);
      let { revision } = await tested.storage.create('/pods/a', text('0'));
      await take(reading, 1);
      const milliseconds: number[] = [];
      for (let i = 1; i <= 21; i++) {
        const started = performance.now();
        ({ revision } = await tested.storage.update('/pods/a', revision, text(String(i))));
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
      const events = tested.storage.watch('/pods/', await tested.storage.currentRevision(), end.signal)[Symbol.asyncIterator]();
      const waiting = events.next();
      await sleep(10);
      end.abort();
      expect(await waiting).toEqual({ value: undefined, done: true });
      expect(await events.next()).toEqual({ value: undefined, done: true });
      const aborted = tested.storage.watch('/pods/', 1, AbortSignal.abort())[Symbol.asyncIterator]();
      expect(await aborted.next()).toEqual({ value: undefined, done: true });
    });

    it('ends when the storage closes', async () => {
      const waiting = tested.watch('/pods/', await tested.storage.currentRevision()).next();
      await sleep(10);
      await tested.storage.close();
      expect(await waiting).toEqual({ value: undefined, done: true });
    });
  });

  describe('commit feed', () => {
    it('delivers each event before the write resolves, in order', async ({ skip }) => {
      if (!tested.storage.onCommit) return skip('this storage has no commit feed');
      const seen: StorageEvent[] = [];
      const end = tested.storage.onCommit((events) => void seen.push(...events));
      await Promise.all(
        Array.from({ length: 16 }, async (_, i) => {
          const key = `/pods/${i}`;
          const created = await tested.storage.create(key, text('1'));
          expect(seen.some((event) => event.revision === created.revision)).toBe(true);
          const updated = await tested.storage.update(key, created.revision, text('2'));
          const deleted = await tested.storage.delete(key, updated.revision);
          expect(seen.at(-1)!.revision).toBeGreaterThanOrEqual(deleted.revision);
        }),
      );
      const revisions = seen.map((event) => event.revision);
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
      const mine = seen.filter((event) => event.key === '/pods/3').map(describeEvent);
      expect(mine).toEqual(['PUT /pods/3 1', 'PUT /pods/3 2 after 1', 'DELETE /pods/3 after 2']);
      end();
      await tested.storage.create('/pods/late', text('1'));
      expect(seen).toHaveLength(48);
    });

    it('calls listeners after the store contains the events', async ({ skip }) => {
      if (!tested.storage.onCommit) return skip('this storage has no commit feed');
      const reads: Promise<unknown>[] = [];
      const end = tested.storage.onCommit(
        ([event]) => void reads.push(Promise.all([tested.storage.currentRevision(), tested.storage.get(event!.key)])),
      );
      const record = await tested.storage.create('/pods/a', text('1'));
      end();
      const [[revision, read]] = (await Promise.all(reads)) as [[Revision, StorageRecord]];
      expect(revision).toBe(record.revision);
      expect(plain(read)).toEqual(plain(record));
    });
  });
}
