import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type ConnectionDeadlines, Persistence } from './deadlines.ts';
import { endSoon } from './end-soon.ts';
import { type Http1Body, unwantedBytes } from './http1-body.ts';
import type { Http1Exchange } from './http1-exchange.ts';
import { type AcceptedHead, badRequest, headerFieldsTooLarge, inspectHead, refusalAnswer } from './http1-head.ts';
import { readShared } from './http2/shared-read-buffer.ts';
import { MergedBytes } from '#apiserver/base/merged-bytes';

const limits = {
  /** Number of pieces parsed per connection before yielding to the event loop. */
  piecesOfTurn: 16,
  /** Sizes of a piece of a body of unknown length; node:http allocates a buffer for each chunk in it. */
  pieceBytes: 4 * 1024,
  leastPieceBytes: 512,
  /** Time after which a piece of such a body ends the turn of the connection and the next one is smaller: it has small chunks. */
  pieceMs: 1,
  /** Maximum size of a head. */
  headBytes: 1 << 20,
} as const;

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Feeds an HTTP/1.1 connection to node:http, one request at a time: like Go's server, it parses a request after the response to the
 * previous one. node:http would parse and hold all requests that it has read, and respond to a later error in their place.
 *
 *     GET /a …\r\n\r\n | GET /b …\r\n\r\n | GE        pieces: the second waits for the response to the first
 */
export class Http1Feed {
  readonly #socket: TLSSocket;
  readonly #parse: (piece: Buffer) => void;
  /** Bytes that were read but not parsed. */
  readonly #unparsed = new MergedBytes();
  /** Bytes being parsed, from `#at` on. */
  #bytes: Buffer | undefined;
  #at = 0;
  /** The last parsed request. */
  #request: IncomingMessage | undefined;
  #body: Http1Body | undefined;
  #exchange: Http1Exchange | undefined;
  /** Total number of parsed requests. */
  #begun = 0;
  /** Number of unanswered requests. */
  #open = 0;
  /** Outstanding bytes of the last request's body of known length. */
  #bodyLeft = 0;
  /** Last parsed bytes of a body of unknown length. */
  #tail = '';
  /** Bytes of the body that arrived after the response. */
  #unwanted = 0;
  /** True if the unparsed bytes are an incomplete head. */
  #isPartialHead = false;
  /** Method and target of the last head if node:http received others. */
  #sent: AcceptedHead['sent'];
  /** Pieces parsed since the last yield. */
  #pieces = 0;
  /** Size of the next piece of a body of unknown length. */
  #pieceBytes: number = limits.pieceBytes;
  #isEnded = false;
  readonly #idle = new Persistence();
  readonly #arriving = new Persistence();

  /** Takes over reading from the socket, to which node:http has attached already. */
  constructor(socket: TLSSocket) {
    this.#socket = socket;
    // node:http calls it after the last response of a connection, whose client may still be sending.
    socket.destroySoon = () => endSoon(socket);
    const listeners = socket.listeners('data') as ((piece: Buffer) => void)[];
    socket.removeAllListeners('data');
    this.#parse = (piece) => {
      for (const listener of listeners) listener.call(socket, piece);
    };
    // A `data` listener makes node:http release the handle, which it reads natively.
    const none = (): void => undefined;
    socket.on('data', none).off('data', none);
    readShared(socket, (chunk) => this.#read(chunk));
  }

  /** Restores the method and target that the client sent. */
  identify(request: IncomingMessage): void {
    if (!this.#sent) return;
    request.method = this.#sent.method;
    request.url = this.#sent.target;
  }

  /** Registers a request that node:http has parsed. */
  begin(exchange: Http1Exchange): void {
    const {
      raw: { request, response },
      body,
      bodyLength,
    } = exchange;
    this.#exchange = exchange;
    this.#request = request;
    this.#body = body;
    this.#open += 1;
    this.#begun += 1;
    this.#unwanted = 0;
    this.#tail = '';
    this.#bodyLeft = bodyLength ?? 0;
    if (body) body.onRoom = this.#go;
    response.once('close', this.#answered);
  }

  /** Announces the end of the connection in the response in progress, if there is one whose head is not sent. */
  closeAfterResponse(): void {
    if (this.#open > 0) this.#exchange?.closeConnectionAfter();
  }

  /** Closes the connection unless a request is in progress or arriving. */
  endIfIdle(): void {
    const isIdle = this.#open === 0 && this.#unparsed.length === 0 && this.#request?.complete !== false;
    if (isIdle && !this.#isEnded) endSoon(this.#socket);
  }

  /** Stops parsing, because the connection switched protocols. Returns the bytes read after the request. */
  end(): Buffer {
    this.#isEnded = true;
    const parsing = this.#bytes?.subarray(this.#at) ?? Buffer.alloc(0);
    return Buffer.concat([parsing, this.#unparsed.take()]);
  }

  /** Closes the connection if it has missed a deadline; see Http2Connection.checkDeadlines. */
  checkDeadlines(now: number, { headerMs, idleMs }: Pick<ConnectionDeadlines, 'headerMs' | 'idleMs'>): void {
    if (this.#arriving.age(this.#isPartialHead ? this.#begun : undefined, now) >= headerMs) return void this.#socket.destroy();
    const idle = this.#open > 0 || this.#isEnded ? undefined : this.#begun;
    if (this.#idle.age(idle, now) >= idleMs) this.#socket.destroy();
  }

  #read(chunk: Buffer): boolean {
    // After a protocol switch, bytes go to the socket's queue.
    if (this.#isEnded) return this.#socket.push(Buffer.from(chunk));
    if (this.#socket.writableEnded) return true;
    if (this.#unparsed.length === 0) {
      this.#feed(chunk);
      return true;
    }
    const before = this.#unparsed.length;
    this.#unparsed.append(chunk);
    // Only new bytes of a partial head are searched for its end.
    if (this.#isPartialHead && this.#unparsed.view.indexOf(headEnd, Math.max(0, before - headEnd.length + 1)) < 0) this.#checkHead();
    else this.#go();
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
    const isHeldBack = this.#unparsed.length > 0 && !this.#mayParse() && !this.#socket.writableEnded;
    if (isHeldBack !== this.#socket.isPaused()) this.#socket[isHeldBack ? 'pause' : 'resume']();
  };

  /** Parses bytes as far as permitted and buffers the rest. */
  #feed(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#at = 0;
    this.#isPartialHead = false;
    while (this.#at < bytes.length && !this.#isPartialHead && this.#mayParse()) {
      if (this.#request?.complete === false) this.#feedBody(bytes);
      else this.#feedHead(bytes);
    }
    this.#bytes = undefined;
    if (this.#at === bytes.length || this.#isEnded || this.#socket.writableEnded) return;
    this.#unparsed.append(bytes.subarray(this.#at));
    if (this.#isPartialHead) this.#checkHead();
    else if (!this.#mayParse()) this.#socket.pause();
  }

  /** Parses one complete head. */
  #feedHead(bytes: Buffer): void {
    const start = this.#at;
    const end = bytes.indexOf(headEnd, start);
    if (end < 0) {
      this.#isPartialHead = true;
      return;
    }
    this.#at = end + headEnd.length;
    this.#countPiece();
    const head = this.#at - start > limits.headBytes ? headerFieldsTooLarge : inspectHead(bytes.subarray(start, this.#at));
    if ('status' in head) return endSoon(this.#socket, refusalAnswer(head));
    this.#sent = head.sent;
    this.#parse(head.bytes);
  }

  /** Parses a piece of a body. A body of known length needs no search; otherwise a piece ends where a head could start. */
  #feedBody(bytes: Buffer): void {
    const start = this.#at;
    this.#countPiece();
    if (this.#bodyLeft > 0) {
      this.#at = Math.min(bytes.length, start + this.#bodyLeft);
      this.#bodyLeft -= this.#at - start;
      this.#parse(bytes.subarray(start, this.#at));
    } else {
      this.#at = Math.min(this.#bodyEnd(bytes, start), start + this.#pieceBytes);
      this.#tail = (this.#tail + bytes.toString('latin1', Math.max(start, this.#at - 3), this.#at)).slice(-3);
      this.#parseChunks(bytes.subarray(start, this.#at));
    }
    if (this.#open > 0) return;
    this.#unwanted += this.#at - start;
    if (this.#unwanted > unwantedBytes) endSoon(this.#socket);
  }

  /** Parses a piece of a body of unknown length, and adapts the size of the next one to the time that it took. */
  #parseChunks(piece: Buffer): void {
    const began = performance.now();
    this.#parse(piece);
    if (performance.now() - began < limits.pieceMs) {
      this.#pieceBytes = Math.min(2 * this.#pieceBytes, limits.pieceBytes);
      return;
    }
    this.#pieceBytes = Math.max(this.#pieceBytes / 2, limits.leastPieceBytes);
    this.#pieces = limits.piecesOfTurn;
  }

  /** Returns the possible end of a chunked body: after the next empty line, which may have started in the previous piece. */
  #bodyEnd(bytes: Buffer, start: number): number {
    const joint = `${this.#tail}${bytes.toString('latin1', start, start + 3)}`;
    const inJoint = joint.indexOf('\r\n\r\n');
    if (inJoint >= 0) return start + inJoint + headEnd.length - this.#tail.length;
    const end = bytes.indexOf(headEnd, start);
    return end < 0 ? bytes.length : end + headEnd.length;
  }

  /** Rejects an incomplete head that is too large or malformed. */
  #checkHead(): void {
    const { view } = this.#unparsed;
    if (view.length > limits.headBytes) return endSoon(this.#socket, refusalAnswer(headerFieldsTooLarge));
    const lineFeed = view.indexOf(0x0a);
    if (lineFeed >= 0 && view[lineFeed - 1] !== 0x0d) endSoon(this.#socket, refusalAnswer(badRequest));
  }

  #mayParse(): boolean {
    const socket = this.#socket as TLSSocket & { readonly _paused?: boolean };
    // node:http asserts that it receives nothing while it has paused the socket.
    if (this.#isEnded || socket.destroyed || socket.writableEnded || socket._paused || this.#pieces >= limits.piecesOfTurn) return false;
    if (this.#request?.complete === false) return !this.#body?.isFull;
    return this.#open === 0;
  }

  #countPiece(): void {
    if (this.#pieces === 0) setImmediate(this.#turn);
    this.#pieces += 1;
  }

  readonly #turn = (): void => {
    this.#pieces = 0;
    this.#go();
  };
}
