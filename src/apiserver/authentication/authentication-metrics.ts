import { Counter, Gauge, type Registry } from 'prom-client';
import { newSeries, observe, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

const hour = 3_600;
const day = 24 * hour;
/** Buckets of a certificate's remaining lifetime in seconds. Upstream: apiserver/pkg/authentication/request/x509/x509.go. */
const lifetimeBuckets = [0, hour / 2, hour, 2 * hour, 6 * hour, 12 * hour, ...[1, 2, 4, 7, 30, 90, 180, 360].map((days) => days * day)];
/** Help of metrics for which upstream has none; prom-client requires a non-empty one. */
const noHelp = ' ';
/** Prometheus' default buckets. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics of token caches. */
export interface TokenCacheMetrics {
  /** Counts a lookup with its duration; `hit`: the token was cached. */
  asked(status: 'hit' | 'miss', milliseconds: number): void;
  /** Changes the number of lookups that call the authenticator behind the cache (`in_flight`) or wait for such a call (`blocked`). */
  fetching(status: 'in_flight' | 'blocked', by: 1 | -1): void;
  fetched(status: 'ok' | 'error'): void;
}

/** Kind of a service account token: bound and valid or stale, or a legacy token of a secret that a user or a controller created. */
export type ServiceAccountTokenUse = 'legacy' | 'stale' | 'valid' | 'legacyManual' | 'legacyAuto' | 'invalidLegacyAuto';

/** Metric of each kind of token. Upstream: kubernetes/pkg/serviceaccount/metrics.go. */
const tokenUses: readonly (readonly [use: ServiceAccountTokenUse, name: string, help: string])[] = [
  ['legacy', 'legacy_tokens_total', 'Cumulative legacy service account tokens used'],
  ['stale', 'stale_tokens_total', 'Cumulative stale projected service account tokens used'],
  ['valid', 'valid_tokens_total', 'Cumulative valid projected service account tokens used'],
  ['legacyManual', 'legacy_manual_token_uses_total', 'Cumulative manually created legacy tokens used'],
  ['legacyAuto', 'legacy_auto_token_uses_total', 'Cumulative auto-generated legacy tokens used'],
  ['invalidLegacyAuto', 'invalid_legacy_auto_token_uses_total', 'Cumulative invalid auto-generated legacy tokens used'],
];

/** Metrics of authenticators under upstream's names. They are plain numbers until /metrics is read. */
export class AuthenticationMetrics implements TokenCacheMetrics {
  readonly #lifetimes = newSeries(lifetimeBuckets, {});
  readonly #requests = { hit: newSeries(defaultBuckets, { status: 'hit' }), miss: newSeries(defaultBuckets, { status: 'miss' }) };
  readonly #active = { in_flight: 0, blocked: 0 };
  readonly #fetched = { ok: 0, error: 0 };

  readonly #tokenUses = new Map<ServiceAccountTokenUse, number>();

  constructor(registry: Registry) {
    const uses = this.#tokenUses;
    for (const [use, name, help] of tokenUses) {
      registry.registerMetric(
        new Counter({
          name: `serviceaccount_${name}`,
          help,
          registers: [],
          collect() {
            this.reset();
            this.inc(uses.get(use) ?? 0);
          },
        }),
      );
    }
    const byStatus = <M extends Counter | Gauge>(
      metric: new (options: ConstructorParameters<typeof Counter>[0]) => M,
      name: string,
      counts: () => Readonly<Record<string, number>>,
    ): void => {
      registry.registerMetric(
        new metric({
          name: `authentication_token_cache_${name}`,
          help: noHelp,
          labelNames: ['status'],
          registers: [],
          collect() {
            this.reset();
            for (const [status, count] of Object.entries(counts())) this.inc({ status }, count);
          },
        }),
      );
    };
    const requests = Object.values(this.#requests);
    byStatus(Counter, 'request_total', () =>
      Object.fromEntries(Object.entries(this.#requests).map(([status, { count }]) => [status, count])),
    );
    byStatus(Counter, 'fetch_total', () => this.#fetched);
    byStatus(Gauge, 'active_fetch_count', () => this.#active);
    registry.registerMetric(
      new SeriesHistogram('authentication_token_cache_request_duration_seconds', noHelp, ['status'], defaultBuckets, () => requests),
    );
    registry.registerMetric(
      new SeriesHistogram(
        'apiserver_client_certificate_expiration_seconds',
        'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
        [],
        lifetimeBuckets,
        () => [this.#lifetimes],
      ),
    );
  }

  /** Records the remaining lifetime of a client certificate; negative if it has expired. */
  certificateLasts(seconds: number): void {
    observe(this.#lifetimes, lifetimeBuckets, seconds);
  }

  /** Counts a service account token that was verified. */
  readonly tokenUsed = (use: ServiceAccountTokenUse): void => {
    this.#tokenUses.set(use, (this.#tokenUses.get(use) ?? 0) + 1);
  };

  asked(status: 'hit' | 'miss', milliseconds: number): void {
    observe(this.#requests[status], defaultBuckets, Math.floor(milliseconds) / 1_000);
  }

  fetching(status: 'in_flight' | 'blocked', by: 1 | -1): void {
    this.#active[status] += by;
  }

  fetched(status: 'ok' | 'error'): void {
    this.#fetched[status] += 1;
  }
}
