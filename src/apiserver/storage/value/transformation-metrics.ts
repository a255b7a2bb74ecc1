import type { Registry } from 'prom-client';
import { type CounterMetric, type HistogramMetric, RegistryMetrics } from '#apiserver/base/metrics/metrics';

/** 5 microseconds to 84 seconds, doubling: local transformations are fast, key services slow. */
const latencyBuckets = Array.from({ length: 25 }, (_, i) => 5e-6 * 2 ** i);

export type Transformation = 'from_storage' | 'to_storage';

/**
 * Listener for each encrypted or decrypted value. The duration is in milliseconds; `error` is set if the transformation
 * failed.
 */
export type TransformationListener = (transformation: Transformation, prefix: string, milliseconds: number, error?: unknown) => void;

/** Metrics of encryption and decryption under upstream's names. Upstream: apiserver/pkg/storage/value/metrics.go. */
export class TransformationMetrics {
  readonly #latency: HistogramMetric;
  readonly #operations: CounterMetric;

  constructor(registry: Registry) {
    const metrics = new RegistryMetrics(registry);
    this.#latency = metrics.histogram({
      name: 'apiserver_storage_transformation_duration_seconds',
      help: 'Latencies in seconds of value transformation operations.',
      labels: ['transformation_type', 'transformer_prefix'],
      buckets: latencyBuckets,
    });
    this.#operations = metrics.counter({
      name: 'apiserver_storage_transformation_operations_total',
      help: "Total number of transformations. Successful transformation will have a status 'OK' and a varied status string when the transformation fails. The status, resource, and transformation_type fields can be used for alerting purposes. For example, you can monitor for encryption/decryption failures using the transformation_type (e.g., from_storage for decryption and to_storage for encryption). Additionally, these fields can be used to ensure that the correct transformers are applied to each resource.",
      labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
    });
  }

  /** Returns the listener of a resource, such as `deployments.apps`. */
  of(resource: string): TransformationListener {
    return (transformation, prefix, milliseconds, error) => {
      const labels = { transformation_type: transformation, transformer_prefix: prefix };
      this.#operations.inc({ resource, ...labels, status: error === undefined ? 'OK' : statusOf(error) });
      if (error === undefined) this.#latency.observe(labels, milliseconds / 1_000);
    };
  }
}

/** Returns the status code of a key service, which is part of the error message. */
function statusOf(error: unknown): string {
  return /rpc error: code = (\w+)/.exec(String(error))?.[1] ?? 'unknown-non-grpc';
}
