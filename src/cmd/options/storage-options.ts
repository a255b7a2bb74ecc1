import { Min } from 'class-validator';
import type { StorageOverride } from '#cmd/server-config';
import { Check, Flag, Warn } from './flag.ts';

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const alwaysCached = 'watches and lists are always served by the watch cache';

/** Values of `--storage-backend` that name built-in backends. Packages may add others. */
export const ownBackends: readonly string[] = ['embedded', 'memory', 'etcd3', 'redis'];

/** A flag that applies only to etcd. */
function etcdOnly<T>(flag: string, unset: T): PropertyDecorator {
  return Check<StorageOptions>((value: T, { storageBackend }) =>
    storageBackend === 'etcd3' || value === unset ? undefined : `--${flag} is for --storage-backend=etcd3`,
  );
}

/** A flag that applies only to redis. */
function redisOnly<T>(flag: string, unset: T): PropertyDecorator {
  return Check<StorageOptions>((value: T, { storageBackend }) =>
    storageBackend === 'redis' || value === unset ? undefined : `--${flag} is for --storage-backend=redis`,
  );
}

/**
 * Parses a value of `--etcd-servers-overrides`; undefined if it is invalid. Upstream: apiserver/pkg/server/options/etcd.go
 * (ParseEtcdServersOverrides).
 */
export function parseOverride(text: string): StorageOverride | undefined {
  const [, group, resource, servers] = /^([^/#]*)\/([^/#]*)#([^#]*)$/.exec(text) ?? [];
  const urls = servers?.split(';') ?? [];
  if (group === undefined || resource === undefined || urls.includes('')) return undefined;
  return { group, resource, servers: urls };
}

/** Storage backend and its options. Upstream: apiserver/pkg/server/options/etcd.go. */
export class StorageOptions {
  @Flag('storage-backend')
  storageBackend = 'embedded';

  /** URL of a redis server, version 7.0 or newer. Several API servers may share it. */
  @Flag('redis-url')
  @Check<StorageOptions>((url: string, { storageBackend }) => {
    if (storageBackend !== 'redis') return url === '' ? undefined : '--redis-url is for --storage-backend=redis';
    return /^rediss?:\/\/[^/]/.test(url)
      ? undefined
      : '--storage-backend=redis needs --redis-url=redis://[USER:PASSWORD@]HOST:PORT[/DATABASE] (rediss: for TLS)';
  })
  redisUrl = '';

  /** Prefix of all keys in redis. */
  @Flag('redis-key-prefix')
  @redisOnly('redis-key-prefix', 'kubenest')
  @Check<StorageOptions>((prefix: string) =>
    /^[\w./{}-]+$/.test(prefix) ? undefined : '--redis-key-prefix must be of letters, digits and ._/{}-',
  )
  redisKeyPrefix = 'kubenest';

  /** True if the server accepts redis settings under which acknowledged writes can be lost. */
  @Flag('redis-accept-data-loss')
  @redisOnly('redis-accept-data-loss', false)
  redisAcceptDataLoss = false;

  /** Number of replicas that must have logged a write before it is acknowledged (redis 7.2). */
  @Flag('redis-synced-replicas')
  @redisOnly('redis-synced-replicas', 0)
  @Min(0, { message: '--redis-synced-replicas must not be negative' })
  redisSyncedReplicas = 0;

  /** Authority of the redis server's certificate; empty: the authorities of the system. */
  @Flag('redis-cafile')
  @redisOnly('redis-cafile', '')
  redisCafile = '';

  /** Client certificate that the server presents to redis. */
  @Flag('redis-certfile')
  @redisOnly('redis-certfile', '')
  @Check<StorageOptions>((file: string, { redisKeyfile }) =>
    (file === '') === (redisKeyfile === '') ? undefined : '--redis-certfile and --redis-keyfile are needed together',
  )
  redisCertfile = '';

  @Flag('redis-keyfile')
  @redisOnly('redis-keyfile', '')
  redisKeyfile = '';

  /** Members of one etcd cluster; if a member fails, the others are used. */
  @Flag('etcd-servers')
  @Check<StorageOptions>((servers: readonly string[], { storageBackend }) => {
    if (storageBackend !== 'etcd3') return servers.length === 0 ? undefined : '--etcd-servers is for --storage-backend=etcd3';
    if (servers.length === 0) return '--etcd-servers must be specified';
    return servers
      .filter((server) => !/^(https?:\/\/[^/]|unix:\/\/)/.test(server) || !URL.canParse(server))
      .map((server) => `--etcd-servers: ${JSON.stringify(server)} must be http://HOST:PORT, https://HOST:PORT or unix://PATH`);
  })
  etcdServers: readonly string[] = [];

  /** `group/resource#servers`: resources that another etcd stores. */
  @Flag('etcd-servers-overrides')
  @Check<StorageOptions>((overrides: readonly string[], { storageBackend }) => {
    if (overrides.some((text) => !parseOverride(text)))
      return '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated';
    return overrides.length === 0 || storageBackend === 'etcd3' ? undefined : '--etcd-servers-overrides is for --storage-backend=etcd3';
  })
  etcdServersOverrides: readonly string[] = [];

  @Flag('etcd-prefix')
  @etcdOnly('etcd-prefix', '/registry')
  @Check<StorageOptions>((prefix: string) =>
    /^\/?[\w.-]+(\/[\w.-]+)*\/?$/.test(prefix)
      ? undefined
      : '--etcd-prefix must be segments of letters, digits and ._- with / between them',
  )
  etcdPrefix = '/registry';

  @Flag('etcd-cafile')
  @etcdOnly('etcd-cafile', '')
  etcdCafile = '';

  @Flag('etcd-certfile')
  @etcdOnly('etcd-certfile', '')
  @Check<StorageOptions>((file: string, { etcdKeyfile }) =>
    (file === '') === (etcdKeyfile === '') ? undefined : '--etcd-certfile and --etcd-keyfile are needed together',
  )
  etcdCertfile = '';

  @Flag('etcd-keyfile')
  @etcdOnly('etcd-keyfile', '')
  etcdKeyfile = '';

  /** Compaction interval in milliseconds; 0: this server does not compact. */
  @Flag('etcd-compaction-interval')
  @etcdOnly('etcd-compaction-interval', 300_000)
  @Min(0, { message: '--etcd-compaction-interval can not be negative value' })
  etcdCompactionInterval = 300_000;

  /** Keys whose expiry times differ by at most this many seconds share a lease. */
  @Flag('lease-reuse-duration-seconds')
  leaseReuseDurationSeconds = 60;

  /** False: deletions set no finalizers for the garbage collector. */
  @Flag('enable-garbage-collector')
  enableGarbageCollector = true;

  /** Timeout in milliseconds of the storage check of /healthz and /livez. */
  @Flag('etcd-healthcheck-timeout')
  @etcdOnly('etcd-healthcheck-timeout', 2_000)
  @Min(1, { message: '--etcd-healthcheck-timeout must be above 0' })
  etcdHealthcheckTimeout = 2_000;

  /** Timeout in milliseconds of the storage check of /readyz. */
  @Flag('etcd-readycheck-timeout')
  @etcdOnly('etcd-readycheck-timeout', 2_000)
  @Min(1, { message: '--etcd-readycheck-timeout must be above 0' })
  etcdReadycheckTimeout = 2_000;

  /** No effect, as upstream since 1.19: caches size themselves. */
  @Flag('default-watch-cache-size')
  @Warn<StorageOptions>((size: number) => (size > 0 ? undefined : `--default-watch-cache-size=${size} has no effect: ${alwaysCached}`))
  defaultWatchCacheSize = 100;

  /** Maximum time in milliseconds that readiness waits for the caches to be filled; 0: no wait. */
  @Flag('storage-initialization-timeout')
  @Min(0, { message: '--storage-initialization-timeout can not be negative value' })
  storageInitializationTimeout = 60_000;

  /** 0 disables the metrics of object counts and sizes. Any other value has them computed when they are read. */
  @Flag('etcd-count-metric-poll-period')
  @Min(0, { message: '--etcd-count-metric-poll-period can not be negative value' })
  etcdCountMetricPollPeriod = 60_000;

  /** 0 disables the metric of the store's size. */
  @Flag('etcd-db-metric-poll-interval')
  @Min(0, { message: '--etcd-db-metric-poll-interval can not be negative value' })
  etcdDbMetricPollInterval = 30_000;

  /** No effect, as upstream since 1.19: caches size themselves. Only a size of 0 causes a warning. */
  @Flag('watch-cache-sizes')
  @Check<StorageOptions>((sizes: readonly string[]) =>
    sizes.filter((size) => !/^[^#]+#\d+$/.test(size)).map((size) => `invalid value of watch cache size: ${size}`),
  )
  @Warn<StorageOptions>((sizes: readonly string[]) =>
    sizes.some((size) => /#0+$/.test(size)) ? `--watch-cache-sizes: a size of 0 has no effect: ${alwaysCached}` : undefined,
  )
  watchCacheSizes: readonly string[] = [];

  /** The embedded store holds JSON. It accepts the default of other backends without a warning. */
  @Flag('storage-media-type')
  @Check<StorageOptions>((type: string) => {
    return mediaTypes.includes(type)
      ? undefined
      : `--storage-media-type ${JSON.stringify(type)} invalid, allowed values: ${mediaTypes.join(', ')}`;
  })
  @Warn<StorageOptions>((type: string) =>
    type === 'application/yaml'
      ? '--storage-media-type=application/yaml has no effect: objects are stored as JSON, which is YAML, too'
      : undefined,
  )
  storageMediaType = 'application/vnd.kubernetes.protobuf';

  /** Path of a file of kind EncryptionConfiguration: resources that are encrypted at rest, and their keys. */
  @Flag('encryption-provider-config')
  encryptionProviderConfig = '';

  /** True if the server reloads the file when it changes. */
  @Flag('encryption-provider-config-automatic-reload')
  @Check<StorageOptions>((on: boolean, { encryptionProviderConfig }) =>
    on && encryptionProviderConfig === ''
      ? '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config'
      : undefined,
  )
  encryptionProviderConfigAutomaticReload = false;
}
