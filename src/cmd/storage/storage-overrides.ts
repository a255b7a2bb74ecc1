import type { Scheme } from '#apiserver/registry/scheme';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { CommitFeed, Storage } from '#apiserver/storage/storage';
import type { EtcdConfig, StorageOverride } from '#cmd/server-config';

type Opened = Storage & Partial<CommitFeed>;

/**
 * Stores of single resources beside the common store. Resources with the same servers share a store. Upstream:
 * apiserver/pkg/server/options/etcd.go (EtcdServersOverrides).
 */
export class StorageOverrides {
  private constructor(
    private readonly stores: readonly Opened[],
    /** Stores by the storage path of objects. */
    readonly byPlace: ReadonlyMap<string, Opened>,
  ) {}

  /** Opens the stores. `open`: opens the store of a list of servers. Rejects, and leaves none open, if one of them cannot be opened. */
  static async open(
    overrides: readonly StorageOverride[],
    scheme: Scheme,
    open: (servers: readonly string[]) => Promise<Opened>,
  ): Promise<StorageOverrides> {
    const byServers = new Map<string, Opened>();
    const byPlace = new Map<string, Opened>();
    try {
      for (const { group, resource, servers } of overrides) {
        const key = servers.toSorted().join(';');
        const store = byServers.get(key) ?? (await open(servers));
        byServers.set(key, store);
        const place = scheme.resource({ group, resource })?.storagePath;
        if (place !== undefined) byPlace.set(place, store);
      }
    } catch (error) {
      await Promise.all([...byServers.values()].map((store) => store.close()));
      throw error;
    }
    return new StorageOverrides([...byServers.values()], byPlace);
  }

  addChecks(server: GenericServer, { healthTimeoutMs, readyTimeoutMs }: Pick<EtcdConfig, 'healthTimeoutMs' | 'readyTimeoutMs'>): void {
    for (const [index, store] of this.stores.entries()) {
      server.addHealthCheck({ name: `etcd-override-${index}`, check: () => store.healthy(healthTimeoutMs) });
      server.addReadyCheck({ name: `etcd-override-readiness-${index}`, check: () => store.healthy(readyTimeoutMs) });
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.stores.map((store) => store.close()));
  }
}
