import { withResourceVersion } from '#apiserver/storage/cacher/resource-version';
import type { Scheme } from '#apiserver/registry/scheme';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { placeOf, resourcesByPlace } from '#cmd/storage/stored-resources';
import { recordsOf } from './backup-file.ts';

/** Writes under way at the same time: they share transactions. */
const writers = 128;
/** What servers say of themselves, for seconds only: those of the new store say it anew. */
const momentary = new Set(['masterleases', 'peerserverleases']);

/** What kine keeps of its own among the objects. */
const healthKey = '/health';

export interface CopyOptions {
  readonly scheme: Scheme;
  /** How long objects last that vanish (events); what of it has passed already is not known. */
  readonly eventTtlSeconds: number;
  /** Every revision in the destination is above the source's by so much at least; 'restart': they are as they come. */
  readonly bump: number | 'restart';
  /** Called every ten seconds while revisions are raised. */
  readonly report?: ((progress: string) => void) | undefined;
}

const reportMs = 10_000;

/**
 * Copies all objects from one store to another, which must be empty. Both show JSON with resourceVersions. Objects get new revisions above
 * those that clients of the source can know: whoever watched the source begins anew with the destination. With a restart they do not, and a
 * client that goes on would wait for revisions that it has seen, without the events before them. Rejects if anything cannot be
 * read or written; the destination is then not to be used.
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
  // Of now: both may be in one etcd, whose past raising has compacted.
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
  // Who comes with a revision of the source is to list, not to get the writes of this copy as news.
  await destination.compact(last);
  return { objects, revision: last };
}

/** Rejects where it would take too long, with what is to be done. */
async function raise(destination: Storage, revision: Revision, report: CopyOptions['report']): Promise<void> {
  if (!destination.raiseRevision) throw new Error('the destination cannot be written to');
  const began = performance.now();
  const first = await destination.currentRevision();
  const tell = async (): Promise<void> => {
    const made = (await destination.currentRevision()) - first;
    const left = Math.round((((performance.now() - began) / made) * (revision - first - made)) / 1_000);
    report?.(`revisions are raised: ${made} of ${revision - first}, about ${left} s to go`);
  };
  const timer = setInterval(() => void tell().catch(() => {}), reportMs);
  try {
    await destination.raiseRevision(revision);
  } finally {
    clearInterval(timer);
  }
}
