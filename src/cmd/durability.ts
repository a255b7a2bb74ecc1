import { Gauge, type Registry } from 'prom-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Storage } from '#apiserver/storage/storage';
import type { Log } from './log.ts';

/**
 * Tells where everybody looks whether acknowledged writes last, of a backend for which that is a matter of settings elsewhere: in the
 * log, as a metric, and by the name of a condition in /readyz?verbose.
 */
export function tellDurability(server: GenericServer, storage: Storage, { log, registry }: { log: Log; registry: Registry }): void {
  if (!storage.durability) return;
  const durability = storage.durability.bind(storage);
  const { isDurable, detail } = durability();
  if (isDurable) log.info({ detail }, 'acknowledged writes last');
  else log.warn({ detail }, 'acknowledged writes may be lost');
  server.addReadyCheck({ name: isDurable ? 'storage-durable' : 'storage-may-lose-acknowledged-writes', check: () => {} });
  registry.registerMetric(
    new Gauge({
      name: 'kubenest_storage_durable',
      help: 'Whether acknowledged writes last, as far as the settings of the storage say: 1 or 0.',
      registers: [],
      collect() {
        this.set(durability().isDurable ? 1 : 0);
      },
    }),
  );
}
