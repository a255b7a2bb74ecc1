import { Check, Flag } from './flag.ts';

const mediaTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/** Which store holds the objects. Upstream: apiserver/pkg/server/options/etcd.go. */
export class StorageOptions {
  @Flag('storage-backend')
  @Check<StorageOptions>((backend: string) => {
    if (backend === 'embedded' || backend === 'memory' || backend === 'redis') return undefined;
    if (backend === 'etcd3') return `--storage-backend=${backend} is not implemented yet; implemented are embedded, memory and redis`;
    return `--storage-backend ${JSON.stringify(backend)} is unknown, it must be embedded, memory, etcd3 or redis`;
  })
  storageBackend = 'embedded';

  /** One redis server, 7.0 or newer, that several API servers may share. */
  @Flag('redis-url')
  @Check<StorageOptions>((url: string, { storageBackend }) => {
    if (storageBackend !== 'redis') return url === '' ? undefined : '--redis-url is for --storage-backend=redis';
    return /^rediss?:\/\/[^/]/.test(url)
      ? undefined
      : '--storage-backend=redis needs --redis-url=redis://[USER:PASSWORD@]HOST:PORT[/DATABASE] (rediss: for TLS)';
  })
  redisUrl = '';

  /** Of all keys of the store in redis. */
  @Flag('redis-key-prefix')
  @Check<StorageOptions>((prefix: string) =>
    /^[\w./{}-]+$/.test(prefix) ? undefined : '--redis-key-prefix must be of letters, digits and ._/{}-',
  )
  redisKeyPrefix = 'kubenest';

  /** Opens a redis whose settings let acknowledged writes be lost. */
  @Flag('redis-accept-data-loss')
  redisAcceptDataLoss = false;

  /** The embedded store holds JSON. The default of other backends is accepted, too, and is no wish that it be another. */
  @Flag('storage-media-type')
  @Check<StorageOptions>((type: string) => {
    if (type === 'application/json' || type === 'application/vnd.kubernetes.protobuf') return undefined;
    if (mediaTypes.includes(type)) return `--storage-media-type=${type} is not implemented yet`;
    return `--storage-media-type ${JSON.stringify(type)} invalid, allowed values: ${mediaTypes.join(', ')}`;
  })
  storageMediaType = 'application/vnd.kubernetes.protobuf';

  /** A file of kind EncryptionConfiguration: what is encrypted at rest, and by which keys. */
  @Flag('encryption-provider-config')
  encryptionProviderConfig = '';

  /** The file is read again when it changes. */
  @Flag('encryption-provider-config-automatic-reload')
  @Check<StorageOptions>((on: boolean, { encryptionProviderConfig }) =>
    on && encryptionProviderConfig === ''
      ? '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config'
      : undefined,
  )
  encryptionProviderConfigAutomaticReload = false;
}
