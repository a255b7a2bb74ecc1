import { setTimeout } from 'node:timers/promises';
import { groupResourceString } from '#apimachinery/api/errors';
import type { StorageFactory } from '#apiserver/registry/storage-factory';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Log } from './log.ts';

export interface StorageReadinessParts {
  readonly storage: StorageFactory;
  readonly log: Log;
  /** `--storage-initialization-timeout`; 0: however long it takes. */
  readonly timeoutMs: number;
}

/**
 * The server says that it is ready once all that is stored has been read, and after a while also without what cannot be read (a
 * key service that decrypts it is not there, say): requests for that learn why, those for everything else are served.
 * Upstream: apiserver/pkg/server/storage_readiness_hook.go, healthz.go (informer-sync).
 */
export function addStorageReadiness(server: GenericServer, { storage, log, timeoutMs }: StorageReadinessParts): void {
  const unread = (): string[] => storage.unread().map(groupResourceString);
  server.addReadyCheck({
    name: 'informer-sync',
    check() {
      const names = unread();
      if (names.length > 0) throw new Error(`${names.length} informers not started yet: [${names.join(' ')}]`);
    },
  });
  server.hooks.addPostStart({
    name: 'storage-readiness',
    async run(signal) {
      const ready = storage.whenReady();
      ready.catch(() => {});
      const isOver = timeoutMs > 0 ? setTimeout(timeoutMs, undefined, { signal, ref: false }) : new Promise<never>(() => {});
      const isEnding = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([ready, isOver.catch(() => {}), isEnding]);
      const resources = unread();
      if (resources.length > 0) log.warn({ resources }, 'what is stored of some resources cannot be read; everything else is served');
    },
  });
}
