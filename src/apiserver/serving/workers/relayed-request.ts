import type { Buffer } from 'node:buffer';
import type { Duplex, Readable } from 'node:stream';
import type { FlatHeaders, ResponseStream, StreamKind } from '#apiserver/request/exchange';
import type { Http1Exchange } from '../http1-exchange.ts';
import { Http2Exchange } from '../http2-exchange.ts';
import type { Answer } from '../stalled-clients.ts';
import { UpgradeExchange } from '../upgrade-exchange.ts';
import { CreditedSource } from './credited-source.ts';
import { type RequestHead, streams, type WorkerMessage, messageKinds } from './messages.ts';
import type { Outbox } from './outbox.ts';

/** Worker side of one request: reports its events and executes the main thread's commands. */
export class RelayedRequest {
  readonly #request: number;
  readonly #exchange: Http1Exchange | Http2Exchange;
  readonly #outbox: Outbox<WorkerMessage>;
  /** Source of the body or of a taken-over connection. */
  #source: CreditedSource | undefined;
  /** Target of a streamed response or of a taken-over connection. */
  #target: Answer | Duplex | undefined;
  #stream: ResponseStream | undefined;
  /** Number of read bytes that were not reported yet. */
  #taken = 0;
  /** Number of read bytes after which they are reported. */
  #takenBytes: number = streams.open.takenBytes;

  constructor(request: number, peer: number, exchange: Http1Exchange | Http2Exchange, outbox: Outbox<WorkerMessage>) {
    this.#request = request;
    this.#exchange = exchange;
    this.#outbox = outbox;
    const { protocol, method, url, headers, rawHeaders, bodyLength } = exchange;
    const isUpgrade = exchange instanceof UpgradeExchange;
    const head: RequestHead = {
      peer,
      protocol,
      isUpgrade,
      method,
      url,
      headers,
      rawHeaders,
      bodyLength,
      body: [],
      isWhole: bodyLength === 0,
    };
    outbox.push([messageKinds.request, request, head]);
    if (!head.isWhole) this.#source = this.#follow(exchange.openBody(), head);
  }

  send(status: number, headers: FlatHeaders, pieces: readonly Buffer[], length: number, closesConnection: boolean): void {
    if (closesConnection) this.#exchange.closeConnectionAfter();
    // The response to a HEAD has a length but no body.
    if (pieces.length === 1 || length === 0) this.#exchange.send(status, headers, pieces[0]);
    else this.#exchange.sendPieces(status, headers, pieces, length);
    this.#source?.discard();
  }

  open(status: number, headers: FlatHeaders, closesConnection: boolean, kind: StreamKind): void {
    if (closesConnection) this.#exchange.closeConnectionAfter();
    this.#stream = this.#exchange.open(status, headers, kind);
    const target = this.#exchange instanceof Http2Exchange ? this.#exchange.raw : this.#exchange.raw.response;
    this.#target = target;
    this.#takenBytes = streams[kind].takenBytes;
  }

  write(bytes: Buffer): void {
    const target = this.#target;
    if (!target || target.destroyed || target.closed || target.writableEnded) return;
    target.write(bytes, () => {
      this.#taken += bytes.length;
      if (this.#taken < this.#takenBytes) return;
      this.#outbox.push([messageKinds.taken, this.#request, this.#taken]);
      this.#taken = 0;
    });
  }

  end(): void {
    if (!this.#target || this.#target.destroyed) return;
    if (this.#stream) this.#stream.end();
    else (this.#target as Duplex).end();
  }

  abort(): void {
    if (this.#stream) this.#stream.abort();
    else this.#target?.destroy();
  }

  grant(bytes: number): void {
    this.#source?.grant(bytes);
  }

  takeOver(): void {
    if (!(this.#exchange instanceof UpgradeExchange)) return;
    const socket = this.#exchange.takeOver();
    this.#target = socket;
    this.#source = this.#follow(socket, undefined);
  }

  /** Forwards `source`. `head` is the unsent head, to which immediate bytes are added. */
  #follow(source: Readable, head: RequestHead | undefined): CreditedSource {
    const { turn } = this.#outbox;
    const outbox = this.#outbox;
    const current = (): RequestHead | undefined => (head && outbox.turn === turn ? head : undefined);
    return new CreditedSource(source, {
      data: (chunk) => {
        const part = outbox.part(chunk);
        const open = current();
        if (open) open.body.push(part);
        else outbox.push([messageKinds.data, this.#request, part]);
      },
      end: () => {
        const open = current();
        if (open) open.isWhole = true;
        else outbox.push([messageKinds.end, this.#request]);
      },
    });
  }
}
