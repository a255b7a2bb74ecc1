import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Persistence } from './deadlines.ts';
import { endSoon } from './end-soon.ts';
import type { Http1Body } from './http1-body.ts';
import type { Http1Exchange } from './http1-exchange.ts';
import { readShared } from './http2/shared-read-buffer.ts';
import { MergedBytes } from './merged-bytes.ts';

const limits = {
  /** Pieces that a connection has parsed until the event loop has turned: the others have theirs first. */
  piecesOfTurn: 16,
  /** A piece of a body of unknown length: node:http makes a buffer of each chunk in it. */
  pieceBytes: 4 * 1024,
  /** Octets of a body that are dropped behind its answer before the connection ends. Upstream: net/http/server.go (maxPostHandlerReadBytes). */
  unwantedBytes: 256 * 1024,
} as const;

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Feeds a connection of HTTP/1.1 to node:http, one request at a time: the next one is parsed once the one before is answered, as Go's server does
 * it. node:http would parse all requests of what it has read, hold them all, and answer an error behind them in their place.
 *
 *     GET /a …\r\n\r\n | GET /b …\r\n\r\n | GE        pieces: the second waits for the answer to the first
 */
export class Http1Feed {
  readonly #socket: TLSSocket;
  readonly #parse: (piece: Buffer) => void;
  /** What was read and not parsed. */
  readonly #unparsed = new MergedBytes();
  /** What is being parsed, from `#at` on. */
  #bytes: Buffer | undefined;
  #at = 0;
  /** The last request that was parsed. */
  #request: IncomingMessage | undefined;
  #body: Http1Body | undefined;
  /** Requests that were parsed, in all. */
  #begun = 0;
  /** Requests that are not answered. */
  #open = 0;
  /** Octets of the last request's body that have not come, where its head says how many. */
  #bodyLeft = 0;
  /** Octets of its body that came behind the answer. */
  #unwanted = 0;
  /** Pieces of this turn of the event loop. */
  #pieces = 0;
  #isEnded = false;
  readonly #idle = new Persistence();

  /** Takes over the socket's reading from node:http, which has begun to listen. */
  constructor(socket: TLSSocket) {
    this.#socket = socket;
    const listeners = socket.listeners('data') as ((piece: Buffer) => void)[];
    socket.removeAllListeners('data');
    this.#parse = (piece) => {
      for (const listener of listeners) listener.call(socket, piece);
    };
    // A listener makes node:http give back the handle, which it reads natively.
    const none = (): void => undefined;
    socket.on('data', none).off('data', none);
    readShared(socket, (chunk) => this.#read(chunk));
  }

  /** To be called with each request that node:http has parsed. */
  begin({ raw: { request, response }, body, bodyLength }: Http1Exchange): void {
    this.#request = request;
    this.#body = body;
    this.#open += 1;
    this.#begun += 1;
    this.#unwanted = 0;
    this.#bodyLeft = bodyLength ?? 0;
    if (body) body.onRoom = this.#go;
    response.once('close', this.#answered);
  }

  /** Parses nothing more: the connection is another protocol's. Returns what was read of that. */
  end(): Buffer {
    this.#isEnded = true;
    const parsing = this.#bytes?.subarray(this.#at) ?? Buffer.alloc(0);
    return Buffer.concat([parsing, this.#unparsed.take()]);
  }

  /**
   * Ends the connection if it has had no request for `idleMs`; see Http2Connection.checkDeadlines. node:http ends those on which nothing comes, and
   * those with half a head.
   */
  checkDeadlines(now: number, idleMs: number): void {
    const idle = this.#open > 0 || this.#isEnded ? undefined : this.#begun;
    if (this.#idle.age(idle, now) >= idleMs) this.#socket.destroy();
  }

  #read(chunk: Buffer): boolean {
    // Of what is another protocol's, the socket is the queue.
    if (this.#isEnded) return this.#socket.push(Buffer.from(chunk));
    if (this.#socket.writableEnded) return true;
    if (this.#unparsed.length === 0) this.#feed(chunk);
    else {
      this.#unparsed.append(chunk);
      this.#go();
    }
    return true;
  }

  readonly #answered = (): void => {
    this.#open -= 1;
    if (this.#open === 0) this.#body?.discard();
    this.#go();
  };

  readonly #go = (): void => {
    if (this.#bytes || this.#isEnded || this.#socket.destroyed) return;
    if (this.#unparsed.length > 0 && this.#mayParse()) this.#feed(this.#unparsed.take());
    if (this.#isEnded) return;
    const isHeldBack = this.#unparsed.length > 0 && !this.#mayParse();
    if (isHeldBack !== this.#socket.isPaused()) this.#socket[isHeldBack ? 'pause' : 'resume']();
  };

  /** Parses as much as may be, and keeps the rest. */
  #feed(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#at = 0;
    while (this.#at < bytes.length && this.#mayParse()) {
      const start = this.#at;
      this.#at = this.#pieceEnd(bytes, start);
      if (this.#at === start) break;
      this.#count(this.#at - start);
      this.#parse(bytes.subarray(start, this.#at));
    }
    this.#bytes = undefined;
    if (this.#at === bytes.length || this.#isEnded || this.#socket.writableEnded) return;
    this.#unparsed.append(bytes.subarray(this.#at));
    if (!this.#mayParse()) this.#socket.pause();
  }

  #mayParse(): boolean {
    const socket = this.#socket as TLSSocket & { readonly _paused?: boolean };
    // node:http asserts that it is fed nothing while it has paused the socket itself.
    if (this.#isEnded || socket.destroyed || socket._paused || this.#pieces >= limits.piecesOfTurn) return false;
    if (this.#request?.complete === false) return !this.#body?.isFull;
    return this.#open === 0;
  }

  /**
   * A piece ends with a head, so that there is no second one in it; what is known to be of a body needs not be looked at. Of a head whose end has not
   * come the last octets are held back, which may be the begin of that end.
   */
  #pieceEnd(bytes: Buffer, at: number): number {
    const isBody = this.#request?.complete === false;
    if (isBody && this.#bodyLeft > 0) return Math.min(bytes.length, at + this.#bodyLeft);
    const end = bytes.indexOf(headEnd, at);
    if (isBody) return Math.min(end < 0 ? bytes.length : end + headEnd.length, at + limits.pieceBytes);
    return end < 0 ? Math.max(at, bytes.length - headEnd.length + 1) : end + headEnd.length;
  }

  #count(bytes: number): void {
    if (this.#pieces === 0) setImmediate(this.#turn);
    this.#pieces += 1;
    if (this.#request?.complete !== false) return;
    this.#bodyLeft = Math.max(0, this.#bodyLeft - bytes);
    if (this.#open > 0) return;
    this.#unwanted += bytes;
    if (this.#unwanted > limits.unwantedBytes) endSoon(this.#socket);
  }

  readonly #turn = (): void => {
    this.#pieces = 0;
    this.#go();
  };
}
