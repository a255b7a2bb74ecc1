import { setTimeout } from 'node:timers/promises';
import { groupResourceString } from '#apimachinery/api/errors';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Log } from '#cmd/logging/log';
import { ServerPart } from '#cmd/modules/server-part';

/** Upstream's default. */
const defaultTimeoutMs = 60_000;

export interface StorageReadinessParts {
  readonly storage: StorageFactory;
  readonly log: Log;
  /** `--storage-initialization-timeout`; 0: no wait; undefined: upstream's default. */
  readonly timeoutMs: number | undefined;
  /**
   * False with the gate WatchCacheInitializationPostStartHook disabled: the start does not wait, but /readyz still reports unread
   * resources.
   */
  readonly waits: boolean;
}

/**
 * Delays the end of the start until all stored objects have been read, or until a timeout if some cannot be read (for example because the
 * key service that decrypts them is unavailable). After the timeout, requests for unread resources fail with the reason, requests for all
 * others are served, and /readyz lists the unread resources. Upstream: apiserver/pkg/server/storage_readiness_hook.go, healthz.go
 * (informer-sync).
 */
@ServerPart()
export class StorageReadiness implements ServerPart {
  constructor(private readonly parts: StorageReadinessParts) {}

  install(server: GenericServer): void {
    server.addReadyCheck({
      name: 'informer-sync',
      check: () => {
        const names = this.#unread();
        if (names.length > 0) throw new Error(`${names.length} informers not started yet: [${names.join(' ')}]`);
      },
    });
    if (this.parts.waits) server.hooks.addPostStart({ name: 'storage-readiness', run: (signal) => this.#wait(signal) });
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { storage, log, timeoutMs = defaultTimeoutMs } = this.parts;
    const ready = storage.whenReady();
    ready.catch(() => {});
    // The timer also ends when the server shuts down.
    const isOver = setTimeout(timeoutMs, undefined, { signal, ref: false }).catch(() => {});
    await Promise.race([ready, isOver]);
    const resources = this.#unread();
    if (resources.length > 0) log.warn({ resources }, 'cannot read the stored objects of some resources; all other resources are served');
  }

  #unread(): string[] {
    return this.parts.storage.unread().map(groupResourceString);
  }
}
