import { Buffer } from 'node:buffer';
import { AuthenticationStrategy, type Credentials, type TokenAuthenticator } from 'kubenest/sdk';
import { AuthenticationFailedError } from '#sdk/internal';

const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored';
const invalidToken = 'invalid bearer token';
const webSocketPrefix = 'base64url.bearer.authorization.k8s.io.';

/**
 * Authenticates the bearer token of a request with one token authenticator and has no opinion on tokens that this
 * authenticator does not recognize. Tokens are never read from the URL. Upstream:
 * apiserver/pkg/authentication/request/bearertoken.
 */
export class BearerToken extends AuthenticationStrategy {
  readonly name: string;

  constructor(readonly tokens: TokenAuthenticator) {
    super();
    this.name = tokens.name;
  }

  authenticate(credentials: Credentials): void | Promise<void> {
    const token = bearerToken(credentials) ?? webSocketToken(credentials);
    if (token === undefined) return this.pass();
    try {
      const answer = this.tokens.authenticateToken(token, credentials);
      if (!(answer instanceof Promise)) return answer ? this.success(answer) : this.pass();
      return answer.then(
        (user) => (user ? this.success(user) : this.pass()),
        (error: unknown) => this.error(invalid(error)),
      );
    } catch (error) {
      return this.error(invalid(error));
    }
  }
}

/**
 * Builds the error of an invalid token. Upstream's first authenticator knows only the server's own token, so its error
 * precedes each reason.
 */
function invalid(cause: unknown): AuthenticationFailedError {
  return new AuthenticationFailedError([new Error(invalidToken), cause]);
}

/**
 * The last token authenticator: rejects a token that no other authenticator recognized, so that its owner does not count as
 * anonymous.
 */
export class UnknownToken extends AuthenticationStrategy {
  readonly name = 'UnknownToken';

  authenticate(credentials: Credentials): void {
    if ((bearerToken(credentials) ?? webSocketToken(credentials)) !== undefined) return this.fail(invalidToken);
    const problem = webSocketProblem(credentials);
    if (problem === undefined) this.pass();
    else this.fail(problem);
  }
}

/** Returns the token of the Authorization header; undefined without one. */
function bearerToken(credentials: Credentials): string | undefined {
  const authorization = credentials.headers.authorization?.trim();
  if (!authorization) return undefined;
  const first = authorization.indexOf(' ');
  if (first < 0 || authorization.slice(0, first).toLowerCase() !== 'bearer') return undefined;
  const second = authorization.indexOf(' ', first + 1);
  const token = authorization.slice(first + 1, second < 0 ? undefined : second);
  if (token !== '') return token;
  if (second >= 0) credentials.warn?.(extraSpace);
  return undefined;
}

/**
 * Returns the token among the requested WebSocket subprotocols and removes it from the header. Browsers use it because they
 * cannot send an Authorization header; another subprotocol is required. Upstream:
 * apiserver/pkg/authentication/request/websocket.
 */
function webSocketToken({ headers }: Credentials): string | undefined {
  const { encoded, others } = webSocketProtocols(headers);
  if (encoded.length !== 1 || others === 0) return undefined;
  const token = Buffer.from((encoded[0] as string).slice(webSocketPrefix.length), 'base64url').toString();
  return token === '' ? undefined : token;
}

/** Returns the error of a malformed token among the subprotocols; undefined if there is none. */
function webSocketProblem({ headers }: Credentials): string | undefined {
  const { encoded, others } = webSocketProtocols(headers);
  if (encoded.length > 1) return 'multiple base64.bearer.authorization tokens specified';
  return encoded.length === 1 && others === 0 ? 'missing additional subprotocol' : undefined;
}

/** Returns the subprotocols that contain tokens, and the number of others. */
function webSocketProtocols(headers: Credentials['headers']): { readonly encoded: readonly string[]; readonly others: number } {
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || !protocols.includes(webSocketPrefix) || headers.upgrade?.toLowerCase() !== 'websocket')
    return { encoded: [], others: 0 };
  const all = protocols.split(',').map((protocol) => protocol.trim());
  const encoded = all.filter((protocol) => protocol.startsWith(webSocketPrefix));
  return { encoded, others: all.length - encoded.length };
}
