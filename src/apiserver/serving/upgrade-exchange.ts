import type { Buffer } from 'node:buffer';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Peer, UpgradableExchange } from '#apiserver/request/exchange';
import { endSoon } from './end-soon.ts';
import { Http1Exchange } from './http1-exchange.ts';

/**
 * A request without a body for another protocol (`Connection: Upgrade`). Either it gets a normal response, after which
 * the connection closes, or its connection is taken over.
 */
export class UpgradeExchange extends Http1Exchange implements UpgradableExchange {
  readonly socket: Duplex;
  readonly #head: Buffer;
  #taken = false;
  #end: (() => void) | undefined;

  /** `head` contains the bytes that the client sent after the request. */
  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, peer: Peer) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => {
      if (!this.#taken) endSoon(socket);
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

  override endResponse(): void {
    if (this.#taken) this.#end?.();
    else super.endResponse();
  }

  takeOver(end?: () => void): Duplex {
    this.#taken = true;
    this.#end = end;
    this.raw.response.detachSocket(this.socket as never);
    // The connection may be idle for an unlimited time.
    (this.socket as Socket).setTimeout(0);
    if (this.#head.length > 0) this.socket.unshift(this.#head);
    return this.socket;
  }
}
