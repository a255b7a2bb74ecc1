import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcd, type EtcdServer, noEtcd, startEtcd } from '../../../test/servers/etcd-server.ts';
import { storageConformance } from '#apiserver/storage/conformance';
import { EtcdStorage } from './etcd-storage.ts';

if (etcd === undefined) it('needs an etcd', ({ skip }) => skip(noEtcd));
else {
  describe('etcd', () => {
    let server: EtcdServer;
    let stores = 0;
    beforeAll(async () => {
      server = await startEtcd();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    storageConformance('etcd', async () => {
      const prefix = `/store${++stores}`;
      const opened: EtcdStorage[] = [];
      const open = async (): Promise<EtcdStorage> => {
        const storage = await EtcdStorage.open({ servers: [server.url], prefix, compactionIntervalMs: 0 });
        opened.push(storage);
        return storage;
      };
      return {
        storage: await open(),
        async reopen() {
          await opened.at(-1)?.close();
          return open();
        },
        async cleanup() {
          for (const storage of opened) await storage.close();
        },
      };
    });
  });

  it('a server that is not there is refused', async () => {
    await expect(EtcdStorage.open({ servers: ['http://127.0.0.1:1'] })).rejects.toThrow(/etcd: No connection established/);
  });
}
