import { Counter, Gauge } from 'prom-client';
import { LimitedRegistry } from '#apiserver/base/metrics/limited-registry';

/** Metrics of the last result and the results so far of each health check. Upstream: component-base/metrics/prometheus/slis. */
export class HealthIndicators {
  /** Registry of /metrics/slis, separate from the other metrics. */
  readonly registry: LimitedRegistry;
  readonly #last: Gauge;
  readonly #total: Counter;

  constructor() {
    this.registry = new LimitedRegistry({ disabled: new Set(), allowed: new Map() }, false);
    const registers = [this.registry];
    this.#last = new Gauge({
      name: 'kubernetes_healthcheck',
      help: 'This metric records the result of a single healthcheck.',
      labelNames: ['name', 'type'],
      registers,
    });
    this.#total = new Counter({
      name: 'kubernetes_healthchecks_total',
      help: 'This metric records the results of all healthcheck.',
      labelNames: ['name', 'type', 'status'],
      registers,
    });
  }

  /** Records a result. `endpoint` is `healthz`, `livez` or `readyz`. */
  readonly observe = (endpoint: string, name: string, isHealthy: boolean): void => {
    this.#last.set({ name, type: endpoint }, isHealthy ? 1 : 0);
    this.#total.inc({ name, type: endpoint, status: isHealthy ? 'success' : 'error' });
  };

  /** Resets all results. */
  reset(): void {
    this.#last.reset();
    this.#total.reset();
  }
}
