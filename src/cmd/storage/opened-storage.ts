import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { Scheme } from '#apiserver/registry/scheme';
import type { EgressSelector } from '#apiserver/network/egress-selector/egress-selector';
import type { FeatureGates } from '#apiserver/base/feature-gates';
import { cborGate } from '#apiserver/endpoints/handlers/negotiation';
import type { PluginFailures } from '#apiserver/plugins/plugin-failures';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import type { Log } from '#cmd/logging/log';
import type { ServerConfig } from '#cmd/server-config';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { Encryption } from './encryption.ts';
import { registerEtcdMetrics } from './etcd-metrics.ts';
import { objectsIn } from './object-forms.ts';
import { openStorage } from './open-storage.ts';
import { StorageOverrides } from './storage-overrides.ts';

export interface OpenedStorageParts {
  readonly scheme: Scheme;
  readonly registry: Registry;
  readonly features: FeatureGates;
  readonly log: Log;
  readonly egress: EgressSelector | undefined;
  /** Available backends. */
  readonly backends: readonly object[];
  /** Records the faults of the backend of a package. */
  readonly failures: PluginFailures;
}

type Backend = Storage & Partial<CommitFeed>;

/** The open storage: the backend, the encryption of its values, and the backends of single resources. */
export class OpenedStorage implements AsyncDisposable {
  private constructor(
    /** Values in the form that stores and caches read. */
    readonly objects: Backend,
    readonly encryption: Encryption | undefined,
    readonly overrides: StorageOverrides | undefined,
    private readonly opened: AsyncDisposableStack,
  ) {}

  /** Opens the storage. Rejects with a StorageError, and leaves nothing open, if a backend cannot be opened. */
  static async open(
    config: ServerConfig['storage'],
    { scheme, registry, features, log, egress, backends, failures }: OpenedStorageParts,
  ): Promise<OpenedStorage> {
    await using opened = new AsyncDisposableStack();
    const etcd = config.backend === 'etcd' ? config : undefined;
    const toEtcd = etcd && { dial: egress?.dial('etcd'), onOperation: registerEtcdMetrics(registry, scheme) };
    const hasCbor = features.enabled(cborGate);
    const backend = config.backend === 'contributed' ? await config.open(failures) : await openStorage(config, toEtcd, backends);
    let encrypted: Encryption | undefined;
    let objects: Backend | undefined;
    opened.defer(async () => {
      await (objects ?? backend).close();
      await encrypted?.[Symbol.asyncDispose]();
    });
    if (config.encryption)
      encrypted = await Encryption.open(config.encryption.rules, {
        storage: backend,
        scheme,
        registry,
        log,
        apiServerId: apiServerId(hostname()),
      });
    const openServers = async (servers: readonly string[]): Promise<Backend> => {
      const other = await openStorage({ ...(etcd as NonNullable<typeof etcd>), servers }, toEtcd, backends);
      return objectsIn(encrypted?.wrap(other) ?? other, scheme, etcd?.mediaType, hasCbor);
    };
    const overrides = etcd?.overrides && (await StorageOverrides.open(etcd.overrides, scheme, openServers));
    if (overrides) opened.defer(() => overrides.close());
    objects = objectsIn(encrypted?.storage ?? backend, scheme, etcd?.mediaType, hasCbor);
    return new OpenedStorage(objects, encrypted, overrides, opened.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened.disposeAsync();
  }
}
