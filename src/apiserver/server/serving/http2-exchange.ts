import type { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
import { type Exchange, type FlatHeaders, type Peer, rawHeaderValues, type ResponseStream } from '#apiserver/endpoints/request/exchange';
import { collectBody } from './body.ts';
import { cutOffIfStalled } from './stalled-clients.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import { sliceBytes, writeSlices } from './write-slices.ts';

/** One request over HTTP/2, on the stream itself: the compatibility API of node:http2 costs a third of the throughput. */
export class Http2Exchange implements Exchange {
  readonly protocol = 'HTTP/2.0';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  readonly raw: ServerHttp2Stream;
  readonly rawHeaders: readonly string[];
  readonly #stalledMs: number;
  #closeAfter = false;

  /** `stalledMs`: how long a client may take nothing of an answer. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer, rawHeaders: readonly string[], stalledMs: number) {
    this.method = headers[':method'] as string;
    this.url = headers[':path'] as string;
    this.headers = headers;
    this.peer = peer;
    this.raw = stream;
    this.rawHeaders = rawHeaders;
    this.#stalledMs = stalledMs;
  }

  headerValues(name: string): string[] {
    return rawHeaderValues(this.rawHeaders, name);
  }

  get responded(): boolean {
    return this.raw.headersSent;
  }

  get closed(): boolean {
    return this.raw.closed || this.raw.destroyed;
  }

  readBody(limit: number): Promise<Buffer> {
    return collectBody(this.raw, Number(this.headers['content-length'] ?? 0), limit);
  }

  openBody(): Readable {
    return this.raw;
  }

  send(status: number, headers: FlatHeaders, body: Buffer | undefined): void {
    if (this.closed) return;
    if (body && body.length > sliceBytes) return this.sendPieces(status, headers, [body], body.length);
    headers.push('Content-Length', String(body?.length ?? 0));
    if (this.method === 'HEAD' || !body?.length) {
      this.raw.respond(head(status, headers), { endStream: true });
    } else {
      this.raw.respond(head(status, headers));
      this.raw.end(body);
      cutOffIfStalled(this.raw, this.#stalledMs, body.length);
    }
    this.#finish();
  }

  sendPieces(status: number, headers: FlatHeaders, pieces: readonly Buffer[], totalLength: number): void {
    if (this.closed) return;
    headers.push('Content-Length', String(totalLength));
    this.raw.respond(head(status, headers), { endStream: this.method === 'HEAD' });
    if (this.method !== 'HEAD') writeSlices(this.raw, pieces);
    cutOffIfStalled(this.raw, this.#stalledMs, totalLength);
    this.#finish();
  }

  open(status: number, headers: FlatHeaders): ResponseStream {
    const stream = this.raw;
    if (!this.closed) {
      stream.respond(head(status, headers));
      this.#finish();
    }
    return new StreamedAnswer(stream, this.#stalledMs, () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  }

  endResponse(): void {
    this.raw.end();
  }

  onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.raw.once('close', listener);
  }

  closeConnectionAfter(): void {
    this.#closeAfter = true;
  }

  /** GOAWAY, as Go's server sends it for a `Connection: close`: open streams end first. */
  #finish(): void {
    if (this.#closeAfter) this.raw.session?.close();
  }
}

const lowered = new Map<string, string>();

/** HTTP/2 header names are lower case; the few names of responses are lowered once. */
function head(status: number, headers: FlatHeaders): string[] {
  const out: string[] = [':status', String(status)];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    if (name === 'Connection') continue;
    let lower = lowered.get(name);
    if (lower === undefined) {
      lower = name.toLowerCase();
      if (lowered.size < 1000) lowered.set(name, lower);
    }
    out.push(lower, headers[at + 1] as string);
  }
  return out;
}
