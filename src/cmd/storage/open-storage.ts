import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import type { StorageConfig } from '#cmd/server-config';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import { storageBackends, storageOptionsOf } from './storage-backends.ts';

/**
 * Opens the storage backend. `dial` creates the connections to an etcd, and `onOperation` is called after each etcd operation. `backends`:
 * the available backends. Rejects with a StorageError if the backend cannot be opened.
 */
export async function openStorage(
  config: StorageConfig,
  hooks: Pick<EtcdStorageOptions, 'dial' | 'onOperation'> = {},
  backends: readonly object[] = storageBackends,
): Promise<Storage & Partial<CommitFeed>> {
  if (config.backend === 'contributed') throw new Error('the storage backend of a package opens only in its server');
  const found = backends.map(storageOptionsOf).find(({ name }) => name === config.backend);
  if (!found) throw new Error(`unknown storage backend ${JSON.stringify(config.backend)}`);
  return found.open({ ...config, ...hooks });
}
