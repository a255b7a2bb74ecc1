/**
 * Process that dies during the compaction of an embedded store whose last revisions are deletions, so that the compaction
 * removes their rows.
 *
 *     KUBENEST_FAILPOINT=… compaction-death.ts <store>
 *
 * Prints the revision of the store, then compacts it.
 */
import { Buffer } from 'node:buffer';
import { EmbeddedStorage } from '#plugins/storage/embedded/embedded-storage';

const storage = await EmbeddedStorage.open({ file: process.argv[2] as string, compactionIntervalMs: 0 });
for (let i = 0; i < 300; i++) await storage.create(`/r/${i}`, () => Buffer.from(String(i)));
const { records } = await storage.list('/r/');
for (const { key, revision } of records) await storage.delete(key, revision);
const revision = await storage.currentRevision();
process.stdout.write(String(revision));
await storage.compact(revision);
