import type { TLSSocket } from 'node:tls';
import type { ConnectionDeadlines } from './deadlines.ts';
import type { ServerStream } from './server-stream.ts';

/** `own`: the implementation in `http2/`; `node`: node:http2. */
export const http2Implementations = ['own', 'node'] as const;
export type Http2Implementation = (typeof http2Implementations)[number];

/** An implementation of HTTP/2: it serves connections whose TLS handshake is done. */
export interface Http2Server {
  serve(socket: TLSSocket): void;
  /** Sends GOAWAY on every connection, and on those that come later at once. */
  goAway(): void;
  /** Breaks every connection off. */
  destroy(): void;
  /** Ends connections that have missed a deadline. To be called now and then, with the time of `performance.now`. */
  checkDeadlines(now: number): void;
}

/** Limits of a connection that both implementations keep. */
export interface Http2ServerOptions {
  readonly maxConcurrentStreams: number;
  /** What a client may send of one body before the server has taken it; a frame may have as much. */
  readonly streamWindow: number;
  /** Of a request: the fields as SETTINGS_MAX_HEADER_LIST_SIZE counts them. */
  readonly maxHeaderBytes: number;
  readonly deadlines: ConnectionDeadlines;
}

/** Takes a request. Must not throw. */
export type OnStream = (stream: ServerStream, socket: TLSSocket) => void;
