import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MergedBytes } from '../merged-bytes.ts';
import type { BodyReceiver, ServerStream, StreamEvent } from '../server-stream.ts';
import { type ErrorCode, errorCodes, initial } from './protocol.ts';

/** The connection of a stream, as far as the stream uses it. */
export interface StreamConnection {
  sendHead(stream: Http2Stream, status: number, fields: readonly string[], endStream: boolean): void;
  /** The stream has something to send. */
  ready(stream: Http2Stream): void;
  /** Sends RST_STREAM. */
  reset(stream: Http2Stream, code: ErrorCode): void;
  /** Returns octets of the receive window to the client. */
  creditStream(stream: Http2Stream, bytes: number): void;
  /** Sends GOAWAY. */
  close(): void;
}

interface Waiting {
  readonly bytes: Buffer;
  /** To be called when they leave. */
  readonly taken: (() => void) | undefined;
  next: Waiting | undefined;
}

/** What may wait in a stream before `write` asks for a pause. */
const highWaterBytes = 64 * 1024;

/**
 * One request and its answer on a connection of HTTP/2: RFC 9113, 5. Of what a Writable of Node has, it has what answers need, by the same
 * names. What is written waits here until the connection takes it, as far as the client's windows allow.
 */
export class Http2Stream implements ServerStream {
  readonly id: number;
  readonly connection: StreamConnection;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Octets of the request's body: 0 without one, undefined if only its end tells. The stream is reset where the body has more or fewer. */
  readonly bodyLength: number | undefined;

  headersSent = false;
  /** The connection's write that the head leaves with. */
  headBatch = -1;
  /** `end` was called, or the answer has no body. */
  writableEnded = false;
  /** Both sides have ended, or one of them broke it off: nothing comes or goes any more. */
  closed = false;

  /** What the client still takes (RFC 9113, 5.2). */
  sendWindow: number;
  /** The connection knows of it as one that has something to send. */
  isReady = false;
  /** The last frame of the answer is on its way. */
  hasEnded = false;

  /** What waits, the next to leave first. */
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  /** Of the first, what has left. */
  #offset = 0;
  #queuedBytes = 0;
  #needsDrain = false;
  #hasMoved = false;
  /** To be told that what they wrote has left. */
  #leaving: (() => void)[] = [];

  #receiver: BodyReceiver | undefined;
  readonly #received = new MergedBytes();
  #hasWholeBody: boolean;
  /** What Content-Length says is still to come; undefined without one. */
  #announced: number | undefined;
  /** What the client may still send, */
  #receiveWindow: number;
  /** and what it was not told yet that it may send beside. */
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

  /** The client has sent all of its request. */
  get hasWholeBody(): boolean {
    return this.#hasWholeBody;
  }

  /** The head of the answer. `fields`: names and values in turn. `endStream`: there is no body. */
  respond(status: number, fields: readonly string[], endStream = false): void {
    if (this.closed || this.headersSent) return;
    this.connection.sendHead(this, status, fields, endStream);
    this.headersSent = true;
    if (endStream) this.writableEnded = true;
  }

  /** false when so much is waiting that the caller should wait for `drain`. `taken` is called when the bytes leave. They are not copied. */
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

  /** Breaks it off, on both sides. */
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

  /** What was written and has not left. */
  get writableLength(): number {
    return this.#queuedBytes;
  }

  /** Writes the next `length` bytes of what waits to `out`. `left` is to be called once they have been sent. */
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

  /** What was taken since the last call has left, if anything was. */
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

  /** The body goes to `receiver`, what has come of it at once. */
  receive(receiver: BodyReceiver): void {
    this.#receiver = receiver;
    if (this.#received.length > 0) receiver.data(this.#received.take());
    if (this.#hasWholeBody) receiver.end();
    else if (this.closed) receiver.gone();
  }

  /** The receiver has room for so much again. */
  credit(bytes: number): void {
    this.#uncredited += bytes;
    if (this.closed || this.#hasWholeBody || this.#uncredited < initial.window / 2) return;
    this.#receiveWindow += this.#uncredited;
    this.connection.creditStream(this, this.#uncredited);
    this.#uncredited = 0;
  }

  /** Counts a frame of the body, padding included. Answers what is wrong with it. */
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

  /** A part of the body that was admitted: a view. */
  onData(chunk: Buffer): void {
    if (this.#receiver) this.#receiver.data(chunk);
    else this.#received.append(chunk);
  }

  /** The client has ended its side. Answers what is wrong with that. */
  onEnd(): ErrorCode | undefined {
    if (this.#announced) return errorCodes.protocolError;
    this.#hasWholeBody = true;
    this.#receiver?.end();
    return undefined;
  }

  /** Called by the connection, once. */
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
