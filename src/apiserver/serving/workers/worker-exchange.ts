import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { sharedMemoryOf } from '#apimachinery/runtime/kept-bytes';
import {
  type Exchange,
  type FlatHeaders,
  type Peer,
  rawHeaderValues,
  type ResponseStream,
  type StreamKind,
  type UpgradableExchange,
} from '#apiserver/request/exchange';
import { slicesOf } from '../write-slices.ts';
import { type WorkerCommand, commandKinds, type RequestHead, streams, windowBytes } from './messages.ts';
import type { Outbox } from './outbox.ts';
import { RemoteBody } from './remote-body.ts';
import { RemoteSocket } from './remote-socket.ts';
import { RemoteStream } from './remote-stream.ts';

/** The part of a worker that an exchange uses. */
export interface ExchangeWorker {
  readonly outbox: Outbox<WorkerCommand>;
  /**
   * Reports a complete response: further messages of the request are ignored, and the exchange closes once the worker has the
   * response.
   */
  finished(request: number, exchange: WorkerExchange): void;
}

/** One request whose connection is in a worker. */
export class WorkerExchange implements Exchange {
  readonly protocol: Exchange['protocol'];
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly bodyLength: number | undefined;
  readonly peer: Peer;
  readonly raw = undefined;
  protected readonly request: number;
  protected readonly worker: ExchangeWorker;
  protected stream: RemoteStream | undefined;
  readonly #body: RemoteBody;
  #listeners: (() => void)[] | undefined;
  #responded = false;
  #closed = false;
  #closesConnection = false;

  constructor(worker: ExchangeWorker, request: number, head: RequestHead, peer: Peer, body: readonly Buffer[]) {
    this.protocol = head.protocol;
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
    this.bodyLength = head.bodyLength;
    this.peer = peer;
    this.request = request;
    this.worker = worker;
    this.#body = new RemoteBody(windowBytes, this.grant);
    for (const chunk of body) this.#body.data(chunk);
    if (head.isWhole) this.#body.end();
  }

  headerValues(name: string): string[] {
    return rawHeaderValues(this.rawHeaders, name);
  }

  get responded(): boolean {
    return this.#responded;
  }

  get closed(): boolean {
    return this.#closed;
  }

  readBody(limit: number): Promise<Buffer> {
    return this.#body.read(this.bodyLength ?? 0, limit);
  }

  openBody(): Readable {
    return this.#body.open();
  }

  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void {
    this.#sendWhole(status, headers, body?.length && this.method !== 'HEAD' ? [body] : [], body?.length ?? 0);
  }

  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void {
    if (this.method === 'HEAD') return this.#sendWhole(status, headers, [], totalLength);
    if (copiedBytes(pieces) < streams.list.highWaterBytes) return this.#sendWhole(status, headers, pieces, totalLength);
    headers.push('Content-Length', String(totalLength));
    const stream = this.#open(status, headers, 'list');
    const slices = slicesOf(pieces);
    const go = (): void => {
      for (let next = slices.next(); !this.#closed; next = slices.next()) {
        if (next.done) return stream.end();
        const isFull = next.value.map((bytes) => stream.write(bytes)).includes(false);
        if (isFull) return;
      }
    };
    stream.onDrain(go);
    go();
  }

  open(status: number, headers: FlatHeaders, kind: StreamKind = 'open'): ResponseStream {
    return this.#open(status, headers, kind);
  }

  endResponse(): void {
    this.stream?.end();
  }

  onClose(listener: () => void): void {
    if (this.#closed) return listener();
    this.#listeners ??= [];
    this.#listeners.push(listener);
  }

  closeConnectionAfter(): void {
    this.#closesConnection = true;
  }

  /** Receives bytes of the body. */
  data(chunk: Buffer): void {
    this.#body.data(chunk);
  }

  /** Ends the body. */
  end(): void {
    this.#body.end();
  }

  /** Reports that the client has read so many bytes. */
  taken(bytes: number): void {
    this.stream?.taken(bytes);
  }

  /** Closes the exchange, because the response is sent or the client is gone. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.stream?.close();
    this.#body.close();
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) listener();
  }

  protected readonly grant = (bytes: number): void => {
    if (!this.#closed) this.worker.outbox.push([commandKinds.grant, this.request, bytes]);
  };

  /** Starts a response; returns false if none may start. */
  protected begin(): boolean {
    if (this.#closed || this.#responded) return false;
    this.#responded = true;
    return true;
  }

  #sendWhole(status: number, headers: FlatHeaders, pieces: readonly Buffer[], length: number): void {
    if (!this.begin()) return;
    const { outbox } = this.worker;
    const parts = pieces.map((piece) => outbox.part(piece));
    outbox.push([commandKinds.send, this.request, status, headers, parts, length, this.#closesConnection]);
    this.worker.finished(this.request, this);
  }

  #open(status: number, headers: FlatHeaders, kind: StreamKind): RemoteStream {
    const { outbox } = this.worker;
    const stream = new RemoteStream(outbox, this.request, streams[kind].highWaterBytes);
    if (this.begin()) {
      outbox.push([commandKinds.open, this.request, status, headers, this.#closesConnection, kind]);
      this.stream = stream;
    } else stream.close();
    return stream;
  }
}

/** Returns the number of bytes that must be copied for the worker. */
function copiedBytes(pieces: readonly Buffer[]): number {
  return pieces.reduce((bytes, piece) => (sharedMemoryOf(piece) ? bytes : bytes + piece.length), 0);
}

/** A request whose connection can be taken over. */
export class WorkerUpgradeExchange extends WorkerExchange implements UpgradableExchange {
  #socket: RemoteSocket | undefined;
  #end: (() => void) | undefined;

  override endResponse(): void {
    if (this.#socket) this.#end?.();
    else super.endResponse();
  }

  takeOver(end?: () => void): Duplex {
    this.#end = end;
    const { outbox } = this.worker;
    const stream = new RemoteStream(outbox, this.request, streams.open.highWaterBytes);
    if (this.begin()) {
      outbox.push([commandKinds.takeOver, this.request]);
      this.stream = stream;
    } else stream.close();
    this.#socket = new RemoteSocket(stream, this.grant);
    if (this.closed) this.#socket.destroy();
    return this.#socket;
  }

  override data(chunk: Buffer): void {
    if (this.#socket) this.#socket.data(chunk);
    else super.data(chunk);
  }

  override end(): void {
    if (this.#socket) this.#socket.push(null);
    else super.end();
  }

  override close(): void {
    super.close();
    this.#socket?.destroy();
  }
}
