import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode } from './http2/protocol.ts';

/** Who takes a request's body. */
export interface BodyReceiver {
  /** A view, to be copied. To be answered by `Http2Stream.credit`, once there is room for as much again. */
  data(chunk: Buffer): void;
  end(): void;
  /** The client left before the end, or sent something else than it announced. */
  gone(): void;
}

export type StreamEvent = 'close' | 'drain' | 'sent';

/** A request over HTTP/2 and its answer, as both implementations of the protocol hand it to `Http2Exchange`. */
export interface ServerStream {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** See `Exchange.bodyLength`. */
  readonly bodyLength: number | undefined;
  readonly headersSent: boolean;
  /** True once `end` was called, or if the answer has no body. */
  readonly writableEnded: boolean;
  /** True once the answer is complete or one side has reset the stream. */
  readonly closed: boolean;
  readonly destroyed: boolean;
  /** Octets that were written and have not left. */
  readonly writableLength: number;

  /** Sends the head of the answer. `fields`: names and values in turn. `endStream`: there is no body. */
  respond(status: number, fields: readonly string[], endStream?: boolean): void;
  /** Returns false when the caller should wait for `drain`. `taken` is called when the bytes leave. They are not copied. */
  write(bytes: Buffer, taken?: () => void): boolean;
  end(): void;
  /** Resets the stream. Default: CANCEL. */
  close(code?: ErrorCode): void;
  destroy(): void;
  /** `sent`: some of what waits has left; `drain`: little enough waits; `close`: once. */
  on(event: StreamEvent, listener: () => void): void;

  /** Hands the body to `receiver`, what has arrived already at once. */
  receive(receiver: BodyReceiver): void;
  /** The receiver has room for so many more octets. */
  credit(bytes: number): void;

  /** Sends GOAWAY: the connection ends once its requests are answered. */
  closeConnection(): void;
}
