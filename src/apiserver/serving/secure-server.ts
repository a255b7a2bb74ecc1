import { Buffer } from 'node:buffer';
import { constants } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
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
import { assertFree, sharesPorts } from './shares-ports.ts';
import { UpgradeExchange } from './upgrade-exchange.ts';

/** PEM texts of one certificate and its key. */
export interface ServingCertificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface SecureServerOptions {
  readonly certificate: ServingCertificate;
  /** By server name, `*.example.com` among them. */
  readonly sniCertificates: readonly { readonly names: readonly string[]; readonly certificate: ServingCertificate }[];
  /** PEM of the authorities whose client certificates are asked for; verification itself is the authenticators'. */
  readonly clientCa: string | undefined;
  readonly minVersion: tls.SecureVersion;
  readonly cipherSuites: readonly string[];
  /** Key exchanges in OpenSSL's names; empty or absent: those of the library. */
  readonly curves?: readonly string[] | undefined;
  readonly disableHttp2: boolean;
  /** The implementation of HTTP/2. Default: `own`. */
  readonly http2Server?: Http2Implementation | undefined;
  readonly maxConcurrentStreams: number;
  /** An answer of which the client takes nothing for so long is broken off. */
  readonly stalledMs: number;
  /** Default: upstream's. */
  readonly deadlines?: ConnectionDeadlines;
  /** Others may listen on the same port (SO_REUSEPORT). */
  readonly sharesPort?: boolean;
}

/** What may change while the server runs. */
export type TlsOptions = Pick<
  SecureServerOptions,
  'certificate' | 'sniCertificates' | 'clientCa' | 'minVersion' | 'cipherSuites' | 'curves'
>;

/** What happens to connections. */
export interface ConnectionEvents {
  /** Told of each that closes, if a request came on it. */
  readonly onPeerGone?: ((peer: Peer) => void) | undefined;
  /** Told of each that did not become one. */
  readonly onHandshakeError?: (() => void) | undefined;
}

/** What the server hands each request to. Must not throw. */
export type Serve = (exchange: Exchange) => void;

/** Upstream: apiserver/pkg/server/secure_serving.go. */
const limits = {
  headerBytes: 1 << 20,
  requestMs: 60_000,
  streamWindow: 256 * 1024,
} as const;

/**
 * The event loop takes one connection from each listener in a turn, between the requests of all others: with a single one, a
 * thousand clients that come back at once keep whoever comes then waiting for seconds. A handshake takes a millisecond.
 */
const listeners = sharesPorts ? 8 : 1;

/**
 * One TLS port that speaks HTTP/2 and HTTP/1.1 by ALPN. Of its servers only those of TCP listen: the one of TLS gets their
 * sockets, and the one of HTTP/1.1, or a connection of HTTP/2, those after the handshake.
 */
export class SecureServer {
  readonly #listeners: NetServer[] = [];
  readonly #tls: tls.Server;
  readonly #sharesPort: boolean;
  readonly #http1: http.Server;
  readonly #http2: Http2Server;
  readonly #sockets = new Set<tls.TLSSocket>();
  readonly #deadlineTimer: NodeJS.Timeout;
  #draining = false;

  constructor(options: SecureServerOptions, handle: Serve, { onPeerGone, onHandshakeError }: ConnectionEvents = {}) {
    this.#sharesPort = options.sharesPort ?? false;
    const { stalledMs, deadlines = connectionDeadlines } = options;
    const peers = new WeakMap<tls.TLSSocket, Peer>();
    const peerOf = (socket: tls.TLSSocket): Peer => peers.get(socket) as Peer;

    const serve: Serve = (exchange) => {
      // Upstream: net/http/server.go (globalOptionsHandler).
      if (exchange.url === '*' && exchange.method === 'OPTIONS') exchange.send(200, [], undefined);
      else handle(exchange);
    };
    const feeds = new WeakMap<Socket, Http1Feed>();
    this.#http1 = http.createServer(
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
        // The parser stops behind an upgrade that was ignored.
        if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
        const feed = feeds.get(request.socket);
        feed?.identify(request);
        const exchange = new Http1Exchange(request, response, peerOf(request.socket as tls.TLSSocket), stalledMs);
        feed?.begin(exchange);
        serve(exchange);
      },
    );
    // A head is limited by its octets.
    this.#http1.maxHeadersCount = 0;
    this.#http1.on('clientError', answerClientError);
    this.#http1.on('upgrade', (request, socket, head) => {
      const feed = feeds.get(request.socket);
      feed?.identify(request);
      const behind = Buffer.concat([head, feed?.end() ?? Buffer.alloc(0)]);
      serve(new UpgradeExchange(request, socket, behind, peerOf(request.socket as tls.TLSSocket)));
    });

    const http2Options = {
      maxConcurrentStreams: options.maxConcurrentStreams,
      streamWindow: limits.streamWindow,
      maxHeaderBytes: limits.headerBytes,
      deadlines,
    };
    this.#http2 = new (options.http2Server === 'node' ? NodeHttp2Server : OwnHttp2Server)(http2Options, (stream, socket) =>
      serve(new Http2Exchange(stream, peerOf(socket), stalledMs)),
    );

    this.#tls = tls.createServer(
      {
        ...secureContextOptions(options),
        requestCert: options.clientCa !== undefined,
        rejectUnauthorized: false,
        ALPNProtocols: options.disableHttp2 ? ['http/1.1'] : ['h2', 'http/1.1'],
        handshakeTimeout: deadlines.handshakeMs,
      },
      (socket) => {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => this.#sockets.delete(socket));
        const peer = readPeer(socket);
        if (!peer) {
          onHandshakeError?.();
          return void socket.destroy();
        }
        peers.set(socket, peer);
        if (onPeerGone) socket.once('close', () => onPeerGone(peer));
        socket.setNoDelay(true);
        if (socket.alpnProtocol === 'h2') this.#http2.serve(socket);
        else {
          this.#http1.emit('connection', socket);
          feeds.set(socket, new Http1Feed(socket));
        }
      },
    );
    this.#tls.on('tlsClientError', (_error, socket) => {
      // Of a handshake that takes too long the socket is still open.
      socket.destroy();
      onHandshakeError?.();
    });
    this.#deadlineTimer = setInterval(
      () => {
        const now = performance.now();
        this.#http2.checkDeadlines(now);
        for (const socket of this.#sockets) feeds.get(socket)?.checkDeadlines(now, deadlines);
      },
      Math.min(1_000, ...Object.values(deadlines).map((milliseconds) => milliseconds / 4)),
    ).unref();
    this.#addServerNames(options);
  }

  /** Rejects where the port is another's, and with whatever else the system says; it does not listen then. */
  async listen(port: number, host: string): Promise<AddressInfo> {
    if (port !== 0 && listeners > 1 && !this.#sharesPort) await assertFree(port, host);
    try {
      const address = await this.#addListener(port, host);
      await Promise.all(Array.from({ length: listeners - 1 }, () => this.#addListener(address.port, host)));
      // http.Server enforces its header and request time-outs from 'listening' on, which it never sees by itself.
      this.#http1.emit('listening');
      return address;
    } catch (error) {
      for (const listener of this.#listeners) listener.close();
      throw error;
    }
  }

  async #addListener(port: number, host: string): Promise<AddressInfo> {
    const listener = createServer((socket) => this.#tls.emit('connection', socket));
    listener.listen({ port, host, backlog: 4096, reusePort: listeners > 1 || this.#sharesPort });
    await once(listener, 'listening');
    this.#listeners.push(listener);
    return listener.address() as AddressInfo;
  }

  /** Serves with other certificates from the next handshake on. */
  reload(options: TlsOptions): void {
    this.#tls.setSecureContext(secureContextOptions(options));
    this.#addServerNames(options);
  }

  /** The context that was added last for a name is the one that counts. */
  #addServerNames(options: TlsOptions): void {
    for (const { names, certificate } of options.sniCertificates) {
      const context = tls.createSecureContext(secureContextOptions({ ...options, certificate }));
      for (const name of names) this.#tls.addContext(name, context);
    }
  }

  /** New connections are refused; HTTP/2 clients get a GOAWAY, idle HTTP/1.1 connections are closed, what is under way goes on. */
  stopListening(): void {
    this.#draining = true;
    for (const listener of this.#listeners) listener.close();
    this.#http2.goAway();
    this.#http1.closeIdleConnections();
  }

  /** Breaks all that is still open. */
  async close(): Promise<void> {
    if (!this.#draining) this.stopListening();
    this.#http2.destroy();
    for (const socket of this.#sockets) socket.destroy();
    clearInterval(this.#deadlineTimer);
    // Not listening itself, the HTTP/1.1 server only has its checking interval to end.
    this.#http1.close();
  }
}

/** Throws for certificates, keys and suites that cannot be used. */
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
    // Go's server has no renegotiation: a client could have the server do handshakes over and over (CVE-2011-1473).
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/**
 * The suites of TLS 1.3, on whatever is listed for versions before. The server's order counts, and this is Go's: with AES-256 first, as Node has it,
 * both sides take a third longer to encrypt. Upstream: Go's crypto/tls/defaults.go (defaultCipherSuitesTLS13).
 */
const tls13Suites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const defaultSuites = tls.DEFAULT_CIPHERS.split(':').filter((name) => !tls13Suites.includes(name));

/** Versions before 1.2 sign with SHA-1, which OpenSSL does at its lowest level of security only. */
function ciphersOf({ cipherSuites, minVersion }: Pick<TlsOptions, 'cipherSuites' | 'minVersion'>): string {
  const isOld = minVersion === 'TLSv1' || minVersion === 'TLSv1.1';
  const suites = cipherSuites.length === 0 ? defaultSuites : cipherSuites;
  return [...tls13Suites, ...suites, ...(isOld ? ['@SECLEVEL=0'] : [])].join(':');
}

/** undefined for a client whose certificates cannot be read: Go's handshake fails then. */
function readPeer(socket: tls.TLSSocket): Peer | undefined {
  try {
    return { remoteAddress: socket.remoteAddress ?? '', certificates: readClientCertificates(socket), memo: new Map() };
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** An upgrade behind a body is ignored (RFC 9110, 7.8): node:http would leave the body unparsed on the connection. */
function hasNoBody({ headers }: http.IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** A request that is no HTTP: what Go's server answers, then the connection ends. */
function answerClientError(error: NodeJS.ErrnoException, socket: import('node:stream').Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? headerFieldsTooLarge
      : { status: error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request' };
  endSoon(socket, refusalAnswer(refusal));
}
