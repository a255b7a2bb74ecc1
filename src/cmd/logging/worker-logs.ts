import { Counter, type Registry } from 'prom-client';
import type { Log } from './log.ts';
import { defaultServingWorkers } from '#cmd/options/serving-options';

/** Tells in the log and as a metric of serving workers that have ended of themselves. */
export function tellWorkerLosses(log: Log, registry: Registry): (error: Error | undefined) => void {
  const losses = new Counter({
    name: 'kubenest_serving_worker_losses_total',
    help: 'Threads of --serving-workers that have ended, each with its connections, and were started anew.',
    registers: [registry],
  });
  return (error) => {
    losses.inc();
    log.error({ err: error }, 'a serving worker has ended and is started anew; its connections are gone');
  };
}

/** Warns of more threads than the cores can keep busy: on two cores, of any. */
export function tellCostlyWorkers(log: Pick<Log, 'warn'>, workers: number, most = defaultServingWorkers()): void {
  if (workers > most) log.warn({ workers, most }, 'more serving workers than the cores can keep busy: they cost more than they give');
}
