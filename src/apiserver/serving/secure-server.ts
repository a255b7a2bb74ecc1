import { Buffer } from 'node:buffer';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { DerError } from '#apimachinery/x509/der-reader';
import type { Exchange, Peer } from '#apiserver/request/exchange';
import { clientCertificateOptions, readClientCertificates } from './client-certificate.ts';
import { type ConnectionDeadlines, connectionDeadlines } from './deadlines.ts';
import { endSoon } from './end-soon.ts';
import { Http1Exchange } from './http1-exchange.ts';
import { Http1Feed } from './http1-feed.ts';
import { headerFieldsTooLarge, refusalAnswer } from './http1-head.ts';
import { Http2Exchange } from './http2-exchange.ts';
import type { Http2Implementation, Http2Server } from './http2-server.ts';
import { NodeHttp2Server } from './node-http2/node-http2-server.ts';
import { OwnHttp2Server } from './own-http2-server.ts';
import { PendingHandshakes } from './pending-handshakes.ts';
import { assertFree, sharesPorts } from './shares-ports.ts';
import { UpgradeExchange } from './upgrade-exchange.ts';

/** PEM texts of a certificate and its key. */
export interface ServingCertificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface SecureServerOptions {
  readonly certificate: ServingCertificate;
  /** Certificates by server name, including wildcards such as `*.example.com`. */
  readonly sniCertificates: readonly { readonly names: readonly string[]; readonly certificate: ServingCertificate }[];
  /** PEM of the authorities whose client certificates are requested; authenticators verify the certificates. */
  readonly clientCa: string | undefined;
  readonly minVersion: tls.SecureVersion;
  readonly cipherSuites: readonly string[];
  /** Key exchange groups in OpenSSL's names; empty or absent: OpenSSL's defaults. */
  readonly curves?: readonly string[] | undefined;
  readonly disableHttp2: boolean;
  /** HTTP/2 implementation. Default: `own`. */
  readonly http2Server?: Http2Implementation | undefined;
  readonly maxConcurrentStreams: number;
  /** Time after which a response is aborted if its client reads nothing. */
  readonly stalledMs: number;
  /** Timeouts of connections. Default: upstream's. */
  readonly deadlines?: ConnectionDeadlines;
  /** Source of the connections, if another process accepts them for this server. */
  readonly source?: ConnectionSource | undefined;
  /** True if other listeners may share the port (SO_REUSEPORT). */
  readonly sharesPort?: boolean;
}

/** A process that accepts the connections of a port for a server, before and after its time, so that the port never closes. */
export interface ConnectionSource {
  readonly address: AddressInfo;
  /** Passes the connections from now on. */
  accept(onConnection: (socket: Socket) => void): void;
}

/** Options that can change at run time. */
export type TlsOptions = Pick<
  SecureServerOptions,
  'certificate' | 'sniCertificates' | 'clientCa' | 'minVersion' | 'cipherSuites' | 'curves'
>;

/** Events of connections. */
export interface ConnectionEvents {
  /** Called when a connection that had a request closes. */
  readonly onPeerGone?: ((peer: Peer) => void) | undefined;
  /** Called for each connection that closes before the end of its handshake. */
  readonly onHandshakeError?: (() => void) | undefined;
}

/** Serves a request. Must not throw. */
export type Serve = (exchange: Exchange) => void;

/** Limits of a connection. Upstream: apiserver/pkg/server/secure_serving.go. */
const limits = {
  headerBytes: 1 << 20,
  requestMs: 60_000,
  streamWindow: 256 * 1024,
} as const;

/**
 * Age up to which a connection without a request is expected to send one, when the server ends. Upstream waits five seconds:
 * net/http/server.go (closeIdleConns).
 */
const freshMs = 1_000;
/** Time since its last request in which a client is expected to send one more, which may be on its way when the server ends. */
const busyMs = 250;
/** Time in which clients can read the end of their connections before they are destroyed. */
const endMs = 500;

/** State of a connection after its handshake. */
interface Connection {
  readonly peer: Peer;
  readonly since: number;
  requests: number;
  /** Time of the last request. */
  lastRequest: number;
}

/**
 * Number of listeners of the port. The event loop accepts one connection per listener and iteration, between all other requests:
 * with a single listener, a thousand clients that reconnect at once delay new connections by seconds. A handshake takes a
 * millisecond.
 */
const listeners = sharesPorts ? 8 : 1;

/**
 * One TLS port that serves HTTP/2 and HTTP/1.1 by ALPN. Only TCP servers listen: they pass their sockets to the TLS server, which
 * passes connections to the HTTP/1.1 server or to HTTP/2 after the handshake.
 */
export class SecureServer {
  readonly #listeners: NetServer[] = [];
  readonly #tls: tls.Server;
  readonly #sharesPort: boolean;
  readonly #source: ConnectionSource | undefined;
  readonly #http1: http.Server;
  readonly #http2: Http2Server;
  readonly #connections = new Map<tls.TLSSocket, Connection>();
  readonly #feeds = new WeakMap<Socket, Http1Feed>();
  readonly #handshakes: PendingHandshakes;
  readonly #deadlineTimer: NodeJS.Timeout;
  #draining = false;

  constructor(options: SecureServerOptions, handle: Serve, { onPeerGone, onHandshakeError }: ConnectionEvents = {}) {
    this.#sharesPort = options.sharesPort ?? false;
    this.#source = options.source;
    const { deadlines = connectionDeadlines } = options;
    this.#handshakes = new PendingHandshakes((socket) => this.#tls.emit('connection', socket), deadlines.handshakeMs, onHandshakeError);
    const serve: Serve = (exchange) => {
      // Upstream: net/http/server.go (globalOptionsHandler).
      if (exchange.url === '*' && exchange.method === 'OPTIONS') exchange.send(200, [], undefined);
      else handle(exchange);
    };
    this.#http1 = this.#newHttp1(options, deadlines, serve);
    this.#http2 = this.#newHttp2(options, deadlines, serve);
    this.#tls = this.#newTls(options, onPeerGone);
    this.#deadlineTimer = this.#watchDeadlines(deadlines);
    this.#addServerNames(options);
  }

  #newHttp1({ stalledMs }: SecureServerOptions, deadlines: ConnectionDeadlines, serve: Serve): http.Server {
    const feeds = this.#feeds;
    const server = http.createServer(
      {
        maxHeaderSize: limits.headerBytes,
        keepAliveTimeout: deadlines.idleMs,
        headersTimeout: deadlines.headerMs,
        requestTimeout: limits.requestMs,
        noDelay: true,
        connectionsCheckingInterval: Math.min(5_000, deadlines.headerMs),
        // A request without a body has no stream that must end.
        optimizeEmptyRequests: true,
        shouldUpgradeCallback: hasNoBody,
      },
      (request, response) => {
        // The parser stops after an ignored upgrade.
        if (request.headers.upgrade !== undefined || this.#draining) response.shouldKeepAlive = false;
        const feed = feeds.get(request.socket);
        feed?.identify(request);
        const exchange = new Http1Exchange(request, response, this.#requester(request.socket), stalledMs);
        feed?.begin(exchange);
        serve(exchange);
      },
    );
    // Heads are limited by bytes instead.
    server.maxHeadersCount = 0;
    server.on('clientError', answerClientError);
    server.on('upgrade', (request, socket, head) => {
      const feed = feeds.get(request.socket);
      feed?.identify(request);
      const behind = Buffer.concat([head, feed?.end() ?? Buffer.alloc(0)]);
      serve(new UpgradeExchange(request, socket, behind, this.#requester(request.socket)));
    });
    return server;
  }

  #newHttp2(options: SecureServerOptions, deadlines: ConnectionDeadlines, serve: Serve): Http2Server {
    const { http2Server, maxConcurrentStreams, stalledMs } = options;
    const { streamWindow, headerBytes: maxHeaderBytes } = limits;
    return new (http2Server === 'node' ? NodeHttp2Server : OwnHttp2Server)(
      { maxConcurrentStreams, streamWindow, maxHeaderBytes, deadlines },
      (stream, socket) => serve(new Http2Exchange(stream, this.#requester(socket), stalledMs)),
    );
  }

  #newTls(options: SecureServerOptions, onPeerGone: ConnectionEvents['onPeerGone']): tls.Server {
    const server = tls.createServer(
      {
        ...secureContextOptions(options),
        requestCert: options.clientCa !== undefined,
        rejectUnauthorized: false,
        ALPNProtocols: options.disableHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
      },
      (socket) => {
        socket.on('error', () => socket.destroy());
        const peer = readPeer(socket);
        if (!peer) return void socket.destroy();
        this.#connections.set(socket, { peer, since: performance.now(), requests: 0, lastRequest: 0 });
        socket.on('close', () => this.#connections.delete(socket));
        this.#handshakes.finish(tcpSocketOf(socket));
        if (onPeerGone) socket.once('close', () => onPeerGone(peer));
        socket.setNoDelay(true);
        if (socket.alpnProtocol === 'h2') this.#http2.serve(socket);
        else {
          this.#http1.emit('connection', socket);
          this.#feeds.set(socket, new Http1Feed(socket));
        }
      },
    );
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }

  /** Registers a request of a connection. Returns the peer that sent it. */
  #requester(socket: Socket): Peer {
    const connection = this.#connections.get(socket as tls.TLSSocket) as Connection;
    connection.requests += 1;
    connection.lastRequest = performance.now();
    return connection.peer;
  }

  /** Checks the deadlines of all connections at an interval. */
  #watchDeadlines(deadlines: ConnectionDeadlines): NodeJS.Timeout {
    const check = (): void => {
      const now = performance.now();
      this.#handshakes.checkDeadlines(now);
      this.#http2.checkDeadlines(now);
      for (const socket of this.#connections.keys()) this.#feeds.get(socket)?.checkDeadlines(now, deadlines);
    };
    return setInterval(check, Math.min(1_000, ...Object.values(deadlines).map((milliseconds) => milliseconds / 4))).unref();
  }

  /** Listens. Rejects with the system's error, for example if the port is in use; it does not listen then. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    if (this.#source) {
      this.#source.accept((socket) => this.#handshakes.add(socket));
      this.#http1.emit('listening');
      return this.#source.address;
    }
    if (port !== 0 && listeners > 1 && !this.#sharesPort) await assertFree(port, host);
    try {
      const address = await this.#addListener(port, host);
      await Promise.all(Array.from({ length: listeners - 1 }, () => this.#addListener(address.port, host)));
      // http.Server enforces its header and request timeouts from 'listening' on, which it never receives by itself.
      this.#http1.emit('listening');
      return address;
    } catch (error) {
      for (const listener of this.#listeners) listener.close();
      throw error;
    }
  }

  async #addListener(port: number, host: string): Promise<AddressInfo> {
    const listener = createServer((socket) => this.#handshakes.add(socket));
    listener.listen({ port, host, backlog: 4096, reusePort: listeners > 1 || this.#sharesPort });
    await once(listener, 'listening');
    this.#listeners.push(listener);
    return listener.address() as AddressInfo;
  }

  /** Replaces the certificates from the next handshake on. */
  reload(options: TlsOptions): void {
    this.#tls.setSecureContext(secureContextOptions(options));
    this.#addServerNames(options);
  }

  /** Adds the certificates by server name; a later context for a name replaces an earlier one. */
  #addServerNames(options: TlsOptions): void {
    for (const { names, certificate } of options.sniCertificates) {
      const context = tls.createSecureContext(secureContextOptions({ ...options, certificate }));
      for (const name of names) this.#tls.addContext(name, context);
    }
  }

  /**
   * Stops accepting connections. HTTP/2 clients receive a GOAWAY that still permits the requests on their way, HTTP/1.1 connections are
   * closed after their next response, and pending requests continue.
   */
  stopListening(): void {
    this.#draining = true;
    for (const listener of this.#listeners) listener.close();
    for (const socket of this.#connections.keys()) this.#feeds.get(socket)?.closeAfterResponse();
    this.#http2.announceEnd();
  }

  /** Resolves when no client is likely to send another request. Then refuses further requests and closes idle connections. */
  async settled(): Promise<void> {
    const end = performance.now() + freshMs;
    do {
      // A timer precedes the reading of what has arrived.
      await sleep(5);
      await nextTurn();
    } while (this.#isUnsettled(performance.now()) && performance.now() < end);
    this.#http2.goAway();
    this.#endIdle();
  }

  #isUnsettled(now: number): boolean {
    if (this.#handshakes.isAnySince(now - freshMs)) return true;
    for (const [socket, { since, requests, lastRequest }] of this.#connections) {
      if (!socket.writableEnded && (requests === 0 ? since > now - freshMs : lastRequest > now - busyMs)) return true;
    }
    return false;
  }

  #endIdle(): void {
    for (const socket of this.#connections.keys()) this.#feeds.get(socket)?.endIfIdle();
  }

  /** Ends all open connections. A connection that was reset instead would lose what its client has not read, and the GOAWAY. */
  async close(): Promise<void> {
    if (!this.#draining) this.stopListening();
    this.#handshakes.destroy();
    this.#http2.close();
    this.#endIdle();
    const open = Array.from(this.#connections.keys(), (socket) => new Promise((resolve) => void socket.once('close', resolve)));
    await Promise.race([Promise.all(open), sleep(endMs, undefined, { ref: false })]);
    this.#http2.destroy();
    for (const socket of this.#connections.keys()) socket.destroy();
    clearInterval(this.#deadlineTimer);
    // The HTTP/1.1 server does not listen itself; closing it stops its timer.
    this.#http1.close();
  }
}

/** Throws for unusable certificates, keys and cipher suites. */
export function assertTlsOptions(options: TlsOptions): void {
  for (const { certificate } of [options, ...options.sniCertificates])
    tls.createSecureContext(secureContextOptions({ ...options, certificate }));
}

function secureContextOptions(options: Omit<TlsOptions, 'sniCertificates'>): tls.SecureContextOptions {
  return {
    cert: options.certificate.cert,
    key: options.certificate.key,
    ...(options.clientCa !== undefined && clientCertificateOptions(options.clientCa)),
    minVersion: options.minVersion,
    ciphers: ciphersOf(options),
    ...(options.curves?.length && { ecdhCurve: options.curves.join(':') }),
    // As in Go's server, renegotiation is disabled, because a client could force repeated handshakes (CVE-2011-1473).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/**
 * TLS 1.3 cipher suites, independent of the list for earlier versions. The server's order takes precedence, and it is Go's: with
 * AES-256 first, as in Node, encryption takes a third longer on both sides. Upstream: Go's crypto/tls/defaults.go
 * (defaultCipherSuitesTLS13).
 */
const tls13Suites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const defaultSuites = tls.DEFAULT_CIPHERS.split(':').filter((name) => !tls13Suites.includes(name));

/** Returns the cipher list. TLS versions before 1.2 sign with SHA-1, which OpenSSL permits only at its lowest security level. */
function ciphersOf({ cipherSuites, minVersion }: Pick<TlsOptions, 'cipherSuites' | 'minVersion'>): string {
  const isOld = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  const suites = cipherSuites.length === 0 ? defaultSuites : cipherSuites;
  return [...tls13Suites, ...suites, ...(isOld ? ['@SECLEVEL=0'] : [])].join(':');
}

/** Returns the peer of a connection; undefined if its certificates cannot be parsed, in which case Go's handshake fails. */
function readPeer(socket: tls.TLSSocket): Peer | undefined {
  try {
    return { remoteAddress: socket.remoteAddress ?? '', certificates: readClientCertificates(socket), memo: new Map() };
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** Returns the TCP connection below a TLS connection, for which Node has only an internal property. */
function tcpSocketOf(socket: tls.TLSSocket): Socket {
  return (socket as tls.TLSSocket & { readonly _parent: Socket })._parent;
}

/**
 * True for a request without a body. An upgrade with a body is ignored (RFC 9110, 7.8), because node:http would leave the body
 * unparsed on the connection.
 */
function hasNoBody({ headers }: http.IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Responds to invalid HTTP like Go's server and closes the connection. */
function answerClientError(error: NodeJS.ErrnoException, socket: import('node:stream').Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? headerFieldsTooLarge
      : { status: error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request' };
  endSoon(socket, refusalAnswer(refusal));
}
