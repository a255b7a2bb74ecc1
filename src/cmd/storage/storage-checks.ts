import type { Registry } from 'prom-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Log } from '#cmd/logging/log';
import { ServerPart } from '#cmd/modules/server-part';
import type { ServerConfig } from '#cmd/server-config';
import { reportDurability } from './durability.ts';
import type { OpenedStorage } from './opened-storage.ts';
import { StorageHealth } from './storage-health.ts';

/** Health checks of the storage, under upstream's names. */
@ServerPart()
export class StorageChecks implements ServerPart, Disposable {
  readonly #health: StorageHealth;

  constructor(
    private readonly config: ServerConfig['storage'],
    private readonly storage: OpenedStorage,
    private readonly parts: { readonly log: Log; readonly registry: Registry },
  ) {
    this.#health = new StorageHealth(storage.objects, parts);
  }

  install(server: GenericServer): void {
    const { encryption, objects, overrides } = this.storage;
    const etcd = this.config.backend === 'etcd' ? this.config : undefined;
    server.addHealthCheck({ name: 'etcd', check: () => this.#health.check(etcd?.healthTimeoutMs) });
    if (encryption && (this.config.encryption?.reloads || encryption.usesKms)) server.addHealthCheck(encryption.healthCheck);
    server.addReadyCheck({ name: 'etcd-readiness', check: () => this.#health.check(etcd?.readyTimeoutMs) });
    if (etcd) overrides?.addChecks(server, etcd);
    reportDurability(server, objects, this.parts);
  }

  [Symbol.dispose](): void {
    this.#health[Symbol.dispose]();
  }
}
