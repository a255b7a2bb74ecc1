import { beforeEach, it } from 'vitest';
import { reopenableStore, storageConformance } from '#apiserver/storage/conformance';
import { kine, noKine, startKine } from '../../../test/servers/kine-server.ts';
import { EtcdStorage } from './etcd-storage.ts';

const compaction = 'kine compacts by itself, and passes over who asks for it';
const from = 'kine takes the first key of a range as one that was read already';
/** What kine does otherwise than etcd, by the names of the cases. */
const limits: Readonly<Record<string, string>> = {
  'happens once': 'of several deletions of one revision that come at once, kine acknowledges all',
  'tells of an uncounted page whether there is more': from,
  'begins at a key, also at one that is not there': from,
  'forgets the past and keeps the present': compaction,
  'of the newest revision leaves the present': compaction,
  'does nothing the second time, and is refused for the future': compaction,
  'keeps the compaction over a restart, and gives no revision again': compaction,
};

if (kine === undefined) it('needs kine', ({ skip }) => skip(noKine));
else {
  beforeEach(({ task, skip }) => {
    const reason = limits[task.name];
    if (reason !== undefined) skip(reason);
  });
  storageConformance('etcd, on kine', async () => {
    const server = await startKine();
    return reopenableStore(
      () => EtcdStorage.open({ servers: [server.url], prefix: '/store', compactionIntervalMs: 0 }),
      () => server[Symbol.asyncDispose](),
    );
  });
}
