/** Timeouts of a client's actions, regardless of other bytes that it sends. */
export interface ConnectionDeadlines {
  /** Timeout of the TLS handshake. */
  readonly handshakeMs: number;
  /** Timeout of the HTTP/2 preface with its settings. */
  readonly prefaceMs: number;
  /** Timeout of a request head, or of the rest of a frame. */
  readonly headerMs: number;
  /** Timeout of a connection without a request. */
  readonly idleMs: number;
}

/**
 * Default timeouts. Upstream: apiserver/pkg/server/secure_serving.go (ReadHeaderTimeout, which also limits handshakes, and
 * IdleTimeout); golang.org/x/net/http2/server.go (prefaceTimeout).
 */
export const connectionDeadlines: ConnectionDeadlines = { handshakeMs: 32_000, prefaceMs: 10_000, headerMs: 32_000, idleMs: 90_000 };

/** Measures the duration of a state by periodic calls. */
export class Persistence {
  #state: unknown;
  #since = 0;

  /** Returns the time for which `state` was equal in all calls; 0 if it has changed or is undefined. */
  age(state: unknown, now: number): number {
    if (state === undefined || state !== this.#state) {
      this.#state = state;
      this.#since = now;
    }
    return now - this.#since;
  }
}
