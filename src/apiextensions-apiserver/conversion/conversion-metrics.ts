import { Counter, Histogram, type Registry } from 'prom-client';

/** The reason why a webhook's response was rejected. */
export type ConversionFailureType =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure';

/** One conversion: definition, and source and target version without the group. */
export interface Conversion {
  readonly definition: string;
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  /** undefined for a success. */
  readonly failure: ConversionFailureType | undefined;
}

const durationBuckets = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
const webhookBuckets = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];

/** Counts conversions by webhooks and measures their duration. Upstream: apiextensions-apiserver/pkg/apiserver/conversion/metrics.go. */
export class ConversionMetrics {
  readonly #byDefinition: Histogram<'crd_name' | 'from_version' | 'to_version' | 'succeeded'>;
  readonly #requests: Counter<'result' | 'failure_type'>;
  readonly #durations: Histogram<'result' | 'failure_type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#byDefinition = new Histogram({
      name: 'apiserver_crd_conversion_webhook_duration_seconds',
      help: 'CRD webhook conversion duration in seconds',
      labelNames: ['crd_name', 'from_version', 'to_version', 'succeeded'],
      buckets: durationBuckets,
      registers,
    });
    this.#requests = new Counter({
      name: 'apiserver_conversion_webhook_request_total',
      help: 'Counter for conversion webhook requests with success/failure and failure error type',
      labelNames: ['result', 'failure_type'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'apiserver_conversion_webhook_duration_seconds',
      help: 'Conversion webhook request latency',
      labelNames: ['result', 'failure_type'],
      buckets: webhookBuckets,
      registers,
    });
  }

  observe({ definition, from, to, seconds, failure }: Conversion): void {
    const labels = { result: failure ? 'failure' : 'success', failure_type: failure ?? '' };
    this.#requests.inc(labels);
    this.#durations.observe(labels, seconds);
    if (from === to) return;
    this.#byDefinition.observe({ crd_name: definition, from_version: from, to_version: to, succeeded: String(!failure) }, seconds);
  }
}
