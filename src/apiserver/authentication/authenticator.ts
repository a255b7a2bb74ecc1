import type { IncomingHttpHeaders } from 'node:http';
import type { Peer } from '#apiserver/request/exchange';
import type { UserInfo } from '#apiserver/request/user-info';

/** What an authenticator may look at. Credentials are gone from `headers` once one of them succeeded. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** The values of a header, one for each time that it was sent; `headers` joins them. The name in lower case. */
  headerValues(name: string): string[];
  readonly peer: Peer;
  /** The decoded path. */
  readonly path: string;
  /** For whom the credentials must be good; undefined: for this server. */
  readonly audiences?: readonly string[] | undefined;
  /** Tells the client something with the answer. */
  warn?(text: string): void;
  /** Notes something in the audit of the request; without an audit there is none. */
  annotate?(key: string, value: string): void;
}

/**
 * Knows tokens of one kind. Answers as an Authenticator does: undefined for a token of another kind, and throws for a wrong
 * one of its own. Upstream: apiserver/pkg/authentication/authenticator/interfaces.go (Token).
 */
export interface TokenAuthenticator {
  readonly name: string;
  authenticateToken(
    token: string,
    request: Pick<Credentials, 'audiences' | 'warn' | 'annotate'>,
  ): UserInfo | undefined | Promise<UserInfo | undefined>;
}

/**
 * One way to find out who asks. Answers the user; undefined if the request carries nothing that it knows; throws when what
 * it carries is wrong, with a reason for the log (clients are told Unauthorized and no more).
 */
export interface Authenticator {
  readonly name: string;
  authenticate(credentials: Credentials): UserInfo | undefined | Promise<UserInfo | undefined>;
}
