import { Buffer } from 'node:buffer';
import type { TLSSocket } from 'node:tls';
import { type ConnectionDeadlines, Persistence } from '../deadlines.ts';
import { endSoon } from '../end-soon.ts';
import { MergedBytes } from '#apiserver/base/merged-bytes';
import { sliceBytes, slicesOfTurn } from '../write-slices.ts';
import { Allowance } from './allowance.ts';
import { type FrameHandler, FrameReader } from './frame-reader.ts';
import { HeaderDecoder } from './header-decoder.ts';
import { HeaderEncoder } from './header-encoder.ts';
import { httpDate } from './http-date.ts';
import { Http2Stream, type StreamConnection } from './http2-stream.ts';
import {
  type ErrorCode,
  errorCodes,
  flags,
  frameHeadBytes,
  frameTypes,
  Http2Error,
  initial,
  maxWindow,
  preface,
  settings,
  writeFrameHead,
} from './protocol.ts';
import { RequestHead } from './request-head.ts';
import { readShared } from './shared-read-buffer.ts';
import { acquireBuffer, releaseBuffer } from './write-buffers.ts';

export interface Http2ConnectionOptions {
  readonly maxConcurrentStreams: number;
  /** Receive window of a stream in bytes; also the maximum frame size. */
  readonly streamWindow: number;
  /** Maximum size of a request's fields as defined by SETTINGS_MAX_HEADER_LIST_SIZE, and of their encoded block. */
  readonly maxHeaderBytes: number;
  readonly deadlines: Pick<ConnectionDeadlines, 'prefaceMs' | 'headerMs' | 'idleMs'>;
}

/** Events of a connection. Listeners must not throw. */
export interface Http2ConnectionEvents {
  onStream(stream: Http2Stream): void;
  onClose(): void;
}

interface HeaderBlock {
  readonly stream: number;
  readonly flag: number;
  readonly bytes: MergedBytes;
  /** Number of frames of the block. */
  frames: number;
}

const limits = {
  /**
   * Requests that the client aborts before their response: CVE-2023-44487 (rapid reset), CVE-2025-8671 (the server is made to
   * reset).
   */
  brokenStreams: { burst: 200, perSecond: 33 },
  /** Number of stored ranges of skipped stream numbers. */
  skippedRanges: 32,
  /** Frames without effect: CVE-2019-9512, 9515, 9518. */
  idleFrames: { burst: 1000, perSecond: 100 },
  /**
   * Frames of one header block: twice the number that the largest block needs in frames of 16 KiB, which every peer accepts (RFC
   * 9113, 4.2).
   */
  framesOfBlock: 128,
  /** Queued control frames for a client that does not read. Upstream: golang.org/x/net/http2, maxQueuedControlFrames. */
  queuedControlFrames: 10_000,
  /**
   * Requests of one connection before it yields to the event loop. Without the limit, a client that restarts a hundred watches on
   * each of a hundred connections would block others for a second.
   */
  requestsOfTurn: 10,
  /** Grace period for flushing the final GOAWAY before the socket is destroyed. */
  lingerMs: 1000,
} as const;

/** Maximum number of parameters of a SETTINGS frame, as upstream. */
const maxSettings = 100;
const headerListTooLong = Buffer.from('<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>');
const prefaceBytes = Buffer.from(preface, 'latin1');

/** Sends the output of all streams together after the current synchronous work. */
function flush(connection: Http2Connection): void {
  connection.flush();
}

/**
 * Server side of an HTTP/2 connection: RFC 9113. It parses frames, emits a stream for each request, and sends the streams' output,
 * one frame of each stream in rotation. One write is pending at a time: while the client does not read, only that write and
 * response heads are buffered here; bodies stay in their streams.
 */
export class Http2Connection implements StreamConnection, FrameHandler {
  readonly socket: TLSSocket;
  readonly #options: Http2ConnectionOptions;
  readonly #events: Http2ConnectionEvents;
  readonly #reader: FrameReader;
  readonly #decoder = new HeaderDecoder(initial.headerTableBytes);
  readonly #encoder = new HeaderEncoder();
  readonly #streams = new Map<number, Http2Stream>();
  readonly #brokenStreams = new Allowance(limits.brokenStreams.burst, limits.brokenStreams.perSecond);
  readonly #idleFrames = new Allowance(limits.idleFrames.burst, limits.idleFrames.perSecond);

  readonly #since = performance.now();
  readonly #arriving = new Persistence();
  readonly #idle = new Persistence();
  #prefaceLeft = prefaceBytes.length;
  /** True if sent settings are not acknowledged. */
  #awaitsSettings = false;
  #hasSettings = false;
  /** Number of the last accepted request. */
  #lastStream = 0;
  /** Ranges of skipped stream numbers, up to a limit; these numbers are closed: RFC 9113, 5.1.1. */
  readonly #skipped: (readonly [from: number, to: number])[] = [];
  /** Number of requests accepted since the last yield. */
  #taken = 0;
  /** Header block that continues in the next frame. */
  #block: HeaderBlock | undefined;
  /** Stream of the current DATA frame; undefined if the frame is dropped. */
  #dataStream: Http2Stream | undefined;
  #dataEndsStream = false;

  #sendWindow: number = initial.window;
  #clientWindow: number = initial.window;
  #clientFrameBytes: number = initial.frameBytes;
  #receiveWindow: number;
  #uncredited = 0;

  /** Frames without flow control, in order. */
  #control: Buffer[] = [];
  #controlBytes = 0;
  /** Streams with pending output, in the order of the rotation. */
  #ready: Http2Stream[] = [];
  /** Streams whose last frame is part of the next write. */
  #ending: Http2Stream[] = [];
  /** Number of writes so far; each contains all frames without flow control. */
  #batches = 0;
  #isScheduled = false;
  #isWriting = false;
  /** Number of whole slices written since the last yield. */
  #slices = 0;
  /** Buffer of the pending write. */
  #out: Buffer | undefined;
  /** True if new requests are ignored. */
  #isClosing = false;
  #closesAfterFirst = false;
  #isClosed = false;

  constructor(socket: TLSSocket, options: Http2ConnectionOptions, events: Http2ConnectionEvents) {
    this.socket = socket;
    this.#options = options;
    this.#events = events;
    this.#reader = new FrameReader(this, options.streamWindow);
    this.#receiveWindow = options.streamWindow * options.maxConcurrentStreams;
    this.#sendSettings();
    readShared(socket, (chunk) => this.#read(chunk));
    socket.on('end', () => this.destroy());
    socket.on('close', () => this.#closed());
  }

  /**
   * Closes the connection if it has missed a deadline. Called periodically with the time of `performance.now`. Deadlines are
   * absolute: control frames do not extend them, and requests need no timer.
   */
  checkDeadlines(now: number): void {
    if (this.#isClosed) return;
    const { prefaceMs, headerMs, idleMs } = this.#options.deadlines;
    if (!this.#hasSettings) {
      if (now - this.#since >= prefaceMs) this.destroy();
      return;
    }
    if (this.#arriving.age(this.#block ?? this.#reader.partialFrame, now) >= headerMs)
      return this.#fail(errorCodes.enhanceYourCalm, 'timeout of a header block');
    const idle = this.#streams.size > 0 ? undefined : this.#lastStream;
    if (this.#idle.age(idle, now) < idleMs) return;
    // A client that does not read would not receive a GOAWAY.
    if (this.#isWriting || this.#isClosing) this.destroy();
    else this.close();
  }

  /**
   * Asks the client for a new connection, by a GOAWAY that permits further requests on this one: RFC 9113, 6.8. A client that has sent none
   * may be about to send the first; its connection closes after it.
   */
  announceEnd(): void {
    if (this.#isClosing) return;
    if (this.#lastStream === 0) {
      this.#closesAfterFirst = true;
      return;
    }
    this.#goAway(errorCodes.noError, '', maxWindow);
    this.#schedule();
  }

  /** Closes the connection after its first request, which is answered, or now if it has had one. */
  closeAfterFirst(): void {
    if (this.#lastStream > 0) this.close();
    else this.#closesAfterFirst = true;
  }

  /** Sends GOAWAY, completes the pending requests and closes the connection. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#goAway(errorCodes.noError, '');
    this.#schedule();
  }

  /** Destroys the connection. Bytes that the socket accepts immediately are still sent, such as the ends of responses. */
  destroy(): void {
    this.flush();
    this.socket.destroy();
    this.#closed();
  }

  /** Sends the head of a response. Heads must be sent in the order of the calls, because each may change the header table. */
  sendHead(stream: Http2Stream, status: number, fields: readonly string[], endStream: boolean): void {
    stream.headBatch = this.#batches;
    const block = this.#encoder.encode(status, fields, httpDate());
    const most = this.#clientFrameBytes;
    for (let at = 0; at === 0 || at < block.length; at += most) {
      const part = block.subarray(at, at + most);
      const isFirst = at === 0;
      const flag = (at + most >= block.length ? flags.endHeaders : 0) | (isFirst && endStream ? flags.endStream : 0);
      this.#queue(isFirst ? frameTypes.headers : frameTypes.continuation, flag, stream.id, part);
    }
    if (!endStream) return;
    stream.hasEnded = true;
    this.#ending.push(stream);
  }

  /** Reports that the stream has output. */
  ready(stream: Http2Stream): void {
    if (stream.isReady || stream.hasEnded) return;
    stream.isReady = true;
    this.#ready.push(stream);
    this.#schedule();
  }

  reset(stream: Http2Stream, code: ErrorCode): void {
    this.#queueNumber(frameTypes.resetStream, stream.id, code);
    this.#forget(stream);
  }

  /** Extends the client's window for a body. */
  creditStream(stream: Http2Stream, bytes: number): void {
    this.#queueNumber(frameTypes.windowUpdate, stream.id, bytes);
  }

  /** Parses `chunk`, or continues with buffered bytes if it is undefined. */
  #read(chunk?: Buffer): void {
    if (this.#isClosed) return;
    try {
      if (!chunk) return this.#reader.resume();
      if (this.#taken >= limits.requestsOfTurn) this.socket.pause();
      const rest = this.#prefaceLeft > 0 ? this.#readPreface(chunk) : chunk;
      if (rest.length > 0) this.#reader.push(rest);
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#fail(error.code, error.message);
    }
  }

  #readPreface(chunk: Buffer): Buffer {
    const length = Math.min(this.#prefaceLeft, chunk.length);
    const start = prefaceBytes.length - this.#prefaceLeft;
    if (prefaceBytes.compare(chunk, 0, length, start, start + length) !== 0)
      throw new Http2Error(errorCodes.protocolError, 'the connection preface is not HTTP/2');
    this.#prefaceLeft -= length;
    return chunk.subarray(length);
  }

  numberFrame(type: number, id: number, value: number): void {
    if (this.#isClosed) return;
    this.#assertExpected(type, id);
    if (type === frameTypes.windowUpdate) this.#onWindowUpdate(id, value & maxWindow);
    else this.#onReset(id);
  }

  frame(type: number, flag: number, id: number, payload: Buffer): void {
    if (this.#isClosed) return;
    this.#assertExpected(type, id);
    switch (type) {
      case frameTypes.headers:
        return this.#onHeaders(flag, id, payload);
      case frameTypes.continuation:
        return this.#onContinuation(flag, payload);
      case frameTypes.settings:
        return this.#onSettings(flag, id, payload);
      case frameTypes.ping:
        return this.#onPing(flag, id, payload);
      case frameTypes.goAway:
        return this.#onGoAway(id, payload);
      case frameTypes.pushPromise:
        throw new Http2Error(errorCodes.protocolError, 'clients must not send PUSH_PROMISE');
      case frameTypes.priority:
        // RFC 9113, 5.3.2: priorities are deprecated.
        if (id === 0) throw new Http2Error(errorCodes.protocolError, 'PRIORITY on stream 0');
        if (payload.length !== 5) throw new Http2Error(errorCodes.frameSizeError, 'PRIORITY must have 5 bytes');
        return this.#countIdleFrame();
      default:
        // RFC 9113, 5.5: unknown frames are ignored.
        return this.#countIdleFrame();
    }
  }

  /**
   * Checks the order of frames: SETTINGS is the first one, and a header block is not interleaved with others: RFC 9113, 3.4 and
   * 6.10.
   */
  #assertExpected(type: number, id: number): void {
    if (!this.#hasSettings && type !== frameTypes.settings)
      throw new Http2Error(errorCodes.protocolError, 'the first frame must be SETTINGS');
    const isContinued = type === frameTypes.continuation && this.#block?.stream === id;
    if (this.#block ? !isContinued : type === frameTypes.continuation)
      throw new Http2Error(errorCodes.protocolError, 'a header block is interrupted, or CONTINUATION has no block');
  }

  #onHeaders(flag: number, id: number, payload: Buffer): void {
    if (id % 2 === 0) throw new Http2Error(errorCodes.protocolError, 'requests must have odd stream numbers');
    const fragment = fragmentOf(flag, payload);
    if (flag & flags.endHeaders) return this.#onBlock(flag, id, fragment);
    const bytes = new MergedBytes();
    bytes.append(fragment);
    this.#block = { stream: id, flag, bytes, frames: 1 };
    this.#assertBlockSize(this.#block);
  }

  #onContinuation(flag: number, payload: Buffer): void {
    const block = this.#block as HeaderBlock;
    block.bytes.append(payload);
    block.frames += 1;
    this.#assertBlockSize(block);
    if (!(flag & flags.endHeaders)) return;
    this.#block = undefined;
    this.#onBlock(block.flag, block.stream, block.bytes.take());
  }

  /** Limits a header block in bytes and frames: CVE-2023-45288, CVE-2024-27316. */
  #assertBlockSize({ bytes, frames }: HeaderBlock): void {
    if (bytes.length > this.#options.maxHeaderBytes || frames > limits.framesOfBlock)
      throw new Http2Error(errorCodes.enhanceYourCalm, 'a header block is too large');
  }

  #onBlock(flag: number, id: number, block: Buffer): void {
    const head = new RequestHead(this.#options.maxHeaderBytes);
    this.#decoder.decode(block, head.add);
    const endsStream = (flag & flags.endStream) !== 0;
    if (id <= this.#lastStream) return this.#onTrailers(id, endsStream, head);
    this.#noteSkipped(id);
    this.#lastStream = id;
    this.#countRequest();
    // The client retries streams after a GOAWAY on another connection: RFC 9113, 6.8.
    if (this.#isClosing) return;
    head.end(endsStream);
    if (this.#streams.size >= this.#options.maxConcurrentStreams) return this.#refuse(id, errorCodes.refusedStream);
    if (head.malformed !== undefined) return this.#refuse(id, errorCodes.protocolError);
    const windows = { send: this.#clientWindow, receive: this.#options.streamWindow };
    const stream = new Http2Stream(this, id, head.headers, head.rawHeaders, head.bodyLength, endsStream, windows);
    this.#streams.set(id, stream);
    if (this.#closesAfterFirst) this.close();
    if (!head.isTooLarge) return this.#events.onStream(stream);
    stream.respond(431, ['Content-Length', String(headerListTooLong.length), 'Content-Type', 'text/html; charset=utf-8']);
    stream.end(headerListTooLong);
  }

  #noteSkipped(id: number): void {
    const next = this.#lastStream === 0 ? 1 : this.#lastStream + 2;
    if (id > next && this.#skipped.length < limits.skippedRanges) this.#skipped.push([next, id - 2]);
  }

  #onTrailers(id: number, endsStream: boolean, head: RequestHead): void {
    head.endTrailers();
    const { malformed } = head;
    const stream = this.#streams.get(id);
    // The rest of a request that ended here may still arrive.
    if (!stream) {
      if (this.#skipped.some(([from, to]) => id >= from && id <= to))
        throw new Http2Error(errorCodes.protocolError, 'stream numbers must increase');
      return this.#countIdleFrame();
    }
    if (stream.hasWholeBody) return this.#breakOff(stream, errorCodes.streamClosed);
    if (!endsStream || malformed !== undefined) return this.#breakOff(stream, errorCodes.protocolError);
    this.#endBody(stream);
  }

  dataBegins(id: number, flag: number, length: number, bodyLength: number): void {
    if (this.#isClosed) return;
    this.#assertExpected(frameTypes.data, id);
    this.#assertNotIdle(id);
    this.#receiveWindow -= length;
    if (this.#receiveWindow < 0) throw new Http2Error(errorCodes.flowControlError, 'DATA exceeds the window of the connection');
    // The windows of streams hold back unread bodies; the connection's window is the sum of them.
    this.#credit(length);
    this.#dataEndsStream = (flag & flags.endStream) !== 0;
    if (bodyLength === 0 && !this.#dataEndsStream) this.#countIdleFrame();
    const stream = this.#streams.get(id);
    this.#dataStream = undefined;
    if (!stream) return;
    const wrong = stream.hasWholeBody ? errorCodes.streamClosed : stream.admit(length, bodyLength);
    if (wrong !== undefined) return this.#breakOff(stream, wrong);
    this.#dataStream = stream;
  }

  data(chunk: Buffer): void {
    if (this.#dataStream && !this.#dataStream.closed) this.#dataStream.onData(chunk);
  }

  dataEnds(): void {
    const stream = this.#dataStream;
    this.#dataStream = undefined;
    if (stream && !stream.closed && this.#dataEndsStream) this.#endBody(stream);
  }

  #endBody(stream: Http2Stream): void {
    const wrong = stream.onEnd();
    if (wrong !== undefined) this.#breakOff(stream, wrong);
  }

  #onReset(id: number): void {
    this.#assertNotIdle(id);
    const stream = this.#streams.get(id);
    // A cancelled watch was served; a request whose response had not been sent may have cost all of its work (CVE-2023-44487).
    if (!stream) return this.#countIdleFrame();
    if (!stream.headersSent || stream.headBatch === this.#batches) this.#countBrokenStream();
    this.#forget(stream);
  }

  #onWindowUpdate(id: number, increment: number): void {
    if (id === 0) {
      if (increment === 0) throw new Http2Error(errorCodes.protocolError, 'WINDOW_UPDATE of 0');
      this.#sendWindow += increment;
      if (this.#sendWindow > maxWindow) throw new Http2Error(errorCodes.flowControlError, 'the window is too large');
      if (this.#ready.length > 0) this.#schedule();
      return;
    }
    this.#assertNotIdle(id);
    const stream = this.#streams.get(id);
    if (!stream) return;
    if (increment === 0) return this.#breakOff(stream, errorCodes.protocolError);
    stream.sendWindow += increment;
    if (stream.sendWindow > maxWindow) return this.#breakOff(stream, errorCodes.flowControlError);
    if (stream.writableLength > 0) this.ready(stream);
  }

  #onSettings(flag: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(errorCodes.protocolError, 'SETTINGS on a stream');
    if (flag & flags.ack) {
      if (payload.length !== 0) throw new Http2Error(errorCodes.frameSizeError, 'a SETTINGS acknowledgement must be empty');
      if (!this.#awaitsSettings) throw new Http2Error(errorCodes.protocolError, 'unexpected SETTINGS acknowledgement');
      this.#awaitsSettings = false;
      return;
    }
    if (payload.length > maxSettings * 6) throw new Http2Error(errorCodes.protocolError, 'too many settings');
    if (payload.length % 6 !== 0) throw new Http2Error(errorCodes.frameSizeError, 'a setting must have 6 bytes');
    if (this.#hasSettings) this.#countIdleFrame();
    this.#hasSettings = true;
    for (let at = 0; at < payload.length; at += 6) this.#onSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.#queue(frameTypes.settings, flags.ack, 0);
  }

  #onSetting(name: number, value: number): void {
    switch (name) {
      case settings.headerTableSize:
        return this.#encoder.resize(value);
      case settings.enablePush:
        if (value > 1) throw new Http2Error(errorCodes.protocolError, 'SETTINGS_ENABLE_PUSH must be 0 or 1');
        return;
      case settings.maxFrameSize:
        if (value < initial.frameBytes || value >= 1 << 24)
          throw new Http2Error(errorCodes.protocolError, 'invalid SETTINGS_MAX_FRAME_SIZE');
        this.#clientFrameBytes = value;
        return;
      case settings.initialWindowSize:
        if (value > maxWindow) throw new Http2Error(errorCodes.flowControlError, 'the window is too large');
        return this.#moveWindows(value - this.#clientWindow);
    }
  }

  /** Adjusts the windows of open streams, which may become negative: RFC 9113, 6.9.2. */
  #moveWindows(by: number): void {
    this.#clientWindow += by;
    for (const stream of this.#streams.values()) {
      stream.sendWindow += by;
      if (stream.sendWindow > maxWindow) throw new Http2Error(errorCodes.flowControlError, 'the window is too large');
      if (stream.writableLength > 0) this.ready(stream);
    }
  }

  #onPing(flag: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(errorCodes.protocolError, 'PING on a stream');
    if (payload.length !== 8) throw new Http2Error(errorCodes.frameSizeError, 'PING must have 8 bytes');
    this.#countIdleFrame();
    if (!(flag & flags.ack)) this.#queue(frameTypes.ping, flags.ack, 0, Buffer.from(payload));
  }

  #onGoAway(id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(errorCodes.protocolError, 'GOAWAY on a stream');
    if (payload.length < 8) throw new Http2Error(errorCodes.frameSizeError, 'GOAWAY must have at least 8 bytes');
    this.close();
  }

  #assertNotIdle(id: number): void {
    if (id === 0 || id % 2 === 0 || id > this.#lastStream) throw new Http2Error(errorCodes.protocolError, 'frame of an idle stream');
  }

  /**
   * Pauses after a number of requests, independent of their times: comparing event loop iterations for each request costs a sixth
   * of a GET.
   */
  #countRequest(): void {
    this.#taken += 1;
    if (this.#taken < limits.requestsOfTurn) return;
    this.#reader.pause();
    setImmediate(this.#goOn);
  }

  /** Continues after a yield. */
  readonly #goOn = (): void => {
    this.#taken = 0;
    if (this.#isClosed) return;
    if (this.socket.isPaused()) this.socket.resume();
    this.#read();
  };

  #countIdleFrame(): void {
    if (!this.#idleFrames.use()) throw new Http2Error(errorCodes.enhanceYourCalm, 'too many frames without effect');
  }

  #countBrokenStream(): void {
    if (!this.#brokenStreams.use()) throw new Http2Error(errorCodes.enhanceYourCalm, 'too many aborted requests');
  }

  /** Rejects a request with RST_STREAM. */
  #refuse(id: number, code: ErrorCode): void {
    this.#countBrokenStream();
    this.#queueNumber(frameTypes.resetStream, id, code);
  }

  /** Resets a stream for an error of the client: RFC 9113, 5.4.2. */
  #breakOff(stream: Http2Stream, code: ErrorCode): void {
    this.reset(stream, code);
    this.#countBrokenStream();
  }

  #credit(bytes: number): void {
    this.#uncredited += bytes;
    if (this.#uncredited < this.#options.streamWindow / 2) return;
    this.#receiveWindow += this.#uncredited;
    this.#queueNumber(frameTypes.windowUpdate, 0, this.#uncredited);
    this.#uncredited = 0;
  }

  #sendSettings(): void {
    const { maxConcurrentStreams, streamWindow, maxHeaderBytes } = this.#options;
    const values = [
      [settings.maxConcurrentStreams, maxConcurrentStreams],
      [settings.initialWindowSize, streamWindow],
      [settings.maxFrameSize, streamWindow],
      [settings.maxHeaderListSize, maxHeaderBytes],
    ] as const;
    const payload = Buffer.alloc(values.length * 6);
    for (const [i, [name, value]] of values.entries()) {
      payload.writeUInt16BE(name, i * 6);
      payload.writeUInt32BE(value, i * 6 + 2);
    }
    this.#queue(frameTypes.settings, 0, 0, payload);
    this.#awaitsSettings = true;
    if (this.#receiveWindow > initial.window) this.#queueNumber(frameTypes.windowUpdate, 0, this.#receiveWindow - initial.window);
  }

  #goAway(code: ErrorCode, reason: string, lastStream = this.#lastStream): void {
    const payload = Buffer.alloc(8 + reason.length);
    payload.writeUInt32BE(lastStream, 0);
    payload.writeUInt32BE(code, 4);
    payload.write(reason, 8, 'latin1');
    this.#queue(frameTypes.goAway, 0, 0, payload);
  }

  /** Queues a frame whose payload is one number. */
  #queueNumber(type: number, stream: number, value: number): void {
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32BE(value, 0);
    this.#queue(type, 0, stream, payload);
  }

  /** Queues a frame; the payload is copied. */
  #queue(type: number, flag: number, stream: number, payload?: Buffer): void {
    if (this.#isClosed) return;
    const length = payload?.length ?? 0;
    const frame = Buffer.allocUnsafe(frameHeadBytes + length);
    const at = writeFrameHead(frame, 0, length, type, flag, stream);
    if (payload) frame.set(payload, at);
    this.#control.push(frame);
    this.#controlBytes += frame.length;
    if (this.#control.length > limits.queuedControlFrames) return this.destroy();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting || this.#isClosed) return;
    this.#isScheduled = true;
    process.nextTick(flush, this);
  }

  /**
   * Writes one slice of the pending output unless a write is pending. Streams are iterated by index: in unoptimized code an
   * iterator allocates an object for each, which is a tenth of the cost of an event to a hundred watchers.
   */
  flush(): void {
    this.#isScheduled = false;
    if (this.#isWriting || this.#isClosed) return;
    const streams = this.#ready;
    if (this.#controlBytes === 0 && streams.length === 0) return this.#endIfDone();
    const out = acquireBuffer(this.#mostBytes());
    let at = 0;
    for (const frame of this.#control) {
      out.set(frame, at);
      at += frame.length;
    }
    this.#control = [];
    this.#controlBytes = 0;
    this.#batches += 1;
    at = this.#writeBodies(out, at);
    if (at === 0) return releaseBuffer(out);
    if (at >= sliceBytes) this.#slices += 1;
    this.#isWriting = true;
    this.#out = out;
    this.socket.write(out.length === at ? out : out.subarray(0, at), this.#onWritten);
    for (let i = 0; i < streams.length; i++) (streams[i] as Http2Stream).left();
    const ended = this.#ending;
    this.#ending = [];
    for (const stream of ended) this.#ended(stream);
  }

  /** Returns an upper bound of the next write in bytes. */
  #mostBytes(): number {
    const streams = this.#ready;
    let waiting = 0;
    for (let i = 0; i < streams.length; i++) waiting += (streams[i] as Http2Stream).writableLength;
    const bodies = Math.min(waiting, sliceBytes);
    // Only the last frame of a stream is smaller than the maximum.
    const frames = this.#ready.length + Math.floor(bodies / this.#clientFrameBytes);
    return this.#controlBytes + bodies + frames * frameHeadBytes;
  }

  readonly #onWritten = (error?: Error | null): void => {
    this.#isWriting = false;
    // After a failed write the system may still reference the memory.
    if (this.#out && !error) releaseBuffer(this.#out);
    this.#out = undefined;
    if (this.#controlBytes === 0 && this.#ready.length === 0 && !this.#isClosing) return;
    if (this.#slices < slicesOfTurn || this.#isScheduled) return this.#schedule();
    this.#slices = 0;
    this.#isScheduled = true;
    setImmediate(flush, this);
  };

  /** Writes body frames of the streams in rotation, up to the windows and one slice. Returns the offset after them. */
  #writeBodies(out: Buffer, start: number): number {
    let at = start;
    let room = sliceBytes;
    while (room > 0 && this.#ready.length > 0) {
      const before = at;
      const streams = this.#ready;
      this.#ready = [];
      for (let i = 0; i < streams.length; i++) {
        const stream = streams[i] as Http2Stream;
        stream.isReady = false;
        if (stream.closed || stream.hasEnded) continue;
        const length = Math.max(0, Math.min(stream.writableLength, this.#clientFrameBytes, stream.sendWindow, this.#sendWindow, room));
        const ends = stream.writableEnded && stream.writableLength === length;
        if (length > 0 || ends) at = this.#writeBody(out, at, stream, length, ends);
        room -= length;
        // A stream with an exhausted window is queued again by its window update.
        if (stream.writableLength === 0 || stream.sendWindow <= 0) continue;
        stream.isReady = true;
        this.#ready.push(stream);
      }
      if (at === before) break;
    }
    return at;
  }

  #writeBody(out: Buffer, start: number, stream: Http2Stream, length: number, ends: boolean): number {
    const at = writeFrameHead(out, start, length, frameTypes.data, ends ? flags.endStream : 0, stream.id);
    stream.takeInto(out, at, length);
    this.#sendWindow -= length;
    if (ends) {
      stream.hasEnded = true;
      this.#ending.push(stream);
    }
    return at + length;
  }

  /** Completes a response whose last frame was written. */
  #ended(stream: Http2Stream): void {
    if (stream.closed) return;
    // The rest of an answered request is not read: RFC 9113, 8.1.
    if (!stream.hasWholeBody) this.#queueNumber(frameTypes.resetStream, stream.id, errorCodes.noError);
    this.#forget(stream);
  }

  #forget(stream: Http2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    stream.onClose();
    if (this.#isClosing) this.#schedule();
  }

  #endIfDone(): void {
    if (!this.#isClosing || this.#isClosed || this.#streams.size > 0 || this.#controlBytes > 0 || this.#isWriting) return;
    // Requests that the client sent before it read the GOAWAY are read and dropped: unread, they would reset the connection.
    if (this.socket.isPaused()) this.socket.resume();
    endSoon(this.socket);
    this.#closed();
  }

  /** Closes the connection for a protocol error, with the reason in the GOAWAY. */
  #fail(code: ErrorCode, reason: string): void {
    if (this.#isClosed) return;
    this.#goAway(code, reason);
    const { socket } = this;
    socket.write(Buffer.concat(this.#control));
    socket.destroySoon();
    setTimeout(() => socket.destroy(), limits.lingerMs).unref();
    this.#closed();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isClosing = true;
    this.#control = [];
    this.#ready = [];
    this.#ending = [];
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.onClose();
    this.#events.onClose();
  }
}

/** Returns the header block fragment of a HEADERS frame, without padding and priority: RFC 9113, 6.2. */
function fragmentOf(flag: number, payload: Buffer): Buffer {
  const isPadded = (flag & flags.padded) !== 0;
  const start = (isPadded ? 1 : 0) + (flag & flags.priority ? 5 : 0);
  if (payload.length < start) throw new Http2Error(errorCodes.frameSizeError, 'a frame is too short');
  const end = payload.length - (isPadded ? (payload[0] as number) : 0);
  if (end < start) throw new Http2Error(errorCodes.protocolError, 'padding exceeds the frame');
  return payload.subarray(start, end);
}
