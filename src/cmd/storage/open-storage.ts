import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import type { StorageConfig } from '#cmd/server-config';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import { storageBackends, storageOptionsOf } from './storage-backends.ts';

/**
 * Opens the backend that holds the objects. `dial` makes the connections to an etcd, `onOperation` is called after each operation of one.
 * `backends`: where the backend is looked up. Rejects with a StorageError where it cannot be opened.
 */
export async function openStorage(
  config: StorageConfig,
  hooks: Pick<EtcdStorageOptions, 'dial' | 'onOperation'> = {},
  backends: readonly object[] = storageBackends,
): Promise<Storage & Partial<CommitFeed>> {
  if (config.backend === 'contributed') return config.open();
  const found = backends.map(storageOptionsOf).find(({ name }) => name === config.backend);
  if (!found) throw new Error(`unknown storage backend ${JSON.stringify(config.backend)}`);
  return found.open({ ...config, ...hooks });
}
