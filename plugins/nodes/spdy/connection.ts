import { Buffer } from 'node:buffer';
import type { Steps } from '#sdk/internal';
import {
  dataFrame,
  goAwayFrame,
  pingFrame,
  resetFrame,
  type SpdyFrame,
  SpdyError,
  SpdyFrameReader,
  synReplyFrame,
  windowUpdateFrame,
} from './frames.ts';
import { HeaderReader, type SpdyHeaders, HeaderWriter } from './headers.ts';

/** A stream that the client opened. */
export interface SpdyStream {
  readonly id: number;
  readonly headers: SpdyHeaders;
  /** Receiver of the client's data, set by the owner of the stream. */
  onData: (bytes: Buffer) => Steps<void>;
  /** Called when the client has sent all its data. */
  onEnd: () => void;
  /** Called when the client, or the end of the connection, cancelled the stream. */
  onReset: () => void;
  write(bytes: Buffer): void;
  end(): void;
  reset(): void;
}

export interface SpdyListener {
  opened(stream: SpdyStream): void;
  /** The connection has ended. Called once. */
  closed(): void;
}

/** Bytes in both directions, such as a socket, or the messages of a WebSocket. */
export interface SpdyTransport {
  write(bytes: Buffer): void;
  end(): void;
}

const maxStreams = 1_000;
/** Maximum length of the headers that a stream keeps: those of Kubernetes have less than 100 characters. */
const maxHeaderLength = 4_096;
const cancelled = 5;
const protocolError = 1;
/** Size that the payload of a data frame does not exceed. */
const maxDataBytes = 65_536;

/**
 * The server's side of a SPDY/3.1 connection, as Kubernetes uses it: the client opens all streams. Upstream's implementation
 * (moby/spdystream) has no flow control: it grants credit for all it receives and ignores that of the other side; so does this one.
 */
export class SpdyConnection {
  readonly #reader = new SpdyFrameReader();
  readonly #headerReader = new HeaderReader();
  readonly #headerWriter = new HeaderWriter();
  readonly #streams = new Map<number, OpenStream>();
  #lastStream = 0;
  #isClosed = false;

  constructor(
    private readonly transport: SpdyTransport,
    private readonly listener: SpdyListener,
  ) {}

  /** Takes received bytes. Bytes that are not SPDY end the connection. */
  *receive(bytes: Buffer): Steps<void> {
    try {
      for (const frame of this.#reader.read(bytes)) {
        if (this.#isClosed) return;
        yield* this.#handle(frame);
        yield;
      }
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.close();
    }
  }

  /** Ends the connection. */
  close(): void {
    if (this.#isClosed) return;
    this.send(goAwayFrame(this.#lastStream));
    this.transport.end();
    this.ended();
  }

  /** The transport has ended. */
  ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.onReset();
    this.listener.closed();
  }

  send(frame: Buffer): void {
    if (!this.#isClosed) this.transport.write(frame);
  }

  /** Forgets a stream that both sides have ended. */
  forget(id: number): void {
    this.#streams.delete(id);
  }

  *#handle(frame: SpdyFrame): Steps<void> {
    switch (frame.type) {
      case 'synStream':
        return this.#open(frame.stream, frame.headers, frame.isLast);
      case 'data': {
        const stream = this.#streams.get(frame.stream);
        if (!stream) return this.send(resetFrame(frame.stream, 2));
        if (frame.payload.length > 0) {
          this.send(windowUpdateFrame(frame.stream, frame.payload.length));
          this.send(windowUpdateFrame(0, frame.payload.length));
          yield* stream.onData(frame.payload);
        }
        if (frame.isLast) stream.remoteEnded();
        return;
      }
      case 'reset': {
        const stream = this.#streams.get(frame.stream);
        this.#streams.delete(frame.stream);
        return stream?.onReset();
      }
      case 'ping':
        // Odd numbers are the client's.
        return frame.id % 2 === 1 ? this.send(pingFrame(frame.id)) : undefined;
      case 'goAway':
      case 'windowUpdate':
      case 'other':
        return;
    }
  }

  #open(id: number, block: Buffer, isLast: boolean): void {
    // The block is part of the state of the compression, whatever becomes of the stream.
    const headers = this.#headerReader.read(block);
    if (sizeOf(headers) > maxHeaderLength) return this.send(resetFrame(id, protocolError));
    if (id % 2 === 0 || id <= this.#lastStream || this.#streams.size >= maxStreams) return this.send(resetFrame(id, protocolError));
    this.#lastStream = id;
    const stream = new OpenStream(this, id, headers);
    this.#streams.set(id, stream);
    this.send(synReplyFrame(id, this.#headerWriter.write({})));
    this.listener.opened(stream);
    if (isLast) stream.remoteEnded();
  }
}

const empty = Buffer.alloc(0);
const nothing = (): void => {};

function sizeOf(headers: SpdyHeaders): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

class OpenStream implements SpdyStream {
  onData: (bytes: Buffer) => Steps<void> = function* () {};
  onEnd: () => void = nothing;
  onReset: () => void = nothing;
  #isRemoteOpen = true;
  #isLocalOpen = true;

  constructor(
    private readonly connection: SpdyConnection,
    readonly id: number,
    readonly headers: SpdyHeaders,
  ) {}

  write(bytes: Buffer): void {
    if (!this.#isLocalOpen) return;
    for (let at = 0; at < bytes.length; at += maxDataBytes)
      this.connection.send(dataFrame(this.id, bytes.subarray(at, at + maxDataBytes), false));
  }

  end(): void {
    if (!this.#isLocalOpen) return;
    this.#isLocalOpen = false;
    this.connection.send(dataFrame(this.id, empty, true));
    if (!this.#isRemoteOpen) this.connection.forget(this.id);
  }

  reset(): void {
    this.#isLocalOpen = false;
    this.connection.forget(this.id);
    this.connection.send(resetFrame(this.id, cancelled));
  }

  remoteEnded(): void {
    if (!this.#isRemoteOpen) return;
    this.#isRemoteOpen = false;
    this.onEnd();
    if (!this.#isLocalOpen) this.connection.forget(this.id);
  }
}
