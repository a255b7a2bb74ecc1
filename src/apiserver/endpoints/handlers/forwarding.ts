import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import type { Exchange, FlatHeaders } from '#apiserver/request/exchange';

/** Fields of one connection, or of who is trusted on it: RFC 9110, 7.6.1. */
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
 * The fields of a request that a proxy may send on. Its length is not among them: a proxy frames what it sends by itself (`framingOf`), since the
 * next request of a shared connection begins where the other side sees the end of this one.
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
 * The framing of a request whose body has this length (`Exchange.bodyLength`). It is given for every method: without it node:http sends the body of a
 * GET or DELETE bare. A request without a body needs none.
 */
export function framingOf(bodyLength: number | undefined): OutgoingHeaders {
  if (bodyLength === undefined) return { 'transfer-encoding': 'chunked' };
  return bodyLength > 0 ? { 'content-length': String(bodyLength) } : {};
}

/** Sends a request's body on. Where it breaks off, so does what was sent: the other side must not take it for whole. */
export function sendBodyOn(exchange: Pick<Exchange, 'bodyLength' | 'openBody'>, request: ClientRequest): void {
  if (exchange.bodyLength === 0) return void request.end();
  const body = exchange.openBody();
  body.once('close', () => {
    if (!body.readableEnded) request.destroy();
  });
  body.pipe(request);
}

/**
 * The fields of an answer that a proxy may send on, names and values in turn. A length is among them where node:http has held the body to it, or the
 * answer to a HEAD has none; RFC 9110, 8.6.
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

/** The names that `Connection` lists: they are of this connection, too. */
function namedByConnection({ connection }: IncomingHttpHeaders): ReadonlySet<string> {
  return new Set(connection?.split(',').map((name) => name.trim().toLowerCase()));
}
