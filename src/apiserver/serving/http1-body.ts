import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ArrivingBody } from './arriving-body.ts';
import { CollectedBody } from './body.ts';
import { MergedBytes } from '#apiserver/base/merged-bytes';

/**
 * Number of body bytes that are dropped after the response before the connection is closed. Upstream: net/http/server.go
 * (maxPostHandlerReadBytes).
 */
export const unwantedBytes = 256 * 1024;

/** Number of bytes that are buffered for a missing or slow reader. */
const windowBytes = 64 * 1024;

/**
 * Body of an HTTP/1.1 request. It takes each chunk from node:http as it is parsed, because node:http would queue a buffer for each,
 * and signals when parsing must pause.
 */
export class Http1Body {
  /** Called when parsing may continue. */
  onRoom: () => void = () => undefined;
  readonly #early = new MergedBytes();
  #reader: CollectedBody | ArrivingBody | undefined;
  #isWhole = false;
  #isGone = false;
  #received = 0;

  constructor(request: IncomingMessage) {
    request.on('data', (chunk: Buffer) => {
      this.#received += chunk.length;
      (this.#reader ?? this).data(chunk);
    });
    request.on('end', () => {
      this.#isWhole = true;
      this.#reader?.end();
    });
    request.on('close', () => {
      this.#isGone = true;
      this.#reader?.gone();
    });
  }

  /** True if parsing must pause until `onRoom`. */
  get isFull(): boolean {
    const pending = this.#reader instanceof ArrivingBody ? this.#reader.pendingBytes : this.#early.length;
    return pending >= windowBytes;
  }

  /**
   * True if so many bytes of the body are outstanding that the connection must close after the response. `length` is undefined if
   * the head does not state it. Upstream: net/http/server.go (chunkWriter.writeHeader).
   */
  endsConnection(length: number | undefined): boolean {
    if (this.#isWhole) return false;
    if (this.#reader instanceof CollectedBody && this.#reader.isTooLarge) return true;
    return length !== undefined && length - this.#received > unwantedBytes;
  }

  /** Implements `Exchange.readBody`. `expected` is the Content-Length, 0 if there is none. */
  collect(expected: number, limit: number): Promise<Buffer> {
    const body = new CollectedBody(expected, limit);
    if (expected <= limit) this.#readBy(body);
    return body.whole;
  }

  open(): Readable {
    const body = new ArrivingBody(() => this.onRoom());
    this.#readBy(body);
    return body;
  }

  /** Buffers a chunk until there is a reader. */
  data(chunk: Buffer): void {
    this.#early.append(chunk);
  }

  /** Drops the rest of the body. A reader that still waits for it ends: the response is over, or its connection is. */
  discard(): void {
    this.#early.take();
    if (!this.#isWhole) this.#reader?.gone();
    this.#reader = new CollectedBody(0, 0);
    this.#reader.whole.catch(() => undefined);
  }

  #readBy(reader: CollectedBody | ArrivingBody): void {
    this.#reader = reader;
    if (this.#early.length > 0) reader.data(this.#early.take());
    if (this.#isWhole) reader.end();
    else if (this.#isGone) reader.gone();
    this.onRoom();
  }
}
