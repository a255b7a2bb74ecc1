import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { BodyTooLargeError, type Exchange, type FlatHeaders, type Peer, type ResponseStream } from '#apiserver/request/exchange';
import { sliceBytes, slicesOf } from './write-slices.ts';

/** A request without a connection. */
export interface InProcessRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Headers, with names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
  /** Aborts when the caller cancels the request. */
  readonly signal?: AbortSignal | undefined;
}

const highWaterBytes = 1 << 20;

/** Response to a request within the process. */
export interface InProcessResponse {
  readonly status: number;
  readonly headers: FlatHeaders;
  /** The bytes may be shared with other responses and must not be modified. */
  readonly body: Buffer | ReadableStream<Uint8Array> | undefined;
}

/** One request within the process, which passes the whole chain without TLS and sockets. */
export class InProcessExchange implements Exchange {
  readonly protocol = 'HTTP/1.1';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** One for each request, because callers with different identities have no connection that could hold the memo. */
  readonly peer: Peer = { remoteAddress: '127.0.0.1', certificates: [], memo: new Map() };
  readonly raw = undefined;
  readonly isInProcess = true;
  /** The response without the cost of a web `Response`. */
  readonly plainResponse: Promise<InProcessResponse>;
  #responded = false;
  #closed = false;
  readonly #request: InProcessRequest;
  readonly #events = new EventEmitter();
  #resolve!: (response: InProcessResponse) => void;
  #reject!: (error: unknown) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(request: InProcessRequest) {
    this.method = request.method;
    this.url = request.url;
    this.headers = { ...request.headers };
    this.#request = request;
    this.plainResponse = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal?.addEventListener('abort', () => this.#leave(), { once: true });
  }

  /** The response as a web `Response`, with a copy of the bytes. */
  get response(): Promise<Response> {
    return this.plainResponse.then(webResponseOf);
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.#request.headers).flatMap(([name, value = '']) => [value].flat().flatMap((one) => [name, one]));
  }

  get bodyLength(): number {
    return this.#request.body?.length ?? 0;
  }

  headerValues(name: string): string[] {
    const value = this.#request.headers[name];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  }

  get responded(): boolean {
    return this.#responded;
  }

  get closed(): boolean {
    return this.#closed;
  }

  readBody(limit: number): Promise<Buffer> {
    const body = this.#request.body ?? Buffer.alloc(0);
    return body.length > limit ? Promise.reject(new BodyTooLargeError(limit)) : Promise.resolve(body);
  }

  openBody(): Readable {
    return Readable.from(this.#request.body ? [this.#request.body] : []);
  }

  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void {
    this.#answer(status, headers, body?.length && this.method !== 'HEAD' ? body : undefined);
    this.#finish();
  }

  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void {
    if (this.method === 'HEAD') return this.send(status, headers, undefined);
    if (totalLength <= sliceBytes) return this.send(status, headers, Buffer.concat(pieces, totalLength));
    this.#answer(status, headers, streamOf(pieces));
    this.#finish();
  }

  open(status: number, headers: FlatHeaders): ResponseStream {
    const events = this.#events;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          events.emit('drain');
        },
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: highWaterBytes }),
    );
    this.#answer(status, headers, stream);
    const controller = (): ReadableStreamDefaultController<Uint8Array> | undefined => (this.#closed ? undefined : this.#controller);
    return {
      write: (bytes) => {
        controller()?.enqueue(new Uint8Array(bytes));
        return (controller()?.desiredSize ?? 1) > 0;
      },
      end: () => this.endResponse(),
      get pendingBytes() {
        return Math.max(0, highWaterBytes - (controller()?.desiredSize ?? highWaterBytes));
      },
      onDrain: (listener) => void events.on('drain', listener),
      abort: () => {
        controller()?.error(new Error('the server aborted the response'));
        this.#finish();
      },
    };
  }

  endResponse(): void {
    if (this.#closed) return;
    this.#controller?.close();
    this.#finish();
  }

  onClose(listener: () => void): void {
    if (this.#closed) listener();
    else this.#events.once('close', listener);
  }

  closeConnectionAfter(): void {
    // There is no connection to close.
  }

  #answer(status: number, headers: FlatHeaders, body: InProcessResponse['body']): void {
    if (this.#responded) return;
    this.#responded = true;
    this.#resolve({ status, headers, body });
  }

  #leave(): void {
    if (this.#closed) return;
    const reason: unknown = this.#request.signal?.reason ?? new Error('the caller cancelled the request');
    this.#reject(reason);
    // As for any fetch, a reader of the body receives the reason.
    if (this.#request.signal?.aborted) this.#controller?.error(reason);
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.emit('close');
  }
}

function webResponseOf({ status, headers, body }: InProcessResponse): Response {
  const list = new Headers();
  for (let at = 0; at < headers.length; at += 2) list.append(headers[at] as string, headers[at + 1] as string);
  const content = Buffer.isBuffer(body) ? new Uint8Array(body) : (body ?? null);
  return new Response(status === 204 || status === 304 ? null : content, { status, headers: list });
}

/**
 * Streams copies of the buffers, one slice per event loop iteration: copying a large response at once would block longer than
 * producing it.
 */
function streamOf(pieces: readonly Buffer[]): ReadableStream<Uint8Array> {
  const slices = slicesOf(pieces);
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await setImmediate();
      const slice = slices.next();
      if (slice.done) controller.close();
      else controller.enqueue(new Uint8Array(Buffer.concat(slice.value)));
    },
    cancel: () => void slices.return(),
  });
}
