import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FlatHeaders } from '#apiserver/request/exchange';
import type { SecureServerOptions, TlsOptions } from '../secure-server.ts';

/*
 * Messages between the main thread and a thread that terminates connections. Workers assign unique numbers to requests; both sides
 * forget a request once it is answered or its client is gone, and ignore later messages with its number. Kinds are numbers and most
 * entries tuples, because there are several for each request.
 */

/** Index of a byte string in its batch. */
export type Part = number;

/** Number of bytes of a request's body, or of a taken-over connection, that a worker forwards without a grant. */
export const windowBytes = 65_536;
/**
 * Flow control of streamed responses: high-water mark of unread bytes, and number of read bytes after which the worker reports
 * them, for watches and proxies, and for lists.
 */
export const streams = {
  open: { highWaterBytes: 65_536, takenBytes: 16_384 },
  list: { highWaterBytes: 524_288, takenBytes: 131_072 },
} as const;

/** Kinds of worker messages. */
export const messageKinds = { peer: 0, peerGone: 1, request: 2, data: 3, end: 4, taken: 5, closed: 6, handshakeError: 7 } as const;
/** Kinds of commands to a worker. */
export const commandKinds = { send: 0, open: 1, write: 2, end: 3, abort: 4, grant: 5, takeOver: 6 } as const;

export interface RequestHead {
  /** Number of the connection. */
  readonly peer: number;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  /** True if the connection can be taken over. */
  readonly isUpgrade: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** See `Exchange.bodyLength`. */
  readonly bodyLength: number | undefined;
  /** Body bytes that arrived with the head. */
  readonly body: Part[];
  /** True if `body` is complete. */
  isWhole: boolean;
}

/** Messages of a worker by kind. */
export type WorkerMessage =
  /** A new connection with the certificates of its client (DER, its own first). */
  | readonly [kind: typeof messageKinds.peer, peer: number, remoteAddress: string, chain: readonly Uint8Array[]]
  | readonly [kind: typeof messageKinds.peerGone, peer: number]
  | readonly [kind: typeof messageKinds.request, request: number, head: RequestHead]
  /** More of the body, or of a taken-over connection. */
  | readonly [kind: typeof messageKinds.data, request: number, bytes: Part]
  /** End of the body or connection. */
  | readonly [kind: typeof messageKinds.end, request: number]
  /** Number of further bytes of the response that the client has read. */
  | readonly [kind: typeof messageKinds.taken, request: number, bytes: number]
  /** The client has disconnected or read the end of the response. */
  | readonly [kind: typeof messageKinds.closed, request: number]
  /** A failed handshake. */
  | readonly [kind: typeof messageKinds.handshakeError];

/** Commands of the main thread by kind. */
export type WorkerCommand =
  /** A complete response. */
  | readonly [
      kind: typeof commandKinds.send,
      request: number,
      status: number,
      headers: FlatHeaders,
      pieces: readonly Part[],
      length: number,
      closesConnection: boolean,
    ]
  /** Head of a streamed response. */
  | readonly [
      kind: typeof commandKinds.open,
      request: number,
      status: number,
      headers: FlatHeaders,
      closesConnection: boolean,
      stream: keyof typeof streams,
    ]
  /** Chunk of a streamed response. */
  | readonly [kind: typeof commandKinds.write, request: number, bytes: Part]
  /** End of a streamed response or of a taken-over connection. */
  | readonly [kind: typeof commandKinds.end, request: number]
  | readonly [kind: typeof commandKinds.abort, request: number]
  /** Grant of further bytes of the body. */
  | readonly [kind: typeof commandKinds.grant, request: number, bytes: number]
  | readonly [kind: typeof commandKinds.takeOver, request: number];

/** Options of a worker. */
export interface WorkerOptions extends Omit<SecureServerOptions, 'sharesPort'> {
  /** Memory of the `Backlog` of the worker's messages. */
  readonly backlog: SharedArrayBuffer;
}

/** Control message to a worker. */
export type Order =
  | { readonly order: 'listen'; readonly port: number; readonly host: string }
  | { readonly order: 'reload'; readonly tls: TlsOptions }
  | { readonly order: 'stopListening' | 'settle' | 'close' };
/** Control message from a worker: the result of listening, or that no client is about to send its first request. */
export type Report =
  | { readonly listening: AddressInfo }
  | { readonly settled: true }
  | { readonly failed: { readonly message: string; readonly code: string | undefined } };
