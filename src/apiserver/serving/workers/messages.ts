import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FlatHeaders } from '#apiserver/request/exchange';
import type { SecureServerOptions, TlsOptions } from '../secure-server.ts';

/*
 * What the main thread and a thread that terminates connections say to each other. Requests have numbers, which the worker
 * gives and never gives twice; both sides forget one once it is answered or its client is gone, and take no notice of what
 * still comes under its number. Kinds are numbers and most entries tuples: there are some for each request.
 */

/** A byte string, by its place among those of its batch. */
export type Part = number;

/** Octets of a request's body, or of a connection that was taken over, that a worker sends without being asked for them. */
export const windowBytes = 65_536;
/**
 * Of an answer that is streamed, more than so much is kept back until the client takes it, and what it has taken is told whenever
 * it has become so much: of what watches and proxies send, and of lists, which are there already.
 */
export const streams = {
  open: { highWaterBytes: 65_536, takenBytes: 16_384 },
  list: { highWaterBytes: 524_288, takenBytes: 131_072 },
} as const;

/** Kinds of what a worker tells. */
export const told = { peer: 0, peerGone: 1, request: 2, data: 3, end: 4, taken: 5, closed: 6, handshakeError: 7 } as const;
/** Kinds of what it is asked to do. */
export const asked = { send: 0, open: 1, write: 2, end: 3, abort: 4, grant: 5, takeOver: 6 } as const;

export interface RequestHead {
  /** The connection's number. */
  readonly peer: number;
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  /** Whether its connection can be taken over. */
  readonly isUpgrade: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** See `Exchange.bodyLength`. */
  readonly bodyLength: number | undefined;
  /** What of the body came with it; */
  readonly body: Part[];
  /** whether that is all of it. */
  isWhole: boolean;
}

/** Entries of a worker, by what they tell. */
export type Told =
  /** A new connection, with the certificates that its client showed (DER, its own first). */
  | readonly [kind: typeof told.peer, peer: number, remoteAddress: string, chain: readonly Uint8Array[]]
  | readonly [kind: typeof told.peerGone, peer: number]
  | readonly [kind: typeof told.request, request: number, head: RequestHead]
  /** More of the body, or of what the client sends on a connection that was taken over; */
  | readonly [kind: typeof told.data, request: number, bytes: Part]
  /** and its end. */
  | readonly [kind: typeof told.end, request: number]
  /** The client has taken so many more bytes of the answer's stream. */
  | readonly [kind: typeof told.taken, request: number, bytes: number]
  /** The client is gone, or the end of the stream has come to it. */
  | readonly [kind: typeof told.closed, request: number]
  /** A connection did not become one. */
  | readonly [kind: typeof told.handshakeError];

/** Entries of the main thread, by what is to be done. */
export type Asked =
  /** A whole answer. */
  | readonly [
      kind: typeof asked.send,
      request: number,
      status: number,
      headers: FlatHeaders,
      pieces: readonly Part[],
      length: number,
      closesConnection: boolean,
    ]
  /** The head of one that is streamed, */
  | readonly [
      kind: typeof asked.open,
      request: number,
      status: number,
      headers: FlatHeaders,
      closesConnection: boolean,
      stream: keyof typeof streams,
    ]
  /** its pieces, */
  | readonly [kind: typeof asked.write, request: number, bytes: Part]
  /** and its end, or that of what is sent on a connection that was taken over. */
  | readonly [kind: typeof asked.end, request: number]
  | readonly [kind: typeof asked.abort, request: number]
  /** So many more bytes of the body are wanted. */
  | readonly [kind: typeof asked.grant, request: number, bytes: number]
  | readonly [kind: typeof asked.takeOver, request: number];

/** How a worker serves. */
export interface WorkerOptions extends Omit<SecureServerOptions, 'sharesPort'> {
  /** Of the `Backlog` of what the worker tells. */
  readonly backlog: SharedArrayBuffer;
}

/** Besides batches, to a worker. */
export type Order =
  | { readonly order: 'listen'; readonly port: number; readonly host: string }
  | { readonly order: 'reload'; readonly tls: TlsOptions }
  | { readonly order: 'stopListening' | 'close' };
/** Besides batches, from a worker: whether it listens. */
export type Report =
  | { readonly listening: AddressInfo }
  | { readonly failed: { readonly message: string; readonly code: string | undefined } };
