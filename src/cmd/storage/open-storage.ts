import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import type { EtcdStorageOptions } from '#plugins/storage/etcd/etcd-storage';
import type { StorageConfig } from '#cmd/server-config';

/** Opens the backend that holds the objects; the others are not even loaded. `dial`: how an etcd is reached; `onOperation`: told of each call of one. Rejects with a StorageError where that fails. */
export async function openStorage(
  config: StorageConfig,
  { dial, onOperation }: Pick<EtcdStorageOptions, 'dial' | 'onOperation'> = {},
): Promise<Storage & Partial<CommitFeed>> {
  switch (config.backend) {
    case 'embedded': {
      const { EmbeddedStorage } = await import('#plugins/storage/embedded/embedded-storage');
      return EmbeddedStorage.open({ file: config.file });
    }
    case 'contributed':
      return config.open();
    case 'redis': {
      const { RedisStorage } = await import('#plugins/storage/redis/redis-storage');
      return RedisStorage.open(config);
    }
    case 'etcd': {
      const { openEtcdStorage } = await import('#plugins/storage/etcd/open-etcd-storage');
      return openEtcdStorage({ ...config, dial, onOperation });
    }
  }
}
