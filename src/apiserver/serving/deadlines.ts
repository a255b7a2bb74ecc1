/** How long a client may take for what it has to do, whatever else it sends. */
export interface ConnectionDeadlines {
  /** For the handshake of TLS. */
  readonly handshakeMs: number;
  /** For the preface of HTTP/2, with its settings. */
  readonly prefaceMs: number;
  /** For the head of a request, or the rest of a frame. */
  readonly headerMs: number;
  /** Without a request. */
  readonly idleMs: number;
}

/**
 * Upstream: apiserver/pkg/server/secure_serving.go (ReadHeaderTimeout, which is the limit of handshakes too, and IdleTimeout);
 * golang.org/x/net/http2/server.go (prefaceTimeout).
 */
export const connectionDeadlines: ConnectionDeadlines = { handshakeMs: 32_000, prefaceMs: 10_000, headerMs: 32_000, idleMs: 90_000 };

/** Measures how long one state has gone on, by looking at it now and then. */
export class Persistence {
  #state: unknown;
  #since = 0;

  /** The time for which `state` has been the same at each call; 0 if it is new, or undefined. */
  age(state: unknown, now: number): number {
    if (state === undefined || state !== this.#state) {
      this.#state = state;
      this.#since = now;
    }
    return now - this.#since;
  }
}
