import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { ArrivingBody } from './arriving-body.ts';
import { CollectedBody } from './body.ts';
import { MergedBytes } from './merged-bytes.ts';

/** Octets of a body that are dropped behind its answer before the connection ends. Upstream: net/http/server.go (maxPostHandlerReadBytes). */
export const unwantedBytes = 256 * 1024;

/** Octets that are held for a reader that does not come, or not fast enough. */
const windowBytes = 64 * 1024;

/**
 * The body of a request of HTTP/1.1. It takes each part off node:http as it is parsed, where every chunk would be a buffer of its own, and says when
 * no more should be parsed.
 */
export class Http1Body {
  /** Called when there is room again. */
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

  /** True if nothing more of it should be parsed until `onRoom`. */
  get isFull(): boolean {
    const pending = this.#reader instanceof ArrivingBody ? this.#reader.pendingBytes : this.#early.length;
    return pending >= windowBytes;
  }

  /**
   * True if so much of it has not come that the connection ends behind the answer. `length`: undefined if its head does not say it.
   * Upstream: net/http/server.go (chunkWriter.writeHeader).
   */
  endsConnection(length: number | undefined): boolean {
    if (this.#isWhole) return false;
    if (this.#reader instanceof CollectedBody && this.#reader.isTooLarge) return true;
    return length !== undefined && length - this.#received > unwantedBytes;
  }

  /** See `Exchange.readBody`. `expected`: the length that the head has, 0 if none. */
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

  /** Until there is a reader, it is one. */
  data(chunk: Buffer): void {
    this.#early.append(chunk);
  }

  /** Nobody reads it any more. */
  discard(): void {
    this.#early.take();
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
