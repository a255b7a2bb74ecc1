import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { FutureRevisionError, InvalidKeyError } from '#apiserver/storage/errors';
import { compareKeys } from '#apiserver/storage/key';
import type { Revision } from '#apiserver/storage/storage';
import { plain, text, type TestedStore } from './tested-store.ts';

/** Registers the cases of reads, of lists and of their keys. */
export function readCases(tested: TestedStore): void {
  describe('get', () => {
    it('reads the state at any past revision', async () => {
      const before = await tested.storage.currentRevision();
      const created = await tested.storage.create('/pods/a', text('1'));
      const other = await tested.storage.create('/pods/b', text('b'));
      const updated = await tested.storage.update('/pods/a', created.revision, text('2'));
      const deleted = await tested.storage.delete('/pods/a', updated.revision);
      const again = await tested.storage.create('/pods/a', text('3'));
      const states = await Promise.all(
        [before, created.revision, other.revision, updated.revision, deleted.revision, again.revision].map(async (revision) =>
          (await tested.storage.get('/pods/a', { revision }))?.value.toString(),
        ),
      );
      expect(states).toEqual([undefined, '1', '1', '2', undefined, '3']);
      expect((await tested.storage.get('/pods/a', { revision: updated.revision }))?.createRevision).toBe(created.revision);
    });

    it('rejects a future revision', async () => {
      const current = await tested.storage.currentRevision();
      await expect(tested.storage.get('/pods/a', { revision: current + 1 })).rejects.toThrow(FutureRevisionError);
      await expect(tested.storage.list('/pods/', { revision: current + 1 })).rejects.toThrow(FutureRevisionError);
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
      for (const key of keys) await tested.storage.create(key, text(key));
      const listed = (await tested.storage.list('/pods/')).records.map((record) => record.key);
      expect(listed).toEqual([...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
      expect(listed).toEqual([...keys].sort(compareKeys));
    });

    it('does not return keys that share only the beginning of the last segment', async () => {
      for (const key of ['/pods/first/a', '/pods/first-bar/a', '/pods/first', '/pods.apps/first/a', '/podsfirst/a'])
        await tested.storage.create(key, text(key));
      const keysOf = async (prefix: string): Promise<string[]> => (await tested.storage.list(prefix)).records.map((record) => record.key);
      expect(await keysOf('/pods/first/')).toEqual(['/pods/first/a']);
      expect(await keysOf('/pods/')).toEqual(['/pods/first', '/pods/first-bar/a', '/pods/first/a']);
      expect(await keysOf('/')).toHaveLength(5);
    });

    it('returns pages of one state during concurrent writes', async () => {
      for (let i = 0; i < 10; i++) await tested.storage.create(`/pods/${i}`, text('1'));
      const first = await tested.storage.list('/pods/', { limit: 3 });
      expect(first).toMatchObject({ more: true, count: 10 });
      const { revision } = first;
      const seen = first.records.map((record) => record.key);
      const sizes: number[] = [];
      for (let page = first; page.more; ) {
        await tested.storage.create(`/pods/${seen.length}x`, text('new'));
        const gone = (await tested.storage.get('/pods/9'))?.revision;
        if (gone) await tested.storage.delete('/pods/9', gone);
        page = await tested.storage.list('/pods/', { revision, limit: 3, from: `${seen.at(-1)}\0` });
        expect(page.revision).toBe(revision);
        sizes.push(page.count);
        seen.push(...page.records.map((record) => record.key));
      }
      expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `/pods/${i}`));
      expect(sizes).toEqual([7, 4, 1]);
    });

    it('reports for an uncounted page whether more records follow', async () => {
      for (let i = 0; i < 6; i++) await tested.storage.create(`/pods/${i}`, text('1'));
      await tested.storage.delete('/pods/4', (await tested.storage.get('/pods/4'))!.revision);
      const page = async (from: string, limit: number): Promise<string> => {
        const { records, more } = await tested.storage.list('/pods/', { from, limit, uncounted: true });
        return `${records.map(({ key }) => key.at(-1)).join('')}${more ? '…' : ''}`;
      };
      expect(
        await Promise.all([page('/pods/', 2), page('/pods/2', 2), page('/pods/2', 3), page('/pods/5', 1), page('/pods/6', 1)]),
      ).toEqual(['01…', '23…', '235', '5', '']);
    });

    it('starts at a key, even one that does not exist', async () => {
      for (const name of ['a', 'c', 'e']) await tested.storage.create(`/pods/${name}`, text(name));
      const from = async (key: string): Promise<string[]> =>
        (await tested.storage.list('/pods/', { from: key })).records.map((record) => record.value.toString());
      expect(await from('/pods/a')).toEqual(['a', 'c', 'e']);
      expect(await from('/pods/a\0')).toEqual(['c', 'e']);
      expect(await from('/pods/d')).toEqual(['e']);
      expect(await from('/pods/f')).toEqual([]);
      expect(await from('/a')).toEqual(['a', 'c', 'e']);
    });

    it('has the revision of the newest write, including writes of other keys', async () => {
      const { revision } = await tested.storage.create('/other/a', text('1'));
      expect((await tested.storage.list('/pods/')).revision).toBe(revision);
    });

    it('returns past states', async () => {
      const a = await tested.storage.create('/pods/a', text('a1'));
      const b = await tested.storage.create('/pods/b', text('b1'));
      await tested.storage.update('/pods/a', a.revision, text('a2'));
      const deletion = await tested.storage.delete('/pods/b', b.revision);
      await tested.storage.create('/pods/c', text('c1'));
      const valuesAt = async (revision: Revision): Promise<string[]> =>
        (await tested.storage.list('/pods/', { revision })).records.map((record) => record.value.toString());
      expect(await valuesAt(a.revision)).toEqual(['a1']);
      expect(await valuesAt(b.revision)).toEqual(['a1', 'b1']);
      expect(await valuesAt(deletion.revision)).toEqual(['a2']);
      expect(await tested.storage.list('/pods/', { revision: b.revision, limit: 1 })).toMatchObject({ more: true, count: 2 });
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
        await expect(tested.storage.create(key, text('1')), name).rejects.toThrow(InvalidKeyError);
        await expect(tested.storage.update(key, 1, text('1')), name).rejects.toThrow(InvalidKeyError);
        await expect(tested.storage.delete(key, 1), name).rejects.toThrow(InvalidKeyError);
        await expect(tested.storage.get(key), name).rejects.toThrow(InvalidKeyError);
      }
    });

    it('rejects malformed prefixes', async () => {
      for (const prefix of ['', 'pods/', '/pods', '/pods//', '/../', '/pods/../', '/./']) {
        await expect(tested.storage.list(prefix), JSON.stringify(prefix)).rejects.toThrow(InvalidKeyError);
        await expect(tested.watch(prefix, 1).next(), JSON.stringify(prefix)).rejects.toThrow(InvalidKeyError);
      }
    });

    it('accepts unusual keys', async () => {
      for (const key of ['/a', '/pods/..a', '/pods/a..', '/pods/__proto__', '/pods/constructor', '/pods/system:node:a b', '/pods/é😀']) {
        const record = await tested.storage.create(key, text('1'));
        expect(plain(await tested.storage.get(key)), key).toEqual(plain(record));
      }
    });
  });
}
