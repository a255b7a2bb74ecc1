import { lowerBound } from '#apiserver/storage/key';
import { ReadOnlyStorage } from '#apiserver/storage/read-only-storage';
import type { ListOptions, ListResult, Revision } from '#apiserver/storage/storage';
import type { Backup } from './backup-file.ts';

/** A read-only store over a backup, for code that reads values from a store. */
export class BackupStorage extends ReadOnlyStorage {
  constructor(private readonly backup: Backup) {
    super();
  }

  async currentRevision(): Promise<Revision> {
    return this.backup.revision;
  }

  async list(prefix: string, { from = prefix, limit = 0 }: ListOptions = {}): Promise<ListResult> {
    const { records, revision } = this.backup;
    const start = lowerBound(records, from, true);
    let end = start;
    while (end < records.length && records[end]!.key.startsWith(prefix)) end++;
    const page = limit > 0 ? Math.min(end, start + limit) : end;
    return { records: records.slice(start, page), revision, more: page < end, count: end - start };
  }

  async close(): Promise<void> {}
}
