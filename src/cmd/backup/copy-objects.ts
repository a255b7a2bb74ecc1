import { withResourceVersion } from '#apiserver/storage/cacher/resource-version';
import type { Scheme } from '#apiserver/registry/scheme';
import type { Revision, Storage, StorageRecord } from '#apiserver/storage/storage';
import { placeOf, resourcesByPlace } from '#cmd/stored-resources';
import { recordsOf } from './backup-file.ts';

/** Writes under way at the same time: they share transactions. */
const writers = 128;
/** What servers say of themselves, for seconds only: those of the new store say it anew. */
const momentary = new Set(['masterleases', 'peerserverleases']);

export interface CopyOptions {
  readonly scheme: Scheme;
  /** How long objects last that vanish (events); what of it has passed already is not known. */
  readonly eventTtlSeconds: number;
  /** Every revision in the destination is above the source's by so much at least. */
  readonly bump: number;
}

/**
 * Copies all objects from one store to another, which must be empty. Both show JSON with resourceVersions. Objects get new revisions above
 * those that clients of the source can know: whoever watched the source begins anew with the destination. Rejects if anything cannot be
 * read or written; the destination is then not to be used.
 */
export async function copyObjects(
  source: Storage,
  destination: Storage,
  { scheme, eventTtlSeconds, bump }: CopyOptions,
): Promise<{ readonly objects: number; readonly revision: Revision }> {
  const present = await destination.list('/', { limit: 1 });
  if (present.count > 0)
    throw new Error(`the destination is not empty: it has ${present.count} records, ${present.records[0]?.key} among them`);
  if (!destination.raiseRevision) throw new Error('the destination cannot be written to');
  const revision = await source.currentRevision();
  await destination.raiseRevision(revision + bump);
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
      if (!momentary.has(placeOf(next.value.key).split('/', 1)[0]!)) await write(next.value);
  };
  await Promise.all(Array.from({ length: writers }, work));
  const last = await destination.currentRevision();
  // Who comes with a revision of the source is to list, not to get the writes of this copy as news.
  await destination.compact(last);
  return { objects, revision: last };
}
