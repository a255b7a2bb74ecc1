import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MergedBytes } from '#apiserver/base/merged-bytes';
import type { BodyReceiver, ServerStream, StreamEvent } from '../server-stream.ts';
import { type ErrorCode, errorCodes, initial } from './protocol.ts';

/** The part of a connection that its streams use. */
export interface StreamConnection {
  sendHead(stream: Http2Stream, status: number, fields: readonly string[], endStream: boolean): void;
  /** Reports that the stream has output. */
  ready(stream: Http2Stream): void;
  /** Sends RST_STREAM. */
  reset(stream: Http2Stream, code: ErrorCode): void;
  /** Returns bytes of the receive window to the client. */
  creditStream(stream: Http2Stream, bytes: number): void;
  /** Sends GOAWAY. */
  close(): void;
}

interface Waiting {
  readonly bytes: Buffer;
  /** Called when the bytes are sent. */
  readonly taken: (() => void) | undefined;
  next: Waiting | undefined;
}

/** Number of buffered bytes above which `write` returns false. */
const highWaterBytes = 64 * 1024;

/**
 * One request and its response on an HTTP/2 connection: RFC 9113, 5. It has the members of Node's Writable that responses need,
 * under the same names. Written bytes are buffered until the connection sends them, within the client's windows.
 */
export class Http2Stream implements ServerStream {
  readonly id: number;
  readonly connection: StreamConnection;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /**
   * Length of the request's body in bytes: 0 without one, undefined if the length is known only at its end. The stream is reset if
   * the body has another length.
   */
  readonly bodyLength: number | undefined;

  headersSent = false;
  /** Number of the connection's write that contains the head. */
  headBatch = -1;
  /** True if `end` was called or the response has no body. */
  writableEnded = false;
  /** True if both sides have ended, or one has reset the stream. */
  closed = false;

  /** The client's receive window: RFC 9113, 5.2. */
  sendWindow: number;
  /** True if the connection's rotation includes the stream. */
  isReady = false;
  /** True if the last frame of the response was written. */
  hasEnded = false;

  /** Buffered bytes, in order. */
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  /** Number of sent bytes of the first buffer. */
  #offset = 0;
  #queuedBytes = 0;
  #needsDrain = false;
  #hasMoved = false;
  /** Callbacks for sent buffers. */
  #leaving: (() => void)[] = [];

  #receiver: BodyReceiver | undefined;
  readonly #received = new MergedBytes();
  #hasWholeBody: boolean;
  /** Outstanding bytes according to Content-Length; undefined without one. */
  #announced: number | undefined;
  /** Bytes that the client may still send. */
  #receiveWindow: number;
  /** Credited bytes that were not announced to the client yet. */
  #uncredited = 0;

  readonly #listeners: Record<StreamEvent, (() => void)[] | undefined> = { close: undefined, drain: undefined, sent: undefined };

  constructor(
    connection: StreamConnection,
    id: number,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    bodyLength: number | undefined,
    endStream: boolean,
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.connection = connection;
    this.id = id;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.bodyLength = bodyLength;
    this.#hasWholeBody = endStream;
    this.sendWindow = windows.send;
    this.#receiveWindow = windows.receive;
    this.#announced = bodyLength;
  }

  get destroyed(): boolean {
    return this.closed;
  }

  /** True if the client has sent the whole request. */
  get hasWholeBody(): boolean {
    return this.#hasWholeBody;
  }

  /** Sends the head of the response. `fields` alternates names and values. `endStream` is true if there is no body. */
  respond(status: number, fields: readonly string[], endStream = false): void {
    if (this.closed || this.headersSent) return;
    // RFC 9110, 15. A webhook may deny with any number, for which net/http panics.
    if (status < 100 || status > 999) throw new RangeError(`Invalid status code: ${status}`);
    this.connection.sendHead(this, status, fields, endStream);
    this.headersSent = true;
    if (endStream) this.writableEnded = true;
  }

  /** Buffers bytes without a copy; `taken` is called when they are sent. Returns false if the caller should wait for `drain`. */
  write(bytes: Buffer, taken?: () => void): boolean {
    if (this.closed || this.writableEnded) return true;
    if (bytes.length > 0) {
      const waiting: Waiting = { bytes, taken, next: undefined };
      if (this.#last) this.#last.next = waiting;
      else this.#first = waiting;
      this.#last = waiting;
      this.#queuedBytes += bytes.length;
      this.connection.ready(this);
    } else taken?.();
    if (this.#queuedBytes <= highWaterBytes) return true;
    this.#needsDrain = true;
    return false;
  }

  end(bytes?: Buffer): void {
    if (this.closed || this.writableEnded) return;
    if (bytes) this.write(bytes);
    this.writableEnded = true;
    this.connection.ready(this);
  }

  /** Resets the stream. */
  close(code: ErrorCode = errorCodes.cancel): void {
    if (!this.closed) this.connection.reset(this, code);
  }

  destroy(): void {
    this.close(errorCodes.internalError);
  }

  closeConnection(): void {
    this.connection.close();
  }

  on(event: StreamEvent, listener: () => void): void {
    const listeners = this.#listeners[event];
    if (listeners) listeners.push(listener);
    else this.#listeners[event] = [listener];
  }

  /** Number of buffered bytes. */
  get writableLength(): number {
    return this.#queuedBytes;
  }

  /** Copies the next `length` buffered bytes to `out`. `left` must be called once they are sent. */
  takeInto(out: Uint8Array, start: number, length: number): void {
    this.#queuedBytes -= length;
    this.sendWindow -= length;
    this.#hasMoved = true;
    let at = start;
    const end = start + length;
    while (at < end) {
      const { bytes, taken, next } = this.#first as Waiting;
      const count = Math.min(bytes.length - this.#offset, end - at);
      out.set(count === bytes.length ? bytes : bytes.subarray(this.#offset, this.#offset + count), at);
      at += count;
      this.#offset += count;
      if (this.#offset < bytes.length) continue;
      if (taken) this.#leaving.push(taken);
      this.#offset = 0;
      this.#first = next;
      if (!next) this.#last = undefined;
    }
  }

  /** Reports that the bytes copied since the last call are sent. */
  left(): void {
    if (!this.#hasMoved) return;
    this.#hasMoved = false;
    if (this.#leaving.length > 0) {
      const leaving = this.#leaving;
      this.#leaving = [];
      for (const taken of leaving) taken();
    }
    this.#emit('sent');
    if (!this.#needsDrain || this.#queuedBytes > highWaterBytes) return;
    this.#needsDrain = false;
    this.#emit('drain');
  }

  /** Passes the body to `receiver`, including the bytes that have arrived. */
  receive(receiver: BodyReceiver): void {
    this.#receiver = receiver;
    if (this.#received.length > 0) receiver.data(this.#received.take());
    if (this.#hasWholeBody) receiver.end();
    else if (this.closed) receiver.gone();
  }

  /** Reports that the receiver has room for so many bytes again. */
  credit(bytes: number): void {
    this.#uncredited += bytes;
    if (this.closed || this.#hasWholeBody || this.#uncredited < initial.window / 2) return;
    this.#receiveWindow += this.#uncredited;
    this.connection.creditStream(this, this.#uncredited);
    this.#uncredited = 0;
  }

  /** Checks a frame of the body, including its padding. Returns the error code of an invalid one. */
  admit(frameBytes: number, bodyBytes: number): ErrorCode | undefined {
    this.#receiveWindow -= frameBytes;
    if (this.#receiveWindow < 0) return errorCodes.flowControlError;
    if (this.#announced !== undefined) {
      this.#announced -= bodyBytes;
      if (this.#announced < 0) return errorCodes.protocolError;
    }
    if (frameBytes > bodyBytes) this.credit(frameBytes - bodyBytes);
    return undefined;
  }

  /** Passes on a chunk of the body, which is a view. */
  onData(chunk: Buffer): void {
    if (this.#receiver) this.#receiver.data(chunk);
    else this.#received.append(chunk);
  }

  /** Ends the request. Returns the error code of an incomplete body. */
  onEnd(): ErrorCode | undefined {
    if (this.#announced) return errorCodes.protocolError;
    this.#hasWholeBody = true;
    this.#receiver?.end();
    return undefined;
  }

  /** Closes the stream; called once by the connection. */
  onClose(): void {
    this.closed = true;
    this.#first = undefined;
    this.#last = undefined;
    this.#queuedBytes = 0;
    this.#received.take();
    if (!this.#hasWholeBody) this.#receiver?.gone();
    this.#emit('close');
    this.#listeners.drain = undefined;
    this.#listeners.sent = undefined;
  }

  #emit(event: StreamEvent): void {
    const listeners = this.#listeners[event];
    if (listeners) for (const listener of listeners) listener();
  }
}
