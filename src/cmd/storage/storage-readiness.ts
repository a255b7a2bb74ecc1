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
  /** `--storage-initialization-timeout`; 0: it does not wait; undefined: upstream's default. */
  readonly timeoutMs: number | undefined;
  /** False with the gate WatchCacheInitializationPostStartHook off: the start waits for nothing, and /readyz tells all the same. */
  readonly waits: boolean;
}

/**
 * The start waits until all that is stored has been read, and goes on after a while without what cannot be read (the key service that
 * decrypts it is not there, say): requests for that learn why, those for everything else are served, and /readyz names it until it can be.
 * Upstream: apiserver/pkg/server/storage_readiness_hook.go, healthz.go (informer-sync).
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
    // It ends with the server, too.
    const isOver = setTimeout(timeoutMs, undefined, { signal, ref: false }).catch(() => {});
    await Promise.race([ready, isOver]);
    const resources = this.#unread();
    if (resources.length > 0) log.warn({ resources }, 'what is stored of some resources cannot be read; everything else is served');
  }

  #unread(): string[] {
    return this.parts.storage.unread().map(groupResourceString);
  }
}
