import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { parseContentLength } from '#apiserver/request/content-length';
import type { BodyReceiver, StreamEvent } from '#apiserver/serving/server-stream';
import { type ErrorCode, errorCodes, ofConnection } from '../http2/protocol.ts';
import { MergedBytes } from '#apiserver/base/merged-bytes';
import type { ServerStream } from '../server-stream.ts';
import { sliceBytes, slicesOfTurn } from '../write-slices.ts';

/**
 * Number of buffered bytes above which `write` returns false, and of unread body bytes above which the client's window is not
 * extended.
 */
const highWaterBytes = 64 * 1024;

interface Waiting {
  readonly bytes: Buffer;
  readonly taken: (() => void) | undefined;
  next: Waiting | undefined;
}

/**
 * A stream of node:http2 with the members of the own `Http2Stream`. Responses are buffered here and passed to node:http2 one slice
 * at a time, so that their length is always known and a reset stream holds nothing.
 */
export class NodeHttp2Stream implements ServerStream {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bodyLength: number | undefined;
  headersSent = false;
  writableEnded = false;
  closed = false;

  readonly #stream: ServerHttp2Stream;
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  /** Number of written bytes of the first buffer. */
  #offset = 0;
  #queuedBytes = 0;
  /** True if a write is scheduled or pending. */
  #isWriting = false;
  #needsDrain = false;
  /** Number of slices written since the last yield. */
  #slices = 0;

  readonly #received = new MergedBytes();
  #receiver: BodyReceiver | undefined;
  #hasWholeBody: boolean;
  /** Bytes that the receiver has not credited. */
  #uncredited = 0;

  readonly #listeners: Record<StreamEvent, (() => void)[]> = { close: [], drain: [], sent: [] };

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.#stream = stream;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    // nghttp2 resets a stream whose body has another length than its head states, and rejects malformed lengths.
    const length = headers['content-length'];
    this.bodyLength = stream.endAfterHeaders ? 0 : length === undefined ? undefined : parseContentLength(length);
    this.#hasWholeBody = stream.endAfterHeaders;
    stream.on('error', () => this.#onClose());
    stream.on('close', () => this.#onClose());
    stream.on('finish', () => this.#onFinish());
    if (!stream.endAfterHeaders) this.#readBody();
    // An unread stream would not end.
    stream.resume();
  }

  get destroyed(): boolean {
    return this.closed;
  }

  get writableLength(): number {
    return this.#queuedBytes;
  }

  respond(status: number, fields: readonly string[], endStream = false): void {
    if (this.#isGone || this.headersSent) return;
    this.#stream.respond(headOf(status, fields), { endStream });
    this.headersSent = true;
    if (endStream || this.#stream.writableEnded) this.writableEnded = true;
  }

  write(bytes: Buffer, taken?: () => void): boolean {
    if (this.#isGone || this.writableEnded) return true;
    if (bytes.length > 0) {
      const waiting: Waiting = { bytes, taken, next: undefined };
      if (this.#last) this.#last.next = waiting;
      else this.#first = waiting;
      this.#last = waiting;
      this.#queuedBytes += bytes.length;
      this.#scheduleWrite();
    } else taken?.();
    if (this.#queuedBytes <= highWaterBytes) return true;
    this.#needsDrain = true;
    return false;
  }

  end(): void {
    if (this.#isGone || this.writableEnded) return;
    this.writableEnded = true;
    this.#scheduleWrite();
  }

  close(code: ErrorCode = errorCodes.cancel): void {
    if (this.closed) return;
    const stream = this.#stream;
    // node:http2 ends the response before it resets the stream; the client would receive END_STREAM and take the response for
    // complete.
    stream._final = (done) => done();
    stream.close(code);
    this.#onClose();
  }

  destroy(): void {
    this.close(errorCodes.internalError);
  }

  /** Rejects a malformed request: RFC 9113, 8.1.1. */
  refuse(): void {
    this.close(errorCodes.protocolError);
  }

  on(event: StreamEvent, listener: () => void): void {
    this.#listeners[event].push(listener);
  }

  receive(receiver: BodyReceiver): void {
    this.#receiver = receiver;
    if (this.#received.length > 0) {
      this.#uncredited += this.#received.length;
      receiver.data(this.#received.take());
    }
    if (this.#hasWholeBody) receiver.end();
    else if (this.closed) receiver.gone();
  }

  credit(bytes: number): void {
    this.#uncredited -= bytes;
    // Resumes reading after `push` has returned false.
    if (!this.#isFull && !this.#hasWholeBody && !this.#isGone) this.#stream._read(0);
  }

  closeConnection(): void {
    this.#stream.session?.close();
  }

  get #isGone(): boolean {
    return this.closed || this.#stream.closed || this.#stream.destroyed;
  }

  get #isFull(): boolean {
    return this.#received.length + this.#uncredited >= highWaterBytes;
  }

  /**
   * Intercepts the body before the queue of Readable, which would hold a Buffer for each DATA frame, each a view of the whole
   * socket read. The client's window grows only while `push` returns true.
   */
  #readBody(): void {
    const stream = this.#stream;
    const push = stream.push.bind(stream);
    stream.push = (chunk: Buffer | null) => {
      if (chunk !== null) return this.#onData(chunk);
      // The readable side also ends if the stream was reset or its connection closed.
      if (!stream.closed && !stream.destroyed) this.#onEnd();
      return push(null);
    };
  }

  /** Passes a chunk on. Returns false if the client must wait. */
  #onData(chunk: Buffer): boolean {
    if (this.#receiver) {
      this.#uncredited += chunk.length;
      this.#receiver.data(chunk);
    } else this.#received.append(chunk);
    return !this.#isFull;
  }

  #onEnd(): void {
    this.#hasWholeBody = true;
    this.#receiver?.end();
  }

  /** Schedules a write of the bytes that the current synchronous code has buffered, one slice at a time. */
  #scheduleWrite(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    process.nextTick(() => this.#writeNext());
  }

  #writeNext(): void {
    if (this.#isGone) return;
    const stream = this.#stream;
    stream.cork();
    const { bytes, taken } = this.#writeSlice(() => this.#onLeft(bytes, taken));
    if (this.writableEnded && !this.#first) stream.end();
    stream.uncork();
    if (bytes === 0) this.#isWriting = false;
  }

  /** Writes a slice of the buffered bytes to the stream. `left` is called when its last byte is sent. */
  #writeSlice(left: () => void): { readonly bytes: number; readonly taken: readonly (() => void)[] } {
    const taken: (() => void)[] = [];
    let room = sliceBytes;
    while (room > 0 && this.#first) {
      const waiting = this.#first;
      const part = waiting.bytes.subarray(this.#offset, this.#offset + room);
      room -= part.length;
      this.#offset += part.length;
      if (this.#offset === waiting.bytes.length) {
        if (waiting.taken) taken.push(waiting.taken);
        this.#offset = 0;
        this.#first = waiting.next;
        if (!waiting.next) this.#last = undefined;
      }
      this.#stream.write(part, room > 0 && this.#first ? undefined : left);
    }
    return { bytes: sliceBytes - room, taken };
  }

  #onLeft(bytes: number, taken: readonly (() => void)[]): void {
    this.#isWriting = false;
    if (this.closed) return;
    this.#queuedBytes -= bytes;
    for (const each of taken) each();
    this.#emit('sent');
    if (this.#first) this.#goOn();
    else if (this.writableEnded && !this.#stream.writableEnded) this.#stream.end();
    if (!this.#needsDrain || this.#queuedBytes > highWaterBytes) return;
    this.#needsDrain = false;
    this.#emit('drain');
  }

  #goOn(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#slices += 1;
    if (this.#slices < slicesOfTurn) return this.#writeNext();
    this.#slices = 0;
    setImmediate(() => this.#writeNext());
  }

  /** Completes a response. The rest of an answered request is not read: RFC 9113, 8.1. */
  #onFinish(): void {
    if (!this.#hasWholeBody) this.#stream.close(errorCodes.noError);
  }

  #onClose(): void {
    if (this.closed) return;
    this.closed = true;
    this.#first = undefined;
    this.#last = undefined;
    this.#queuedBytes = 0;
    this.#received.take();
    if (!this.#hasWholeBody) this.#receiver?.gone();
    this.#emit('close');
    this.#listeners.drain = [];
    this.#listeners.sent = [];
  }

  #emit(event: StreamEvent): void {
    for (const listener of this.#listeners[event]) listener();
  }
}

const lowered = new Map<string, string>();
const maxLowered = 1000;

function lower(name: string): string {
  const known = lowered.get(name);
  if (known !== undefined) return known;
  const made = name.toLowerCase();
  if (lowered.size < maxLowered) lowered.set(name, made);
  return made;
}

/** Converts the fields of a response for node:http2: names in lower case, without connection-specific fields. */
function headOf(status: number, fields: readonly string[]): string[] {
  const head = [':status', String(status)];
  for (let at = 0; at < fields.length; at += 2) {
    const name = lower(fields[at] as string);
    if (!ofConnection.has(name)) head.push(name, fields[at + 1] as string);
  }
  return head;
}
