import type { IncomingHttpHeaders } from 'node:http';
import type { Peer } from '#apiserver/request/exchange';
import type { UserInfo } from '#apiserver/request/user-info';

/** The parts of a request that authenticators may read. Credentials are removed from `headers` once an authenticator succeeds. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Returns the values of a header, one for each occurrence; `headers` joins them. `name` is in lower case. */
  headerValues(name: string): string[];
  readonly peer: Peer;
  /** Decoded path. */
  readonly path: string;
  /** Audiences that the credentials must be valid for; undefined: the server's own. */
  readonly audiences?: readonly string[] | undefined;
  /** Adds a warning to the response. */
  warn?(text: string): void;
  /** Adds an audit annotation; does nothing if the request is not audited. */
  annotate?(key: string, value: string): void;
}

/**
 * Authenticates tokens of one kind. Like an Authenticator, it returns undefined for a token of another kind and throws for an
 * invalid one of its own. Upstream: apiserver/pkg/authentication/authenticator/interfaces.go (Token).
 */
export interface TokenAuthenticator {
  readonly name: string;
  authenticateToken(
    token: string,
    request: Pick<Credentials, 'audiences' | 'warn' | 'annotate'>,
  ): UserInfo | undefined | Promise<UserInfo | undefined>;
}

/**
 * An authentication method. Returns the user, or undefined if the request has no credentials of its kind. Throws for wrong
 * credentials; the reason is logged, and the client receives only Unauthorized.
 */
export interface Authenticator {
  readonly name: string;
  /**
   * Names of the headers that carry the credentials, in lower case, besides `authorization`. The server removes them from an
   * authenticated request, so that kubelets and aggregated API servers do not get them.
   */
  readonly credentialHeaders?: readonly string[];
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>;
}
