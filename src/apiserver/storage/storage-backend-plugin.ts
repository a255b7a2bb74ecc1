import { type ContributionOptions, type ContributedValue, contributedValue } from '#apiserver/plugins/contribution';
import type { CommitFeed, Storage } from './storage.ts';

/** A store that a package adds. */
export interface StorageBackendOptions<T extends object = object> extends ContributionOptions {
  readonly configuration?: new () => T;
  /** Opens it, with the validated configuration. Whatever it rejects with stops the server. */
  open(configuration: T): Promise<Storage & Partial<CommitFeed>>;
}

/**
 * A store that `--storage-backend` may name, by another name than those of the server's own. It must keep the contract of `Storage`, for
 * which `storageConformance` (kubenest/sdk/testing/storage) has the tests.
 */
export function storageBackend<T extends object = object>(options: StorageBackendOptions<T>): ContributedValue {
  return contributedValue('StorageBackend', options);
}
