import { createHash } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';
import { type CounterMetric, type HistogramMetric, RegistryMetrics } from '#apiserver/base/metrics/metrics';

/** 0.1 ms to 52 s, doubling. */
const latencyBuckets = Array.from({ length: 20 }, (_, i) => 0.0001 * 2 ** i);
/** Maximum number of series. Key ids come from the service, so the oldest series are dropped. */
const rememberedKeys = 100;

/**
 * Metrics of the calls to key services, under upstream's names. Upstream:
 * apiserver/pkg/storage/value/encrypt/envelope/metrics.
 */
export class KmsMetrics {
  readonly latency: HistogramMetric;
  readonly #used: Counter;
  readonly #lastUsed: Gauge;
  readonly #status: Gauge;
  readonly #invalid: CounterMetric;
  readonly #known: Gauge;
  readonly #server: string;
  readonly #usedKeys = new Map<string, Readonly<Record<string, string>>>();
  readonly #statusKeys = new Map<string, Readonly<Record<string, string>>>();

  constructor(registry: Registry, apiServerId: string) {
    const metrics = new RegistryMetrics(registry);
    this.#server = hashOf(apiServerId);
    const prefix = 'apiserver_envelope_encryption_';
    const keyLabels = ['provider_name', 'key_id_hash', 'apiserver_id_hash'];
    const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
      new Gauge({ name: prefix + name, help, labelNames, registers: [registry] });
    this.latency = metrics.histogram({
      name: `${prefix}kms_operations_latency_seconds`,
      help: 'KMS operation duration with gRPC error code status total.',
      labels: ['provider_name', 'method_name', 'grpc_status_code'],
      buckets: latencyBuckets,
    });
    this.#used = new Counter({
      name: `${prefix}key_id_hash_total`,
      help: 'Number of times a keyID is used split by transformation type, provider, and apiserver identity.',
      labelNames: ['transformation_type', ...keyLabels],
      registers: [registry],
    });
    this.#lastUsed = gauge('key_id_hash_last_timestamp_seconds', 'The last time in seconds when a keyID was used.', [
      'transformation_type',
      ...keyLabels,
    ]);
    this.#status = gauge(
      'key_id_hash_status_last_timestamp_seconds',
      'The last time in seconds when a keyID was returned by the Status RPC call.',
      keyLabels,
    );
    this.#invalid = metrics.counter({
      name: `${prefix}invalid_key_id_from_status_total`,
      help: 'Number of times an invalid keyID is returned by the Status RPC call split by error.',
      labels: ['provider_name', 'error'],
    });
    this.#known = gauge(
      'dek_source_cache_size',
      'Number of records in data encryption key (DEK) source cache. On a restart, this value is an approximation of the number of decrypt RPC calls the server will make to the KMS plugin.',
      ['provider_name'],
    );
  }

  /** Records the read (`from_storage`) or write (`to_storage`) of a value. */
  keyUsed(transformation: 'from_storage' | 'to_storage', provider: string, keyIdHash: string): void {
    const labels = { transformation_type: transformation, ...this.#labels(provider, keyIdHash) };
    remember(this.#usedKeys, `${transformation} ${provider} ${keyIdHash}`, labels, (eldest) => {
      this.#used.remove(eldest);
      this.#lastUsed.remove(eldest);
    });
    this.#used.inc(labels);
    this.#lastUsed.set(labels, Date.now() / 1_000);
  }

  keyReported(provider: string, keyIdHash: string): void {
    const labels = this.#labels(provider, keyIdHash);
    remember(this.#statusKeys, `${provider} ${keyIdHash}`, labels, (eldest) => this.#status.remove(eldest));
    this.#status.set(labels, Date.now() / 1_000);
  }

  invalidKeyReported(provider: string, error: 'empty' | 'too_long'): void {
    this.#invalid.inc({ provider_name: provider, error });
  }

  keysKnown(provider: string, count: number): void {
    this.#known.set({ provider_name: provider }, count);
  }

  #labels(provider: string, keyIdHash: string): Readonly<Record<string, string>> {
    return { provider_name: provider, key_id_hash: keyIdHash, apiserver_id_hash: this.#server };
  }
}

function remember<T>(known: Map<string, T>, key: string, labels: T, drop: (eldest: T) => void): void {
  known.delete(key);
  known.set(key, labels);
  for (const [eldest, dropped] of known) {
    if (known.size <= rememberedKeys) return;
    known.delete(eldest);
    drop(dropped);
  }
}

/** Returns `sha256:…`; empty for an empty text. */
export function hashOf(text: string): string {
  return text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
