import { createHash } from 'node:crypto';
import { Gauge, Histogram, type Registry } from 'prom-client';

const prefix = 'apiserver_authentication_jwt_authenticator_';
const hashOf = (text: string): string => (text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`);

/** Events of one issuer's authenticator. */
export interface IssuerEvents {
  /** Called when a token of the issuer has been accepted or rejected; the cache answers others. */
  onToken(result: 'success' | 'failure', seconds: number): void;
  /** Called when the key set was fetched; undefined: it could not be. */
  onKeySet?: ((text: string | undefined) => void) | undefined;
}

/** Metrics of the issuers of JSON web tokens. Upstream: apiserver/plugin/pkg/authenticator/token/oidc/metrics.go. */
export class IssuerMetrics {
  readonly #latency: Histogram;
  readonly #lastFetch: Gauge;
  /** Hash of the key set, by issuer. */
  readonly #keySets = new Map<string, string>();
  readonly #server: string;

  constructor(registry: Registry, apiServerId: string) {
    const server = hashOf(apiServerId);
    const keySets = this.#keySets;
    this.#server = server;
    const registers = [registry];
    this.#latency = new Histogram({
      name: `${prefix}latency_seconds`,
      help: '[ALPHA] Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache miss only (i.e. when the token is not found in the cache).',
      labelNames: ['result', 'jwt_issuer_hash'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#lastFetch = new Gauge({
      name: `${prefix}jwks_fetch_last_timestamp_seconds`,
      help: '[ALPHA] Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt issuer for the JWT authenticator.',
      labelNames: ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
      registers,
    });
    new Gauge({
      name: `${prefix}jwks_fetch_last_key_set_info`,
      help: '[ALPHA] Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api server identity and jwt issuer.',
      labelNames: ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
      registers,
      collect() {
        this.reset();
        for (const [issuer, hash] of keySets) this.set({ jwt_issuer_hash: issuer, apiserver_id_hash: server, hash }, 1);
      },
    });
  }

  /** Returns the events of an issuer. `hasKeySets` is the feature gate StructuredAuthenticationConfigurationJWKSMetrics. */
  of(issuer: string, hasKeySets: boolean): IssuerEvents {
    const hash = hashOf(issuer);
    return {
      onToken: (result, seconds) => this.#latency.observe({ result, jwt_issuer_hash: hash }, seconds),
      onKeySet: hasKeySets ? (text) => this.#fetched(hash, text) : undefined,
    };
  }

  /** Removes the key sets of issuers that are no longer configured. */
  keepOnly(issuers: readonly string[]): void {
    const kept = new Set(issuers.map(hashOf));
    for (const issuer of [...this.#keySets.keys()].filter((one) => !kept.has(one))) {
      this.#keySets.delete(issuer);
      for (const result of ['success', 'failure']) this.#lastFetch.remove(this.#labels(result, issuer));
    }
  }

  #fetched(issuer: string, text: string | undefined): void {
    if (text !== undefined) this.#keySets.set(issuer, hashOf(text));
    this.#lastFetch.setToCurrentTime(this.#labels(text === undefined ? 'failure' : 'success', issuer));
  }

  #labels(result: string, issuer: string): Record<'result' | 'jwt_issuer_hash' | 'apiserver_id_hash', string> {
    return { result, jwt_issuer_hash: issuer, apiserver_id_hash: this.#server };
  }
}
