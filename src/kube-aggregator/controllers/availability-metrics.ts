import { Counter, Gauge, type Registry } from 'prom-client';
import type { APIService } from '#kube-aggregator/schema/apiregistration_v1.gen';
import { isAvailable } from './availability.ts';

/** Metrics about unavailable APIServices and their transitions. Upstream: controllers/status/metrics. */
export class AvailabilityMetrics {
  readonly #unavailable: Gauge<'name'>;
  readonly #unavailableTotal: Counter<'name' | 'reason'>;
  readonly #available = new Map<string, boolean>();

  constructor(registry: Registry) {
    this.#unavailable = new Gauge({
      name: 'aggregator_unavailable_apiservice',
      help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
      labelNames: ['name'],
      registers: [registry],
    });
    this.#unavailableTotal = new Counter({
      name: 'aggregator_unavailable_apiservice_total',
      help: 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
      labelNames: ['name', 'reason'],
      registers: [registry],
    });
  }

  /** Must be called for each change. */
  observe(type: 'ADDED' | 'MODIFIED' | 'DELETED', { metadata: { name = '' }, status }: APIService): void {
    if (type === 'DELETED') {
      this.#available.delete(name);
      this.#unavailable.remove({ name });
      return;
    }
    const available = isAvailable(status);
    if (this.#available.get(name) && !available) {
      const reason = status?.conditions?.find((condition) => condition.type === 'Available')?.reason ?? '';
      this.#unavailableTotal.inc({ name, reason });
    }
    this.#available.set(name, available);
    this.#unavailable.set({ name }, available ? 0 : 1);
  }
}
