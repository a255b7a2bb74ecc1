import { Counter, type Registry } from 'prom-client';
import type { Log } from './log.ts';
import { defaultServingWorkers } from '#cmd/options/serving-options';

/** Returns a listener that logs and counts serving workers which have ended unexpectedly. */
export function workerLossListener(log: Log, registry: Registry): (error: Error | undefined) => void {
  const losses = new Counter({
    name: 'kubenest_serving_worker_losses_total',
    help: 'Number of threads of --serving-workers that ended, each with its connections, and were restarted.',
    registers: [registry],
  });
  return (error) => {
    losses.inc();
    log.error({ err: error }, 'a serving worker ended and is restarted; its connections are lost');
  };
}

/** Warns of more serving workers than the cores can keep busy; on two cores, of any. */
export function warnOfExcessWorkers(log: Pick<Log, 'warn'>, workers: number, most = defaultServingWorkers()): void {
  if (workers > most) log.warn({ workers, most }, 'more serving workers than the cores can keep busy: reduce --serving-workers');
}
