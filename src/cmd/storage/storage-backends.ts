import { type ContributedValue, describe } from '#apiserver/base/contribution';
import { type StorageBackendOptions, storageBackend } from '#apiserver/storage/storage-backend-plugin';
import type { EtcdConfig, RedisConfig } from '#cmd/server-config';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';

/** Built-in backends, by their names in StorageConfig. Only the opened backend is loaded. */
export const storageBackends: readonly ContributedValue[] = [
  storageBackend<{ readonly file: string | undefined }>({
    name: 'embedded',
    async open({ file }) {
      const { EmbeddedStorage } = await import('#plugins/storage/embedded/embedded-storage');
      return EmbeddedStorage.open({ file });
    },
  }),
  storageBackend<RedisConfig>({
    name: 'redis',
    async open(config) {
      const { RedisStorage } = await import('#plugins/storage/redis/redis-storage');
      return RedisStorage.open(config);
    },
  }),
  storageBackend<EtcdConfig & Pick<EtcdStorageOptions, 'dial'>>({
    name: 'etcd',
    async open(config) {
      const { openEtcdStorage } = await import('#plugins/storage/etcd/open-etcd-storage');
      return openEtcdStorage(config);
    },
  }),
];

/** Returns the options with which a backend is opened. */
export function storageOptionsOf(backend: object): StorageBackendOptions {
  return describe(backend)?.options as StorageBackendOptions;
}
