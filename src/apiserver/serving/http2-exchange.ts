import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import {
  type Exchange,
  type FlatHeaders,
  type Peer,
  pushContentLength,
  rawHeaderValues,
  type ResponseStream,
  type StreamKind,
} from '#apiserver/request/exchange';
import { ArrivingBody } from './arriving-body.ts';
import { CollectedBody } from './body.ts';
import { errorCodes } from './http2/protocol.ts';
import type { ServerStream } from './server-stream.ts';
import { cutOffIfStalled } from './stalled-clients.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** One request over HTTP/2. */
export class Http2Exchange implements Exchange {
  readonly protocol = 'HTTP/2.0';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  readonly raw: ServerStream;
  readonly rawHeaders: readonly string[];
  readonly #stalledMs: number;
  #closeAfter = false;

  /** `stalledMs` is the time after which a response is aborted if its client reads nothing. */
  constructor(stream: ServerStream, peer: Peer, stalledMs: number) {
    const { headers } = stream;
    this.method = headers[':method'] as string;
    this.url = headers[':path'] as string;
    this.headers = headers;
    this.peer = peer;
    this.raw = stream;
    this.rawHeaders = stream.rawHeaders;
    this.#stalledMs = stalledMs;
  }

  headerValues(name: string): string[] {
    return rawHeaderValues(this.rawHeaders, name);
  }

  get responded(): boolean {
    return this.raw.headersSent;
  }

  get closed(): boolean {
    return this.raw.closed;
  }

  get bodyLength(): number | undefined {
    return this.raw.bodyLength;
  }

  readBody(limit: number): Promise<Buffer> {
    const stream = this.raw;
    const expected = this.bodyLength ?? 0;
    const body = new CollectedBody(expected, limit);
    if (expected > limit) return body.whole;
    stream.receive({
      data: (chunk) => {
        body.data(chunk);
        stream.credit(chunk.length);
      },
      end: () => body.end(),
      gone: () => body.gone(),
    });
    return body.whole;
  }

  openBody(): Readable {
    const stream = this.raw;
    const body = new ArrivingBody((bytes) => stream.credit(bytes));
    stream.receive(body);
    return body;
  }

  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void {
    this.sendPieces(status, headers, body ? [body] : [], body?.length ?? 0);
  }

  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void {
    if (this.closed) return;
    pushContentLength(headers, status, totalLength);
    const stream = this.raw;
    const hasBody = this.method !== 'HEAD' && totalLength > 0;
    stream.respond(status, headers, !hasBody);
    if (hasBody) {
      for (const piece of pieces) stream.write(piece);
      stream.end();
      cutOffIfStalled(stream, this.#stalledMs, totalLength);
    }
    this.#finish();
  }

  open(status: number, headers: FlatHeaders, kind: StreamKind = 'open'): ResponseStream {
    const stream = this.raw;
    if (!this.closed) {
      stream.respond(status, headers);
      this.#finish();
    }
    return new StreamedAnswer(stream, this.#stalledMs, kind, () => stream.close(errorCodes.internalError));
  }

  endResponse(): void {
    this.raw.end();
  }

  onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.raw.on('close', listener);
  }

  closeConnectionAfter(): void {
    this.#closeAfter = true;
  }

  /** Sends GOAWAY as Go's server does for `Connection: close`; open streams finish first. */
  #finish(): void {
    if (this.#closeAfter) this.raw.closeConnection();
  }
}
