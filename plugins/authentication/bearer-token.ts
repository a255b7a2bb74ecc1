import { Buffer } from 'node:buffer';
import { AuthenticationFailedError, AuthenticationStrategy, type Credentials, type TokenAuthenticator } from 'kubenest/sdk';

const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored';
const invalidToken = 'invalid bearer token';
const webSocketPrefix = 'base64url.bearer.authorization.k8s.io.';

/**
 * The bearer token of a request, for one mechanism that knows tokens: it passes for a token that is another mechanism's.
 * Tokens are never taken from the URL. Upstream: apiserver/pkg/authentication/request/bearertoken.
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

/** Upstream's first mechanism knows the server's own token alone, so each reason comes after its. */
function invalid(cause: unknown): AuthenticationFailedError {
  return new AuthenticationFailedError([new Error(invalidToken), cause]);
}

/** Last of the token mechanisms: a token that nobody knew is wrong, not absent, so its owner is not taken for a stranger. */
export class UnknownToken extends AuthenticationStrategy {
  readonly name = 'UnknownToken';

  authenticate(credentials: Credentials): void {
    if ((bearerToken(credentials) ?? webSocketToken(credentials)) !== undefined) return this.fail(invalidToken);
    const problem = webSocketProblem(credentials);
    if (problem === undefined) this.pass();
    else this.fail(problem);
  }
}

/** The token of the Authorization header; undefined without one. */
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
 * The token among the protocols that a browser asks for, which can send no Authorization header; there must be another
 * protocol besides. The header loses it. Upstream: apiserver/pkg/authentication/request/websocket.
 */
function webSocketToken({ headers }: Credentials): string | undefined {
  const { encoded, others } = webSocketProtocols(headers);
  if (encoded.length !== 1 || others === 0) return undefined;
  const token = Buffer.from((encoded[0] as string).slice(webSocketPrefix.length), 'base64url').toString();
  return token === '' ? undefined : token;
}

/** Why there is no token among the protocols though it was meant to be there. */
function webSocketProblem({ headers }: Credentials): string | undefined {
  const { encoded, others } = webSocketProtocols(headers);
  if (encoded.length > 1) return 'multiple base64.bearer.authorization tokens specified';
  return encoded.length === 1 && others === 0 ? 'missing additional subprotocol' : undefined;
}

/** The protocols of a WebSocket that are tokens, and how many others there are. */
function webSocketProtocols(headers: Credentials['headers']): { readonly encoded: readonly string[]; readonly others: number } {
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || !protocols.includes(webSocketPrefix) || headers.upgrade?.toLowerCase() !== 'websocket')
    return { encoded: [], others: 0 };
  const all = protocols.split(',').map((protocol) => protocol.trim());
  const encoded = all.filter((protocol) => protocol.startsWith(webSocketPrefix));
  return { encoded, others: all.length - encoded.length };
}
