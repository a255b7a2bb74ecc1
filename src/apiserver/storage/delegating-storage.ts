import type {
  CommitFeed,
  Encode,
  GetOptions,
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageEvent,
  StorageRecord,
  WriteOptions,
} from './storage.ts';

/** A storage decorator: subclasses implement reads and writes, everything else is forwarded to the wrapped storage. */
export abstract class DelegatingStorage implements Storage {
  constructor(protected readonly storage: Storage & Partial<CommitFeed>) {}

  abstract get(key: string, options?: GetOptions): Promise<StorageRecord | undefined>;
  abstract list(prefix: string, options?: ListOptions): Promise<ListResult>;
  abstract create(key: string, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  abstract update(key: string, expected: Revision, encode: Encode, options?: WriteOptions): Promise<StorageRecord>;
  abstract delete(key: string, expected: Revision): Promise<{ readonly record: StorageRecord; readonly revision: Revision }>;
  abstract watch(prefix: string, from: Revision, signal: AbortSignal): AsyncIterable<StorageEvent>;

  currentRevision(): Promise<Revision> {
    return this.storage.currentRevision();
  }

  get sharesRevision(): boolean {
    return this.storage.sharesRevision ?? false;
  }

  get verifiesValues(): boolean {
    return this.storage.verifiesValues ?? false;
  }

  async requestProgress(): Promise<void> {
    await this.storage.requestProgress?.();
  }

  needsRewrite(key: string): boolean {
    return this.storage.needsRewrite?.(key) ?? false;
  }

  compact(revision: Revision): Promise<void> {
    return this.storage.compact(revision);
  }

  compactRevision(): Promise<Revision> {
    return this.storage.compactRevision();
  }

  healthy(timeoutMs?: number): Promise<void> {
    return this.storage.healthy(timeoutMs);
  }

  close(): Promise<void> {
    return this.storage.close();
  }
}
