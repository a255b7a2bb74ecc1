import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Revision } from '#apiserver/storage/storage';
import { plain, text, type TestedStore } from './tested-store.ts';

/** Registers the cases of writes and their revisions. */
export function writeCases(tested: TestedStore): void {
  describe('create', () => {
    it('returns the record and passes its revision to the encoder', async () => {
      const before = await tested.storage.currentRevision();
      const record = await tested.storage.create('/pods/default/a', (revision) => Buffer.from(`v${revision}`));
      expect(plain(record)).toEqual({
        key: '/pods/default/a',
        revision: record.revision,
        createRevision: record.revision,
        value: `v${record.revision}`,
      });
      expect(record.revision).toBeGreaterThan(before);
      expect(await tested.storage.currentRevision()).toBe(record.revision);
      expect(plain(await tested.storage.get('/pods/default/a'))).toEqual(plain(record));
    });

    it('rejects with KeyExistsError', async () => {
      const first = await tested.storage.create('/pods/a', text('1'));
      await expect(tested.storage.create('/pods/a', text('2'))).rejects.toThrow(KeyExistsError);
      expect(plain(await tested.storage.get('/pods/a'))).toEqual(plain(first));
    });

    it('lets exactly one of many concurrent creators of a key succeed', async () => {
      const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => tested.storage.create('/pods/a', text(String(i)))));
      const won = results.filter((result) => result.status === 'fulfilled');
      expect(won).toHaveLength(1);
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(KeyExistsError);
      expect(plain(await tested.storage.get('/pods/a'))).toEqual(plain(won[0]!.value));
    });

    it('gives a recreated key a new createRevision', async () => {
      const first = await tested.storage.create('/pods/a', text('1'));
      await tested.storage.delete('/pods/a', first.revision);
      const second = await tested.storage.create('/pods/a', text('2'));
      expect(second.createRevision).toBe(second.revision);
      expect(second.revision).toBeGreaterThan(first.revision);
    });

    it('stores nothing if the encoder throws, and accepts later writes', async () => {
      await expect(
        tested.storage.create('/pods/a', () => {
          throw new Error('cannot encode');
        }),
      ).rejects.toThrow('cannot encode');
      expect(await tested.storage.get('/pods/a')).toBeUndefined();
      await tested.storage.create('/pods/a', text('1'));
      expect((await tested.storage.list('/pods/')).count).toBe(1);
    });

    it.each([
      ['an empty value', Buffer.alloc(0)],
      ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
      ['1.5 MB', Buffer.alloc(1_500_000, 7)],
    ])('stores %s unchanged', async (_, value) => {
      await tested.storage.create('/pods/a', () => value);
      expect((await tested.storage.get('/pods/a'))?.value.equals(value)).toBe(true);
    });
  });

  describe('revisions', () => {
    it('are above 0 in an empty store', async () => {
      const current = await tested.storage.currentRevision();
      expect(current).toBeGreaterThan(0);
      expect(await tested.storage.list('/pods/')).toEqual({ records: [], revision: current, more: false, count: 0 });
      expect(await tested.storage.compactRevision()).toBeLessThanOrEqual(current);
    });

    it('increase with each write of any key, deletions included, and are never repeated', async () => {
      const revisions: Revision[] = [];
      await Promise.all(
        Array.from({ length: 16 }, async (_, writer) => {
          for (let i = 0; i < 10; i++) {
            const key = `/r${writer % 3}/${writer}`;
            const created = await tested.storage.create(key, text('1'));
            const updated = await tested.storage.update(key, created.revision, text('2'));
            const deleted = await tested.storage.delete(key, updated.revision);
            expect(created.revision).toBeLessThan(updated.revision);
            expect(updated.revision).toBeLessThan(deleted.revision);
            revisions.push(created.revision, updated.revision, deleted.revision);
          }
        }),
      );
      expect(new Set(revisions).size).toBe(480);
      expect(await tested.storage.currentRevision()).toBe(Math.max(...revisions));
    });
  });

  describe('raiseRevision', () => {
    it('puts later writes above the revision and leaves existing records unchanged', async ({ skip }) => {
      if (!tested.storage.raiseRevision) return skip('this storage does not implement raiseRevision');
      const before = await tested.storage.create('/pods/ns/a', text('a'));
      const revision = before.revision + 100;
      await tested.storage.raiseRevision(revision);
      expect(await tested.storage.currentRevision()).toBeGreaterThanOrEqual(revision);
      expect((await tested.storage.get('/pods/ns/a'))?.revision).toBe(before.revision);
      const after = await tested.storage.update('/pods/ns/a', before.revision, text('b'));
      expect(after.revision).toBeGreaterThan(revision);
      await tested.storage.raiseRevision(before.revision);
      expect(await tested.storage.currentRevision()).toBe(after.revision);
      expect((await tested.storage.list('/pods/')).records.map(({ revision: at }) => at)).toEqual([after.revision]);
    });
  });

  describe('update', () => {
    it('keeps createRevision', async () => {
      const created = await tested.storage.create('/pods/a', text('1'));
      const updated = await tested.storage.update('/pods/a', created.revision, text('2'));
      expect(plain(updated)).toEqual({ key: '/pods/a', revision: updated.revision, createRevision: created.revision, value: '2' });
    });

    it.each(['update', 'delete'] as const)('%s rejects with the current record if its revision is not the expected one', async (verb) => {
      const created = await tested.storage.create('/pods/a', text('1'));
      const updated = await tested.storage.update('/pods/a', created.revision, text('2'));
      const stale =
        verb === 'update'
          ? tested.storage.update('/pods/a', created.revision, text('3'))
          : tested.storage.delete('/pods/a', created.revision);
      const error = await stale.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConflictError);
      expect(plain((error as ConflictError).current)).toEqual(plain(updated));
    });

    it.each(['update', 'delete'] as const)('%s rejects without a record if the key does not exist', async (verb) => {
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      await tested.storage.delete('/pods/a', revision);
      for (const key of ['/pods/a', '/pods/b']) {
        const error = await (verb === 'update'
          ? tested.storage.update(key, revision, text('2'))
          : tested.storage.delete(key, revision)
        ).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(ConflictError);
        expect((error as ConflictError).current).toBeUndefined();
      }
    });

    it('lets exactly one of many concurrent writers succeed; the others receive the new record', async () => {
      const { revision } = await tested.storage.create('/pods/a', text('0'));
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => tested.storage.update('/pods/a', revision, text(String(i)))),
      );
      const won = results.filter((result) => result.status === 'fulfilled');
      expect(won).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(plain((result.reason as ConflictError).current)).toEqual(plain(won[0]!.value));
      }
    });

    it('loses no increment under contention', async () => {
      await tested.storage.create('/counter', text('0'));
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let i = 0; i < 10; i++) {
            let present = (await tested.storage.get('/counter'))!;
            for (;;) {
              const next = text(String(Number(present.value.toString()) + 1));
              const lost = await tested.storage.update('/counter', present.revision, next).then(
                () => undefined,
                (error: unknown) => error as ConflictError,
              );
              if (!lost) break;
              present = lost.current!;
            }
          }
        }),
      );
      expect((await tested.storage.get('/counter'))?.value.toString()).toBe('80');
    });
  });

  describe('delete', () => {
    it('returns the last record and the revision of the deletion', async () => {
      const created = await tested.storage.create('/pods/a', text('1'));
      const deleted = await tested.storage.delete('/pods/a', created.revision);
      expect(plain(deleted.record)).toEqual(plain(created));
      expect(deleted.revision).toBeGreaterThan(created.revision);
      expect(await tested.storage.get('/pods/a')).toBeUndefined();
      expect((await tested.storage.list('/pods/')).count).toBe(0);
    });

    it('succeeds once', async () => {
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      const results = await Promise.allSettled([1, 2, 3].map(() => tested.storage.delete('/pods/a', revision)));
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    });
  });
}
