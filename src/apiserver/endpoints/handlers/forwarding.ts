import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import type { Exchange, FlatHeaders } from '#apiserver/request/exchange';

/** Header fields of a single connection or of its authentication. RFC 9110, 7.6.1. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

export type OutgoingHeaders = Record<string, string | string[]>;

/**
 * Returns the header fields of a request that a proxy forwards, without its framing: a proxy frames its own requests (`framingOf`),
 * because a wrong length would shift the start of the next request on a shared connection.
 */
export function endToEndHeaders({ headers }: Pick<Exchange, 'headers'>): OutgoingHeaders {
  const named = namedByConnection(headers);
  const forwarded: OutgoingHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':') || name === 'content-length' || hopByHop.has(name) || named.has(name)) continue;
    forwarded[name] = value;
  }
  return forwarded;
}

/**
 * Returns the framing of a request whose body has this length (`Exchange.bodyLength`), for any method: without it node:http sends
 * the body of a GET or DELETE unframed. A request without a body needs none.
 */
export function framingOf(bodyLength: number | undefined): OutgoingHeaders {
  if (bodyLength === undefined) return { 'transfer-encoding': 'chunked' };
  return bodyLength > 0 ? { 'content-length': String(bodyLength) } : {};
}

/**
 * Forwards a request's body. If it is interrupted, the forwarded request is aborted, so that the receiver does not take it for
 * complete.
 */
export function sendBodyOn(exchange: Pick<Exchange, 'bodyLength' | 'openBody'>, request: ClientRequest): void {
  if (exchange.bodyLength === 0) return void request.end();
  const body = exchange.openBody();
  body.once('close', () => {
    if (!body.readableEnded) request.destroy();
  });
  body.pipe(request);
}

/**
 * Returns the header fields of a response that a proxy forwards, as alternating names and values. The length is kept if node:http
 * has verified it, or for a HEAD, which has no body. RFC 9110, 8.6.
 */
export function endToEndAnswerHeaders(statusCode: number, headers: IncomingHttpHeaders, rawHeaders: readonly string[]): FlatHeaders {
  const named = namedByConnection(headers);
  const forwarded: FlatHeaders = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (name === 'content-length' || hopByHop.has(name) || named.has(name)) continue;
    forwarded.push(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  }
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : undefined;
  if (length !== undefined && statusCode >= 200 && statusCode !== 204) forwarded.push('Content-Length', length);
  return forwarded;
}

/** Returns the names listed in `Connection`, which are also hop-by-hop. */
function namedByConnection({ connection }: IncomingHttpHeaders): ReadonlySet<string> {
  return new Set(connection?.split(',').map((name) => name.trim().toLowerCase()));
}
