import type { TLSSocket } from 'node:tls';
import type { ConnectionDeadlines } from './deadlines.ts';
import type { ServerStream } from './server-stream.ts';

/** `own`: the implementation in `http2/`; `node`: node:http2. */
export const http2Implementations = ['own', 'node'] as const;
export type Http2Implementation = (typeof http2Implementations)[number];

/** An HTTP/2 implementation that serves connections after the TLS handshake. */
export interface Http2Server {
  serve(socket: TLSSocket): void;
  /**
   * Asks every client for a new connection, by a GOAWAY that permits further requests on this one (RFC 9113, 6.8), if the implementation
   * can. Connections without a request, also later ones, close after their first.
   */
  announceEnd(): void;
  /** Sends GOAWAY on every connection; on one that has had no request, with the first. */
  goAway(): void;
  /** Sends GOAWAY on every connection, and closes it after its requests. */
  close(): void;
  /** Destroys every connection. */
  destroy(): void;
  /** Closes connections that have missed a deadline. Called periodically with the time of `performance.now`. */
  checkDeadlines(now: number): void;
}

/** Limits of a connection, which both implementations enforce. */
export interface Http2ServerOptions {
  readonly maxConcurrentStreams: number;
  /** Receive window of a stream in bytes; also the maximum frame size. */
  readonly streamWindow: number;
  /** Maximum size of a request's fields as defined by SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly maxHeaderBytes: number;
  readonly deadlines: ConnectionDeadlines;
}

/** Serves a request. Must not throw. */
export type OnStream = (stream: ServerStream, socket: TLSSocket) => void;
