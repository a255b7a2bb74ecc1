import { Buffer } from 'node:buffer';
import { beforeEach, describe, expect, it } from 'vitest';
import { reopenableStore, storageConformance } from '#sdk/testing/storage';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import { kine, noKine, startKine } from '../../../test/servers/kine-server.ts';
import type { EtcdStorage } from './etcd-storage.ts';
import { openEtcdStorage } from './open-etcd-storage.ts';

const compaction = 'kine compacts by itself and does not record the compactions of others (sqllog/sql.go, Compact)';
/** Known differences of kine from etcd by test case. */
const limits: Readonly<Record<string, string>> = {
  'removes past states and keeps the current one': compaction,
  'of the newest revision keeps the current state': compaction,
  'has no effect when repeated and rejects a future revision': compaction,
  'keeps the compact revision across a restart and reuses no revision': compaction,
};

if (kine === undefined) it('requires kine', ({ skip }) => skip(noKine));
else {
  describe('etcd storage on kine', () => {
    beforeEach(({ task, skip }) => {
      const reason = limits[task.name];
      if (reason !== undefined) skip(reason);
    });
    storageConformance('etcd, on kine', async () => {
      const server = await startKine();
      return reopenableStore(
        () => openEtcdStorage({ servers: [server.url], prefix: '/store', compactionIntervalMs: 0 }),
        () => server[Symbol.asyncDispose](),
      );
    });
  });

  it('sees the latest deletion of another server immediately', async () => {
    await using server = await startKine();
    const open = (): Promise<EtcdStorage> => openEtcdStorage({ servers: [server.url], prefix: '/store', compactionIntervalMs: 0 });
    const [one, other] = [await open(), await open()];
    for (let i = 0; i < 100; i++) {
      const created = await one.create('/pods/a', () => Buffer.from('1'));
      const { revision } = await one.delete('/pods/a', created.revision);
      expect(await Promise.all([other.currentRevision(), other.list('/pods/')])).toEqual([
        revision,
        { records: [], revision, more: false, count: 0 },
      ]);
      expect(await other.get('/pods/a', { revision })).toBeUndefined();
    }
    for (const storage of [one, other]) await storage.close();
  });

  it('ignores a record of another key that SQL matches by its pattern', async () => {
    await using server = await startKine();
    const storage = await openEtcdStorage({ servers: [server.url], compactionIntervalMs: 0 });
    const text = (): Buffer => Buffer.from('1');
    const { revision } = await storage.create('/clusterroles/axb', text);
    for (const key of ['/clusterroles/a_b', '/clusterroles/AXB']) {
      expect(await storage.get(key)).toBeUndefined();
      await expect(storage.update(key, revision, text)).rejects.toThrow(ConflictError);
      await expect(storage.delete(key, revision)).rejects.toThrow(ConflictError);
      // While the other key exists.
      await expect(storage.create(key, text)).rejects.toThrow(KeyExistsError);
    }
    expect((await storage.get('/clusterroles/axb'))?.revision).toBe(revision);
    await storage.close();
  });
}
