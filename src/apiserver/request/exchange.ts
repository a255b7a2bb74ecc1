import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Certificate } from '#apimachinery/x509/certificate';

/** The other end of a connection; one object for each connection, so that what is derived from it is derived once. */
export interface Peer {
  readonly remoteAddress: string;
  /** The certificates that the client sent, its own first; empty if it sent none. Nothing of them is verified. */
  readonly certificates: readonly Certificate[];
  /** Scratch space of authenticators: what they derived from the certificates. */
  readonly memo: Map<symbol, unknown>;
}

/** Header names and values in turn: `['Content-Type', 'text/plain', …]`. */
export type FlatHeaders = string[];

/** Says how long the body is, but of answers that by their status have none: RFC 9110, 8.6. */
export function pushContentLength(headers: FlatHeaders, status: number, bytes: number): void {
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(bytes));
}

/**
 * What is written piece by piece: `open` goes on for as long as something happens, `list` is broken off where its client takes nothing of what
 * there is.
 */
export type StreamKind = 'open' | 'list';

/** A response that is written piece by piece. */
export interface ResponseStream {
  /** false when more is waiting than the connection takes: wait for `onDrain`. Buffers are not copied and may be shared. */
  write(bytes: Buffer): boolean;
  end(): void;
  /** Bytes that were written here and have not left yet. */
  readonly pendingBytes: number;
  onDrain(listener: () => void): void;
  /** Breaks the connection (h1) or resets the stream (h2): the client must not take the answer for whole. */
  abort(): void;
}

/** One request and its response, over HTTP/1.1, HTTP/2 or the in-process transport. */
export interface Exchange {
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  readonly method: string;
  /** The request target as it came: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent: quicker to go through than `headers`, and what is taken off those is here still. */
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  /**
   * Octets of the request's body: 0 without one, undefined if only its end tells. The transport holds the body to it: one that has more or fewer
   * never ends as a whole one. The only length by which to frame what is sent on.
   */
  readonly bodyLength: number | undefined;
  /** Sent by the server's own process, perhaps by what another request is waiting for: it waits for no other request. */
  readonly isInProcess?: true;
  /** The values of a request header, one for each time that it was sent, as they were sent. The name in lower case. */
  headerValues(name: string): string[];
  /** Whether the response's head has been sent. */
  readonly responded: boolean;
  readonly closed: boolean;
  /** The whole body. Rejects with BodyTooLargeError beyond `limit` bytes, and with ClientGoneError when the client leaves. */
  readBody(limit: number): Promise<Buffer>;
  /** The body as it comes in, for those who send it on. Instead of `readBody`, and once. */
  openBody(): Readable;
  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void;
  /** A body in pieces of known total length, under backpressure. */
  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void;
  /** Of unknown length, if the headers do not tell it. Default: `open`. */
  open(status: number, headers: FlatHeaders, kind?: StreamKind): ResponseStream;
  /** Ends an open response stream properly, as its end (of a watch that the server gives up). */
  endResponse(): void;
  /** Called once, when the response is finished or the client is gone; at once if that is so already. */
  onClose(listener: () => void): void;
  /** Ends the connection after this response: `Connection: close`, or GOAWAY. */
  closeConnectionAfter(): void;
  /** The raw parts of the protocol, for what is served by Express; undefined where they are not in this thread. */
  readonly raw: unknown;
}

/** A request that asks for another protocol (`Connection: Upgrade`): its connection may be taken over. */
export interface UpgradableExchange extends Exchange {
  /**
   * The bare connection, which begins with what the client has sent behind the request. Nothing of HTTP is written to it any more. `end` is called
   * where `endResponse` is: the owner of the connection ends it in its own way.
   */
  takeOver(end?: () => void): Duplex;
}

export function isUpgradable(exchange: Exchange): exchange is UpgradableExchange {
  return 'takeOver' in exchange;
}

/** The values of one header of raw headers (names and values in turn). `name` in lower case. */
export function rawHeaderValues(raw: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if ((raw[at] as string).toLowerCase() === name) values.push(raw[at + 1] as string);
  }
  return values;
}

export class BodyTooLargeError extends Error {}
export class ClientGoneError extends Error {}
