import { Buffer } from 'node:buffer';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { newBadRequest, newServiceUnavailable, newStatus, StatusError } from '#apimachinery/api/errors';
import { type FlatHeaders, isUpgradable, type UpgradableExchange } from '#apiserver/request/exchange';
import { decodePath, joinPath } from '#apiserver/request/path';
import type { RequestContext } from '#apiserver/request/request-context';
import { endWhenRead } from '#apiserver/serving/end-soon';
import { type Answer, answerOf, headLimits } from '#apiserver/network/answer-of';
import { agentOf } from '#apiserver/network/egress-selector/dialing-agent';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import type { TrustOptions } from '#apiserver/network/trust';
import { dialErrorText } from './dial-error.ts';
import { endToEndAnswerHeaders, endToEndHeaders, framingOf, type OutgoingHeaders, sendBodyOn } from './forwarding.ts';
import { respondBytes, sendOn, startHeaders } from './responses.ts';
import { Throttle } from './throttle.ts';

/** Destination of a proxied request. */
export interface ProxyLocation {
  readonly secure: boolean;
  /** Host name, or address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Escaped path; may be empty. */
  readonly path: string;
  /** Query without the question mark. If empty, requests without upgrade keep their own. */
  readonly query: string;
  /** Address to connect to, if the name was resolved and checked before. */
  readonly address?: string | undefined;
  /** TLS options of this connection; without `servername` the certificate must match `host`. */
  readonly tls?: (TrustOptions & Pick<ConnectionOptions, 'cert' | 'key' | 'servername'>) | undefined;
  /** HTTP agent; false: a separate connection; undefined: the agent of the process. */
  readonly agent?: http.Agent | false | undefined;
  /** Dialer of a separate connection; undefined: connect directly. */
  readonly dial?: Dial | undefined;
  /** Headers that replace those of the client (names in lower case). */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  /** Limit of each direction of an upgraded connection in bytes per second; undefined: none. */
  readonly maxBytesPerSecond?: number | undefined;
  /** True if a redirect results in 502. */
  readonly rejectsRedirects?: boolean | undefined;
}

/** Methods of requests that may be retried. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS']);
const redirectText = Buffer.from('the backend attempted to redirect this request, which is not permitted');
const framing = /^(content-length|transfer-encoding)$/i;
const identity = /^(authorization|x-remote-|impersonate-)/;

function forwardedHeaders({ exchange, span }: RequestContext): OutgoingHeaders {
  const { headers } = exchange;
  const forwarded = endToEndHeaders(exchange);
  for (const name in forwarded) if (identity.test(name)) delete forwarded[name];
  if (span) Object.assign(forwarded, span.headers);
  const host = headers[':authority'] ?? headers.host;
  if (typeof host === 'string') forwarded['host'] = host;
  const before = headers['x-forwarded-for'];
  forwarded['x-forwarded-for'] = before ? `${String(before)}, ${exchange.peer.remoteAddress}` : exchange.peer.remoteAddress;
  return forwarded;
}

/** True if the request has to switch protocols and its connection can be taken over. */
export function isUpgrade({ exchange }: RequestContext): boolean {
  return (
    isUpgradable(exchange) &&
    /(^|,)\s*upgrade\s*(,|$)/i.test(String(exchange.headers.connection ?? '')) &&
    exchange.headers.upgrade !== undefined
  );
}

function outgoing(location: ProxyLocation, method: string, target: string, headers: OutgoingHeaders): http.ClientRequest {
  const { secure, host, port, address, tls, dial } = location;
  const agent = location.agent || (dial ? agentOf(dial, secure, {}) : location.agent);
  const name = host.includes(':') ? `[${host}]` : host;
  const own = { host: `${name}:${port}`, ...headers };
  const common = { ...headLimits, host: address ?? host, port, method, path: target, headers: own, setHost: false };
  const connection = { ...common, ...(agent !== undefined && { agent }) };
  if (!secure) return http.request(connection);
  return https.request({ ...connection, ...(isIP(host) === 0 && { servername: host }), ...tls });
}

/**
 * Forwards a request and its response, or relays an upgraded connection. With `upgradeOnly`, other requests are rejected. Rejects
 * with a StatusError before the response starts. Upstream: apimachinery/pkg/util/proxy (UpgradeAwareHandler).
 */
export async function proxyRequest(context: RequestContext, location: ProxyLocation, upgradeOnly: boolean): Promise<void> {
  const { exchange } = context;
  if (isUpgradable(exchange) && isUpgrade(context)) return proxyUpgrade(context, exchange, location);
  if (upgradeOnly) throw newBadRequest('Upgrade request required');
  let { path } = location;
  if (!path.endsWith('/') && context.path.endsWith('/')) path += '/';
  const own = location.query || context.query;
  const query = own && `?${own}`;
  // Relative links of the page require the trailing slash.
  if (path === '' && (context.method === 'GET' || context.method === 'HEAD')) {
    context.headers.push('Location', `${exchange.url.split('?', 1)[0]}/${query}`);
    return respondBytes(context, 301, undefined, undefined);
  }
  await exchangeWith(context, location, path, query);
}

async function exchangeWith(context: RequestContext, location: ProxyLocation, path: string, query: string): Promise<void> {
  const { exchange } = context;
  const sent = decodePath(path) ?? path;
  const prefix = context.path.endsWith(sent) ? context.path.slice(0, context.path.length - sent.length) : context.path;
  const headers = {
    ...forwardedHeaders(context),
    'x-forwarded-uri': joinPath(prefix, path),
    ...location.headers,
    ...framingOf(exchange.bodyLength),
  };
  const response = await responseTo(context, location, `${path || '/'}${query}`, headers);
  if (context.answered || exchange.closed) {
    response.destroy();
    return;
  }
  if (location.rejectsRedirects && isRedirect(response)) {
    response.destroy();
    return respondBytes(context, 502, 'text/plain; charset=utf-8', redirectText);
  }
  relay(context, response, answerHeaders(context, response, prefix, location));
}

function isRedirect({ statusCode = 0, headers }: http.IncomingMessage): boolean {
  return statusCode >= 300 && statusCode <= 399 && Boolean(headers.location);
}

/**
 * Resolves to the response. A request without a body on a reused connection that the other side just closed is retried once on a
 * new one.
 */
async function responseTo(
  context: RequestContext,
  location: ProxyLocation,
  target: string,
  headers: OutgoingHeaders,
): Promise<http.IncomingMessage> {
  const { exchange, method } = context;
  const isRepeatable = repeatable.has(method) && exchange.bodyLength === 0;
  const attempt = async (place: ProxyLocation): Promise<http.IncomingMessage> => {
    const request = outgoing(place, method, target, headers);
    exchange.onClose(() => request.destroy());
    const answer = answerOf(request);
    sendBodyOn(exchange, request);
    try {
      return (await answer).response;
    } catch (error) {
      const mayHaveBeenLost = request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET' && !exchange.closed;
      if (isRepeatable && mayHaveBeenLost && place.agent) return attempt({ ...place, agent: false });
      throw newServiceUnavailable(`error trying to reach service: ${dialErrorText(error as Error)}`);
    }
  };
  return attempt(location);
}

/** Returns the response headers after the server's own; a redirect to the same host is rewritten to stay behind the proxy. */
function answerHeaders(
  context: RequestContext,
  response: http.IncomingMessage,
  prefix: string,
  { host, port }: ProxyLocation,
): FlatHeaders {
  const { statusCode = 500 } = response;
  const rawHeaders = endToEndAnswerHeaders(statusCode, response.headers, response.rawHeaders);
  const sent = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) sent.add((rawHeaders[i] as string).toLowerCase());
  const own = startHeaders(context, statusCode, undefined);
  const headers: FlatHeaders = [];
  for (let i = 0; i < own.length; i += 2)
    if (!sent.has((own[i] as string).toLowerCase())) headers.push(own[i] as string, own[i + 1] as string);
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    headers.push(
      name,
      name.toLowerCase() === 'location'
        ? behindProxy(value, prefix, [`${host}:${port}`, host, String(context.header('host') ?? '')])
        : value,
    );
  }
  return headers;
}

function behindProxy(target: string, prefix: string, hosts: readonly string[]): string {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/i.exec(target);
  if (absolute && !hosts.includes(absolute[1] as string)) return target;
  const path = absolute ? (absolute[2] as string) || '/' : target;
  if (!path.startsWith('/') || path.startsWith('//') || path.startsWith(prefix)) return target;
  return `${prefix}${path}`;
}

/** Relays a response with backpressure. */
function relay({ exchange, method }: RequestContext, response: http.IncomingMessage, headers: FlatHeaders): void {
  const stream = exchange.open(response.statusCode ?? 500, headers);
  if (method === 'HEAD') {
    response.resume();
    return stream.end();
  }
  sendOn(response, stream);
}

/**
 * Relays an upgrade. Responses other than 101 are forwarded and the connection is closed, so that nothing can follow on it
 * (CVE-2018-1002105).
 */
async function proxyUpgrade(context: RequestContext, exchange: UpgradableExchange, location: ProxyLocation): Promise<void> {
  const headers: OutgoingHeaders = {
    ...forwardedHeaders(context),
    ...location.headers,
    connection: 'Upgrade',
    upgrade: String(exchange.headers.upgrade),
  };
  const request = outgoing(location, context.method, `${location.path || '/'}${location.query && `?${location.query}`}`, headers);
  exchange.onClose(() => request.destroy());
  let answer: Answer;
  try {
    request.end();
    answer = await answerOf(request, true);
  } catch (error) {
    throw new StatusError(newStatus(500, '', `error dialing backend: ${dialErrorText(error as Error)}`));
  }
  const { response, upgraded: backend } = answer;
  const status = response.statusCode ?? 500;
  if (backend) return splice(context, exchange, response, { ...backend, maxBytesPerSecond: location.maxBytesPerSecond });
  if (status < 400) {
    response.destroy();
    throw new StatusError(newStatus(500, '', `invalid upgrade response: status code ${status}`));
  }
  relay(context, response, answerHeaders(context, response, '', location));
}

interface Upgraded {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly maxBytesPerSecond?: number | undefined;
}

function splice(
  context: RequestContext,
  exchange: UpgradableExchange,
  response: http.IncomingMessage,
  { socket: backend, head, maxBytesPerSecond }: Upgraded,
): void {
  context.status = 101;
  context.audit?.started(101);
  const client = exchange.takeOver();
  const lines = [`HTTP/1.1 101 ${response.statusMessage || 'Switching Protocols'}`];
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    // The following bytes are not HTTP and have no length.
    if (framing.test(response.rawHeaders[i] as string)) continue;
    lines.push(`${response.rawHeaders[i]}: ${response.rawHeaders[i + 1]}`);
  }
  client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (head.length > 0) client.write(head);
  if ('setTimeout' in backend) (backend as import('node:net').Socket).setTimeout(0);
  passOn(client, backend, maxBytesPerSecond);
  passOn(backend, client, maxBytesPerSecond);
}

/** Passes on what one side of a connection sends. Its end is that of the connection, after the other side has read what came before. */
function passOn(from: Duplex, to: Duplex, maxBytesPerSecond: number | undefined): void {
  const source = maxBytesPerSecond === undefined ? from : from.pipe(new Throttle(maxBytesPerSecond));
  source.pipe(to, { end: false });
  source.once('end', () => endWhenRead(to));
  from.once('error', () => from.destroy());
  from.once('close', () => {
    if (from.readableEnded) return;
    source.destroy();
    to.destroy();
  });
}
