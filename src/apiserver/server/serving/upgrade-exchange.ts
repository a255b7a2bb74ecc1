import { Buffer } from 'node:buffer';
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Peer } from '#apiserver/endpoints/request/exchange';
import { Http1Exchange } from './http1-exchange.ts';

/**
 * A request that asks for another protocol (`Connection: Upgrade`). It is answered like any other, after which the connection
 * ends, or its connection is taken over.
 */
export class UpgradeExchange extends Http1Exchange {
  #taken = false;

  /** `head`: what the client has sent already behind the request. */
  constructor(request: IncomingMessage, readonly socket: Duplex, readonly head: Buffer, peer: Peer) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as never);
    response.once('finish', () => { if (!this.#taken) socket.end(); });
    super(request, response, peer);
    socket.on('error', () => socket.destroy());
  }

  override get responded(): boolean {
    return this.#taken || super.responded;
  }

  override get closed(): boolean {
    return this.socket.destroyed;
  }

  override onClose(listener: () => void): void {
    this.socket.once('close', listener);
  }

  /** The bare connection: nothing of HTTP is written to it any more. */
  takeOver(): Duplex {
    this.#taken = true;
    this.raw.response.detachSocket(this.socket as never);
    return this.socket;
  }
}
