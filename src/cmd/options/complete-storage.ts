import { readFile } from 'node:fs/promises';
import { GuardedStorage } from '#apiserver/plugins/guard-storage';
import { contributionsOf, type LoadedContribution } from '#apiserver/plugins/loaded-contribution';
import type { EtcdConfig, RedisConfig, StorageConfig } from '#cmd/server-config';
import { ownBackends, parseOverride, type StorageOptions } from './storage-options.ts';
import type { StorageBackendOptions } from '#apiserver/storage/storage-backend-plugin';

/** Returns the storage backend that a package adds. Throws if no package adds it. */
export function contributedStorage(name: string, plugins: readonly LoadedContribution[]): StorageConfig {
  const found = contributionsOf(plugins, 'StorageBackend').find(({ described }) => described.options.name === name);
  if (!found)
    throw new Error(
      `${JSON.stringify(name)} is unknown: the built-in backends are ${ownBackends.join(', ')}, and no package of the configuration file adds the storage backend ${name}`,
    );
  const { open } = found.described.options as StorageBackendOptions;
  return {
    backend: 'contributed',
    open: (failures) => GuardedStorage.open(() => open(found.configuration ?? {}), found, failures),
  };
}

/**
 * Returns the configuration of the chosen backend. `file` is the embedded store's. Throws if a package adds a backend of a built-in name.
 */
export async function storageOf(
  options: StorageOptions,
  file: string | undefined,
  plugins: readonly LoadedContribution[] = [],
): Promise<StorageConfig> {
  const taken = contributionsOf(plugins, 'StorageBackend').find(({ described }) => ownBackends.includes(described.options.name));
  if (taken) throw new Error(`plugin ${taken.described.options.name}: the server already has a storage backend of this name`);
  if (!ownBackends.includes(options.storageBackend)) return contributedStorage(options.storageBackend, plugins);
  if (options.storageBackend === 'redis') return redisOf(options);
  if (options.storageBackend === 'etcd3') return etcdOf(options);
  return { backend: 'embedded', file };
}

/** Reads the TLS files of a store. Rejects if a file cannot be read. */
async function readTlsFiles(ca: string, certificate: string, key: string): Promise<Pick<EtcdConfig, 'ca' | 'certificate' | 'key'>> {
  const [first, second, third] = await Promise.all([ca, certificate, key].map(async (file) => (file === '' ? undefined : readFile(file))));
  return { ca: first, certificate: second, key: third };
}

async function redisOf(options: StorageOptions): Promise<RedisConfig> {
  return {
    backend: 'redis',
    url: options.redisUrl,
    prefix: options.redisKeyPrefix,
    acceptDataLoss: options.redisAcceptDataLoss,
    syncedReplicas: options.redisSyncedReplicas,
    ...(await readTlsFiles(options.redisCafile, options.redisCertfile, options.redisKeyfile)),
  };
}

async function etcdOf(options: StorageOptions): Promise<EtcdConfig> {
  return {
    backend: 'etcd',
    servers: options.etcdServers,
    overrides:
      options.etcdServersOverrides.length === 0 ? undefined : options.etcdServersOverrides.flatMap((text) => parseOverride(text) ?? []),
    ...(await readTlsFiles(options.etcdCafile, options.etcdCertfile, options.etcdKeyfile)),
    prefix: options.etcdPrefix,
    compactionIntervalMs: options.etcdCompactionInterval,
    leaseReuseSeconds: options.leaseReuseDurationSeconds,
    mediaType: options.storageMediaType === 'application/vnd.kubernetes.protobuf' ? options.storageMediaType : 'application/json',
    healthTimeoutMs: options.etcdHealthcheckTimeout,
    readyTimeoutMs: options.etcdReadycheckTimeout,
  };
}
