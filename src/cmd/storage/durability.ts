import { Counter, Gauge, type Registry } from 'prom-client';
import type { GenericServer } from '#apiserver/server/generic-server';
import type { Durability, Storage } from '#apiserver/storage/storage';
import type { Log } from '#cmd/logging/log';

/**
 * Reports whether acknowledged writes are durable and whether writes were lost, for a backend whose durability depends on external
 * settings. Reports go to the log on changes, to metrics, and to the name of a condition in /readyz?verbose.
 */
export function reportDurability(
  server: Pick<GenericServer, 'addReadyCheck'>,
  storage: Pick<Storage, 'durability' | 'onDurabilityChange'>,
  { log, registry }: { log: Pick<Log, 'info' | 'warn'>; registry: Registry },
): void {
  if (!storage.durability) return;
  const durability = storage.durability.bind(storage);
  let reported: Durability | undefined;
  const report = (): void => {
    const now = durability();
    const { isDurable, detail, losses } = now;
    if (losses > (reported?.losses ?? 0))
      log.warn({ losses }, 'the store lacks writes that it may have acknowledged: its revision was raised, and watches restart');
    if (isDurable !== reported?.isDurable || detail !== reported.detail) {
      if (isDurable) log.info({ detail }, 'acknowledged writes are durable');
      else log.warn({ detail }, 'acknowledged writes may be lost');
    }
    reported = now;
  };
  report();
  storage.onDurabilityChange?.(report);
  server.addReadyCheck({
    get name() {
      return durability().isDurable ? 'storage-durable' : 'storage-may-lose-acknowledged-writes';
    },
    check() {},
  });
  registry.registerMetric(
    new Gauge({
      name: 'kubenest_storage_durable',
      help: '1 if acknowledged writes are durable according to the settings of the storage, otherwise 0.',
      registers: [],
      collect() {
        this.set(durability().isDurable ? 1 : 0);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: 'kubenest_storage_losses_total',
      help: 'Number of times that the storage was found to lack writes that it may have acknowledged.',
      registers: [],
      collect() {
        this.reset();
        this.inc(durability().losses);
      },
    }),
  );
}
