import { UnavailableError } from './errors.ts';
import type { GetOptions, ListOptions, ListResult, Revision, Storage, StorageEvent, StorageRecord } from './storage.ts';

/**
 * A store with a single revision that supports only lists: a backup or a snapshot. Other methods reject with
 * UnavailableError.
 */
export abstract class ReadOnlyStorage implements Storage {
  abstract currentRevision(): Promise<Revision>;
  abstract list(prefix: string, options?: ListOptions): Promise<ListResult>;
  abstract close(): Promise<void>;

  async get(key: string, options?: GetOptions): Promise<StorageRecord | undefined> {
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const { records } = await this.list(prefix, { ...options, from: key, limit: 1 });
    return records[0]?.key === key ? records[0] : undefined;
  }

  create(): Promise<StorageRecord> {
    return refused();
  }
  update(): Promise<StorageRecord> {
    return refused();
  }
  delete(): Promise<{ readonly record: StorageRecord; readonly revision: Revision }> {
    return refused();
  }
  compact(): Promise<void> {
    return refused();
  }

  // biome-ignore lint/correctness/useYield: there is nothing that could happen
  async *watch(): AsyncGenerator<StorageEvent, void> {
    await refused();
  }

  compactRevision(): Promise<Revision> {
    return this.currentRevision();
  }
  async healthy(): Promise<void> {}
}

function refused(): Promise<never> {
  return Promise.reject(new UnavailableError('storage: this store is read-only'));
}
