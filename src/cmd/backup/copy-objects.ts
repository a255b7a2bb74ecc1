import { withResourceVersion } from '#apiserver/storage/cacher/resource-version';
import type { Scheme } from '#apiserver/registry/scheme';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { placeOf, resourcesByPlace } from '#cmd/storage/stored-resources';
import { recordsOf } from './backup-file.ts';

/** Number of concurrent writes, which share transactions. */
const writers = 128;
/** Short-lived entries in which servers advertise themselves; the servers of the new store write their own. */
const momentary = new Set(['masterleases', 'peerserverleases']);

/** A record that kine stores among the objects. */
const healthKey = '/health';

export interface CopyOptions {
  readonly scheme: Scheme;
  /** Lifetime of expiring objects (events) in the destination; their elapsed time is unknown. */
  readonly eventTtlSeconds: number;
  /** Minimum difference between the revisions of the destination and the source; 'restart': no minimum. */
  readonly bump: number | 'restart';
  /** Called every ten seconds while revisions are raised. */
  readonly report?: ((progress: string) => void) | undefined;
}

const reportMs = 10_000;

/**
 * Copies all objects from one store to an empty one. Both provide JSON with resourceVersions. Objects get new revisions above those that
 * clients of the source can know, so that clients which watched the source start a new watch on the destination. With a restart, revisions
 * are lower, and such a client would wait for revisions that it has already seen and miss the events before them. Rejects if a read or
 * write fails; the destination is then unusable.
 */
export async function copyObjects(
  source: Storage,
  destination: Storage,
  { scheme, eventTtlSeconds, bump, report }: CopyOptions,
): Promise<{ readonly objects: number; readonly revision: Revision }> {
  const present = await destination.list('/', { limit: 2 });
  const object = present.records.find(({ key }) => key !== healthKey);
  if (object) throw new Error(`the destination is not empty: it has ${present.count} records, ${object.key} among them`);
  if (bump !== 'restart') await raise(destination, (await source.currentRevision()) + bump, report);
  // The current revision is read, because both stores may be in one etcd whose past revisions have been compacted by the raising.
  const revision = await source.currentRevision();
  const resourceOf = resourcesByPlace(scheme);
  let objects = 0;
  const write = async (record: StorageRecord): Promise<void> => {
    const resource = resourceOf(placeOf(record.key));
    const { value } = record;
    const ttlSeconds = resource && 'ttlSeconds' in resource && resource.ttlSeconds !== undefined ? eventTtlSeconds : undefined;
    await destination.create(record.key, (at) => (resource ? withResourceVersion(value, at) : value), { ttlSeconds });
    objects += 1;
  };
  const records = recordsOf(source, revision);
  const work = async (): Promise<void> => {
    for (let next = await records.next(); !next.done; next = await records.next())
      if (next.value.key !== healthKey && !momentary.has(placeOf(next.value.key).split('/', 1)[0]!)) await write(next.value);
  };
  await Promise.all(Array.from({ length: writers }, work));
  const last = await destination.currentRevision();
  // Compaction forces clients with a revision of the source to list again, instead of receiving this copy's writes as events.
  await destination.compact(last);
  return { objects, revision: last };
}

/** Raises the revision of the destination. Rejects, with the remedy, if that would take too long. */
async function raise(destination: Storage, revision: Revision, report: CopyOptions['report']): Promise<void> {
  if (!destination.raiseRevision) throw new Error('the destination cannot be written to');
  const began = performance.now();
  const first = await destination.currentRevision();
  const reportProgress = async (): Promise<void> => {
    const made = (await destination.currentRevision()) - first;
    const left = Math.round((((performance.now() - began) / made) * (revision - first - made)) / 1_000);
    report?.(`raising revisions: ${made} of ${revision - first}, about ${left} s remaining`);
  };
  const timer = setInterval(() => void reportProgress().catch(() => {}), reportMs);
  try {
    await destination.raiseRevision(revision);
  } finally {
    clearInterval(timer);
  }
}
