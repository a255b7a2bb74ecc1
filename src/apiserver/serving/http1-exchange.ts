import { Buffer } from 'node:buffer';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import {
  type Exchange,
  type FlatHeaders,
  type Peer,
  pushContentLength,
  rawHeaderValues,
  type ResponseStream,
  type StreamKind,
} from '#apiserver/request/exchange';
import { Http1Body } from './http1-body.ts';
import { originForm } from './request-target.ts';
import { cutOffIfStalled } from './stalled-clients.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import { sliceBytes, writeSlices } from './write-slices.ts';

/** Reason phrases that differ from node:http's. Upstream: net/http/status.go (StatusText). */
const goPhrases: Readonly<Record<number, string>> = { 413: 'Request Entity Too Large', 416: 'Requested Range Not Satisfiable' };

function reasonPhrase(status: number): string {
  return goPhrases[status] ?? STATUS_CODES[status] ?? 'unknown';
}

/** One request over HTTP/1.1. */
export class Http1Exchange implements Exchange {
  readonly protocol = 'HTTP/1.1';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  /** Request body; undefined without one. */
  readonly body: Http1Body | undefined;
  readonly #stalledMs: number;
  readonly raw: { readonly request: IncomingMessage; readonly response: ServerResponse };

  /** `stalledMs` is the time after which a response is aborted if its client reads nothing. */
  constructor(request: IncomingMessage, response: ServerResponse, peer: Peer, stalledMs = 60_000) {
    this.method = request.method ?? 'GET';
    this.url = originForm(request.url ?? '/');
    this.headers = request.headers;
    this.peer = peer;
    this.raw = { request, response };
    this.#stalledMs = stalledMs;
    // A request without a body has no stream that would end (`optimizeEmptyRequests` of node:http).
    this.body = this.bodyLength === 0 ? undefined : new Http1Body(request);
  }

  get rawHeaders(): readonly string[] {
    return this.raw.request.rawHeaders;
  }

  headerValues(name: string): string[] {
    return rawHeaderValues(this.rawHeaders, name);
  }

  get responded(): boolean {
    return this.raw.response.headersSent;
  }

  get closed(): boolean {
    return this.raw.response.closed || this.raw.response.destroyed;
  }

  /** Length of the body. node:http rejects malformed lengths and a length with a transfer coding. */
  get bodyLength(): number | undefined {
    const { headers } = this;
    return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
  }

  readBody(limit: number): Promise<Buffer> {
    return this.body ? this.body.collect(this.bodyLength ?? 0, limit) : Promise.resolve(Buffer.alloc(0));
  }

  openBody(): Readable {
    return this.body ? this.body.open() : Readable.from([], { objectMode: false });
  }

  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void {
    if (body && body.length > sliceBytes) return this.sendPieces(status, headers, [body], body.length);
    const { response } = this.raw;
    pushContentLength(headers, status, body?.length ?? 0);
    this.#writeHead(status, headers);
    response.end(this.method === 'HEAD' ? undefined : body);
    cutOffIfStalled(response, this.#stalledMs, body?.length ?? 0);
  }

  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void {
    const { response } = this.raw;
    pushContentLength(headers, status, totalLength);
    this.#writeHead(status, headers);
    if (this.method === 'HEAD') response.end();
    else writeSlices(response, pieces);
    cutOffIfStalled(response, this.#stalledMs, totalLength);
  }

  open(status: number, headers: FlatHeaders, kind: StreamKind = 'open'): ResponseStream {
    const { response } = this.raw;
    this.#writeHead(status, headers);
    response.flushHeaders();
    response.socket?.setNoDelay(true);
    return new StreamedAnswer(response, this.#stalledMs, kind, () => response.destroy());
  }

  /** Writes the head. It announces the close of the connection if the client has much of the body left to send. */
  #writeHead(status: number, headers: FlatHeaders): void {
    if (this.body?.endsConnection(this.bodyLength)) this.closeConnectionAfter();
    this.raw.response.writeHead(status, reasonPhrase(status), headers);
  }

  endResponse(): void {
    this.raw.response.end();
  }

  onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.raw.response.once('close', listener);
  }

  closeConnectionAfter(): void {
    if (!this.raw.response.headersSent) this.raw.response.shouldKeepAlive = false;
  }
}
