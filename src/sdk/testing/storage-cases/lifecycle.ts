import { describe, expect, it } from 'vitest';
import { ClosedError, CompactedError } from '#apiserver/storage/errors';
import { describeEvent, plain, take, text, type TestedStore } from './tested-store.ts';

/** Registers the cases of health, the end and restarts. */
export function lifecycleCases(tested: TestedStore): void {
  describe('lifecycle', () => {
    it('is healthy', async () => {
      await tested.storage.healthy();
    });

    it('completes pending calls before closing and rejects later ones', async () => {
      const writes = Promise.all(Array.from({ length: 100 }, (_, i) => tested.storage.create(`/pods/${i}`, text('1'))));
      await tested.storage.close();
      await expect(writes).resolves.toHaveLength(100);
      await expect(tested.storage.create('/pods/x', text('1'))).rejects.toThrow(ClosedError);
      await expect(tested.storage.get('/pods/1')).rejects.toThrow(ClosedError);
      await expect(tested.storage.list('/pods/')).rejects.toThrow(ClosedError);
      await expect(tested.storage.currentRevision()).rejects.toThrow(ClosedError);
      await expect(tested.storage.healthy()).rejects.toThrow(ClosedError);
      await tested.storage.close();
    });

    it('keeps all data across a restart', async ({ skip }) => {
      if (!tested.canReopen) return skip('this storage persists nothing');
      const a1 = await tested.storage.create('/pods/a', text('a1'));
      const a2 = await tested.storage.update('/pods/a', a1.revision, text('a2'));
      const b = await tested.storage.create('/pods/b', text('b1'));
      const deleted = await tested.storage.delete('/pods/b', b.revision);
      await tested.reopen();
      expect(await tested.storage.currentRevision()).toBe(deleted.revision);
      expect(plain(await tested.storage.get('/pods/a'))).toEqual(plain(a2));
      expect((await tested.storage.list('/pods/', { revision: b.revision })).records.map((record) => record.value.toString())).toEqual([
        'a2',
        'b1',
      ]);
      expect((await take(tested.watch('/pods/', a1.revision), 3)).map(describeEvent)).toEqual([
        'PUT /pods/a a2 after a1',
        'PUT /pods/b b1',
        'DELETE /pods/b after b1',
      ]);
      expect((await tested.storage.update('/pods/a', a2.revision, text('a3'))).revision).toBeGreaterThan(deleted.revision);
    });

    it('keeps the compact revision across a restart and reuses no revision', async ({ skip }) => {
      if (!tested.canReopen) return skip('this storage persists nothing');
      const { revision } = await tested.storage.create('/pods/a', text('1'));
      const deleted = await tested.storage.delete('/pods/a', revision);
      await tested.storage.compact(deleted.revision);
      await tested.reopen();
      expect(await tested.storage.compactRevision()).toBe(deleted.revision);
      expect(await tested.storage.currentRevision()).toBe(deleted.revision);
      await expect(tested.storage.list('/pods/', { revision })).rejects.toThrow(CompactedError);
      expect((await tested.storage.create('/pods/a', text('2'))).revision).toBeGreaterThan(deleted.revision);
    });
  });
}
