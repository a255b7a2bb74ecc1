import { Counter, type Registry } from 'prom-client';
import { newSeries, observe, type Series, SeriesHistogram } from '#apiserver/base/metrics/series-histogram';

/** Buckets from a millisecond to 16 seconds, doubling. */
const buckets = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i);
/** User names that are labels; others are counted as `email_id` or `other`. */
const namedUsers = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default']);

export type AuthenticationResult = 'success' | 'failure' | 'error';
export type AuthorizationResult = 'allowed' | 'denied' | 'no-opinion' | 'error';

/**
 * Metrics of authentication and authorization under upstream's names. Requests add to plain numbers, which are converted when
 * /metrics is read. Upstream: apiserver/pkg/endpoints/filters/metrics.go.
 */
export class AccessMetrics {
  readonly #authentications = seriesOf<AuthenticationResult>(['success', 'failure', 'error']);
  readonly #authorizations = seriesOf<AuthorizationResult>(['allowed', 'denied', 'no-opinion', 'error']);
  readonly #users = new Map<string, number>();
  #handshakeErrors = 0;

  constructor(registry: Registry) {
    const users = this.#users;
    const counter = (name: string, help: string, label: string, counts: () => Iterable<readonly [value: string, count: number]>): void => {
      registry.registerMetric(
        new Counter({
          name,
          help,
          labelNames: [label],
          registers: [],
          collect() {
            this.reset();
            for (const [value, count] of counts()) this.inc({ [label]: value }, count);
          },
        }),
      );
    };
    const histogram = (name: string, help: string, all: Readonly<Record<string, Series>>): void => {
      registry.registerMetric(
        new SeriesHistogram(name, help, ['result'], buckets, () => Object.values(all).filter(({ count }) => count > 0)),
      );
    };
    const handshakeErrors = (): number => this.#handshakeErrors;
    registry.registerMetric(
      new Counter({
        name: 'apiserver_tls_handshake_errors_total',
        help: "Number of requests dropped with 'TLS handshake error from' error",
        registers: [],
        collect() {
          this.reset();
          this.inc(handshakeErrors());
        },
      }),
    );
    counter('authenticated_user_requests', 'Counter of authenticated requests broken out by username.', 'username', () => users);
    counter('authentication_attempts', 'Counter of authenticated attempts.', 'result', () => countsOf(this.#authentications));
    histogram('authentication_duration_seconds', 'Authentication duration in seconds broken out by result.', this.#authentications);
    counter(
      'authorization_attempts_total',
      "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
      'result',
      () => countsOf(this.#authorizations),
    );
    histogram('authorization_duration_seconds', 'Authorization duration in seconds broken out by result.', this.#authorizations);
  }

  /** Counts a failed TLS handshake. Upstream: apiserver/pkg/server/secure_serving.go. */
  handshakeFailed(): void {
    this.#handshakeErrors += 1;
  }

  /** Records an authentication; `user` is the authenticated name. */
  authenticated(result: AuthenticationResult, milliseconds: number, user?: string): void {
    observe(this.#authentications[result], buckets, milliseconds / 1_000);
    if (user === undefined) return;
    const label = namedUsers.has(user) ? user : user.includes('@') ? 'email_id' : 'other';
    this.#users.set(label, (this.#users.get(label) ?? 0) + 1);
  }

  authorized(result: AuthorizationResult, milliseconds: number): void {
    observe(this.#authorizations[result], buckets, milliseconds / 1_000);
  }
}

function seriesOf<Result extends string>(results: readonly Result[]): Readonly<Record<Result, Series>> {
  return Object.fromEntries(results.map((result) => [result, newSeries(buckets, { result })])) as Record<Result, Series>;
}

function countsOf(all: Readonly<Record<string, Series>>): (readonly [string, number])[] {
  return Object.entries(all).flatMap(([result, { count }]) => (count > 0 ? [[result, count] as const] : []));
}
