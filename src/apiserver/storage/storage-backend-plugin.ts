import { type ContributionOptions, type ContributedValue, contributedValue } from '#apiserver/base/contribution';
import type { CommitFeed, Storage } from './storage.ts';

/** Declaration of a storage backend that a package adds. */
export interface StorageBackendOptions<T extends object = object> extends ContributionOptions {
  readonly configuration?: new () => T;
  /** Opens the store with the validated configuration. A rejection stops the server. */
  open(configuration: T): Promise<Storage & Partial<CommitFeed>>;
}

/**
 * Declares a store for `--storage-backend`, under another name than those of the built-in stores. The store must satisfy the
 * contract of `Storage`, which `storageConformance` (kubenest/sdk/testing/storage) tests.
 */
export function storageBackend<T extends object = object>(options: StorageBackendOptions<T>): ContributedValue {
  return contributedValue('StorageBackend', options);
}
