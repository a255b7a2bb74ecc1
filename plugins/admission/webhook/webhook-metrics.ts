import type { CounterMetric, HistogramMetric, Metrics } from 'kubenest/sdk';
import { CallError, Rejection } from './webhook-errors.ts';

/** Histogram buckets in seconds. Upstream: apiserver/pkg/admission/metrics/metrics.go. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25];

/** Result of a webhook call. */
export interface Call {
  readonly webhook: string;
  readonly type: 'admit' | 'validating';
  readonly operation: string;
  readonly seconds: number;
  readonly failsOpen: boolean;
  readonly error: unknown;
}

export class WebhookMetrics {
  readonly #durations: HistogramMetric;
  readonly #requests: CounterMetric;
  readonly #rejections: CounterMetric;
  readonly #failOpens: CounterMetric;

  constructor(metrics: Metrics) {
    this.#durations = metrics.histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
      labels: ['name', 'type', 'operation', 'rejected'],
      buckets,
    });
    this.#requests = metrics.counter({
      name: 'apiserver_admission_webhook_request_total',
      help: 'Admission webhook request total, identified by name and broken out for each admission type (validating or mutating) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.',
      labels: ['name', 'type', 'operation', 'code', 'rejected'],
    });
    this.#rejections = metrics.counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.',
      labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    });
    this.#failOpens = metrics.counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Admission webhook fail open count, identified by name and broken out for each admission type (validating or mutating).',
      labels: ['name', 'type'],
    });
  }

  observe({ webhook: name, type, operation, seconds, failsOpen, error }: Call): void {
    const isCallError = error instanceof CallError;
    const code = error === undefined ? 200 : isCallError ? error.code : error instanceof Rejection ? (error.status.status.code ?? 0) : 0;
    const rejected = error !== undefined && !(isCallError && failsOpen);
    const bounded = String(Math.min(code, 600));
    this.#durations.observe({ name, type, operation, rejected: String(rejected) }, seconds);
    this.#requests.inc({ name, type, operation, code: bounded, rejected: String(rejected) });
    if (!rejected) return;
    const kind = isCallError ? 'calling_webhook_error' : error instanceof Rejection ? 'no_error' : 'apiserver_internal_error';
    this.#rejections.inc({ name, type, operation, error_type: kind, rejection_code: bounded });
  }

  failedOpen(webhook: string, type: Call['type']): void {
    this.#failOpens.inc({ name: webhook, type });
  }
}
