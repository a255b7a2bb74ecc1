import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from './http2/protocol.ts';

/** Receives a request's body. */
export interface BodyReceiver {
  /** Called with a view, which must be copied. The receiver calls `Http2Stream.credit` when it has room for as much again. */
  data(chunk: Buffer): void;
  end(): void;
  /** Called if the client disconnected before the end or violated the announced length. */
  gone(): void;
}

export type StreamEvent = 'close' | 'drain' | 'sent';

/** A request over HTTP/2 and its response, as both implementations pass it to `Http2Exchange`. */
export interface ServerStream {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** See `Exchange.bodyLength`. */
  readonly bodyLength: number | undefined;
  readonly headersSent: boolean;
  /** True if `end` was called or the response has no body. */
  readonly writableEnded: boolean;
  /** True if the response is complete or one side has reset the stream. */
  readonly closed: boolean;
  readonly destroyed: boolean;
  /** Number of bytes that were written but not sent. */
  readonly writableLength: number;

  /** Sends the head of the response. `fields` alternates names and values. `endStream` is true if there is no body. */
  respond(status: number, fields: readonly string[], endStream?: boolean): void;
  /** Buffers bytes without a copy; `taken` is called when they are sent. Returns false if the caller should wait for `drain`. */
  write(bytes: Buffer, taken?: () => void): boolean;
  end(): void;
  /** Resets the stream. Default: CANCEL. */
  close(code?: ErrorCode): void;
  destroy(): void;
  /** Adds a listener. `sent`: some bytes were sent; `drain`: the buffer has room; `close`: once at the end. */
  on(event: StreamEvent, listener: () => void): void;

  /** Passes the body to `receiver`, including the bytes that have arrived. */
  receive(receiver: BodyReceiver): void;
  /** Reports that the receiver has room for so many more bytes. */
  credit(bytes: number): void;

  /** Sends GOAWAY; the connection closes after its requests. */
  closeConnection(): void;
}
