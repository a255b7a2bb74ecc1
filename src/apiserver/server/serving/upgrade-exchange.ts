import { Buffer } from 'node:buffer';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BodyTooLargeError, ClientGoneError, type Peer, type UpgradableExchange } from '#apiserver/endpoints/request/exchange';
import { Http1Exchange } from './http1-exchange.ts';

/**
 * A request that asks for another protocol (`Connection: Upgrade`). It is answered like any other, after which the connection
 * ends, or its connection is taken over.
 */
export class UpgradeExchange extends Http1Exchange implements UpgradableExchange {
  readonly socket: Duplex;
  readonly #head: Buffer;
  #taken = false;

  /** `head`: what the client has sent already behind the request. */
  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, peer: Peer) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => {
      if (!this.#taken) socket.end();
    });
    super(request, response, peer);
    this.socket = socket;
    this.#head = head;
    socket.on('error', () => socket.destroy());
  }

  override get responded(): boolean {
    return this.#taken || super.responded;
  }

  override get closed(): boolean {
    return this.socket.destroyed;
  }

  override onClose(listener: () => void): void {
    if (this.closed) listener();
    else this.socket.once('close', listener);
  }

  /** What stands behind such a request is not parsed as its body: it is read here, by its length. */
  override readBody(limit: number): Promise<Buffer> {
    const length = Number(this.headers['content-length'] ?? 0);
    if (length > limit) return Promise.reject(new BodyTooLargeError(`the body has ${length} bytes`));
    return new Promise((resolve, reject) => {
      const { socket } = this;
      let body = this.#head;
      const check = (): void => {
        if (body.length < length) return;
        socket.off('data', onData).off('close', onClose).pause();
        resolve(body.subarray(0, length));
      };
      const onData = (chunk: Buffer): void => {
        body = Buffer.concat([body, chunk]);
        check();
      };
      const onClose = (): void => reject(new ClientGoneError('the client closed the connection'));
      socket.on('data', onData).on('close', onClose);
      check();
    });
  }

  takeOver(): Duplex {
    this.#taken = true;
    this.raw.response.detachSocket(this.socket as never);
    // It may be silent for as long as its owners like.
    (this.socket as Socket).setTimeout(0);
    if (this.#head.length > 0) this.socket.unshift(this.#head);
    return this.socket;
  }
}
