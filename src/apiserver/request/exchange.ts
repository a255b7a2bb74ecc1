import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Certificate } from '#apimachinery/x509/certificate';

/** Remote end of a connection. A connection has one object, which caches values derived from it. */
export interface Peer {
  readonly remoteAddress: string;
  /** Certificates sent by the client, its own first; empty if it sent none. They are not verified. */
  readonly certificates: readonly Certificate[];
  /** Cache of authenticators for values derived from the certificates. */
  readonly memo: Map<symbol, unknown>;
}

/** Alternating header names and values: `['Content-Type', 'text/plain', …]`. */
export type FlatHeaders = string[];

/** Appends Content-Length unless the status forbids a body. RFC 9110, 8.6. */
export function pushContentLength(headers: FlatHeaders, status: number, bytes: number): void {
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(bytes));
}

/** Kind of a streamed response: an `open` stream lasts as long as data flows; a `list` is aborted if its client stops reading. */
export type StreamKind = 'open' | 'list';

/** A streamed response. */
export interface ResponseStream {
  /**
   * Returns false if more bytes are pending than the connection accepts; the caller then waits for `onDrain`. Buffers are not
   * copied and may be shared.
   */
  write(bytes: Buffer): boolean;
  end(): void;
  /** Bytes that were written but not sent yet. */
  readonly pendingBytes: number;
  onDrain(listener: () => void): void;
  /** Closes the connection (HTTP/1.1) or resets the stream (HTTP/2), so that the client does not take the response for complete. */
  abort(): void;
}

/** One request and its response, over HTTP/1.1, HTTP/2 or the in-process transport. */
export interface Exchange {
  readonly protocol: 'HTTP/1.1' | 'HTTP/2.0';
  readonly method: string;
  /** Request target as received: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values as received. Faster to iterate than `headers`, and includes headers that were removed from it. */
  readonly rawHeaders: readonly string[];
  readonly peer: Peer;
  /**
   * Length of the request's body in bytes: 0 without a body, undefined if the length is known only at its end. The transport fails
   * a body of another length. Forwarded requests must be framed by this length.
   */
  readonly bodyLength: number | undefined;
  /**
   * True for a request of the server's own process. Another request may wait for its response, so it must not wait for other
   * requests.
   */
  readonly isInProcess?: true;
  /** Returns the texts of a request header, one for each occurrence. `name` is in lower case. */
  headerValues(name: string): string[];
  /** True if the response head was sent. */
  readonly responded: boolean;
  readonly closed: boolean;
  /** Reads the whole body. Rejects with BodyTooLargeError beyond `limit` bytes, and with ClientGoneError if the client disconnects. */
  readBody(limit: number): Promise<Buffer>;
  /** Returns the body as a stream, for forwarding. Call it once, instead of `readBody`. */
  openBody(): Readable;
  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void;
  /** Sends a body of several buffers and known total length, with backpressure. */
  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void;
  /** Opens a streamed response; its length is unknown unless the headers contain it. Default kind: `open`. */
  open(status: number, headers: FlatHeaders, kind?: StreamKind): ResponseStream;
  /** Ends an open response stream without an error, for example when the server ends a watch. */
  endResponse(): void;
  /** Calls `listener` once when the response is finished or the client has disconnected; immediately if it already has. */
  onClose(listener: () => void): void;
  /** Closes the connection after this response, by `Connection: close` or GOAWAY. */
  closeConnectionAfter(): void;
  /** Node's request and response objects, for Express; undefined if they belong to another thread. */
  readonly raw: unknown;
}

/** A request to switch protocols (`Connection: Upgrade`), which allows its connection to be taken over. */
export interface UpgradableExchange extends Exchange {
  /**
   * Returns the raw connection, which starts with the bytes that followed the request. The transport writes no more HTTP to it.
   * `endResponse` calls `end`, so that the owner closes the connection according to its protocol.
   */
  takeOver(end?: () => void): Duplex;
}

export function isUpgradable(exchange: Exchange): exchange is UpgradableExchange {
  return 'takeOver' in exchange;
}

/**
 * Returns the text of a header value, which Node passes as one character for each byte: Go's clients send UTF-8. Invalid UTF-8 becomes
 * U+FFFD, as in Go's JSON.
 */
export function headerText(value: string): string {
  return beyondAscii.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}

const beyondAscii = /[\x80-\xff]/;

/** Returns the texts of one header of raw headers (alternating names and values). `name` is in lower case. */
export function rawHeaderValues(raw: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    if ((raw[at] as string).toLowerCase() === name) values.push(headerText(raw[at + 1] as string));
  }
  return values;
}

export class BodyTooLargeError extends Error {
  /** In bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super(`the body has more than ${limit} bytes`);
    this.limit = limit;
  }
}
export class ClientGoneError extends Error {}
