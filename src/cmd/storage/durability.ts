import { Counter, Gauge, type Registry } from 'prom-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Durability, Storage } from '#apiserver/storage/storage';
import type { Log } from '#cmd/logging/log';

/**
 * Tells where everybody looks whether acknowledged writes last, and whether some were lost, of a backend for which that is a matter of
 * settings elsewhere: in the log when it changes, as metrics, and by the name of a condition in /readyz?verbose.
 */
export function tellDurability(
  server: Pick<GenericServer, 'addReadyCheck'>,
  storage: Pick<Storage, 'durability' | 'onDurabilityChange'>,
  { log, registry }: { log: Pick<Log, 'info' | 'warn'>; registry: Registry },
): void {
  if (!storage.durability) return;
  const durability = storage.durability.bind(storage);
  let told: Durability | undefined;
  const tell = (): void => {
    const now = durability();
    const { isDurable, detail, losses } = now;
    if (losses > (told?.losses ?? 0))
      log.warn({ losses }, 'the store is without writes that it may have acknowledged: revisions were raised, and watches begin anew');
    if (isDurable !== told?.isDurable || detail !== told.detail) {
      if (isDurable) log.info({ detail }, 'acknowledged writes last');
      else log.warn({ detail }, 'acknowledged writes may be lost');
    }
    told = now;
  };
  tell();
  storage.onDurabilityChange?.(tell);
  server.addReadyCheck({
    get name() {
      return durability().isDurable ? 'storage-durable' : 'storage-may-lose-acknowledged-writes';
    },
    check() {},
  });
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
  registry.registerMetric(
    new Counter({
      name: 'kubenest_storage_losses_total',
      help: 'How often the storage was found to be without writes that it may have acknowledged.',
      registers: [],
      collect() {
        this.reset();
        this.inc(durability().losses);
      },
    }),
  );
}
