import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endWhenRead, receiveFrom } from '#sdk/internal';
import { SpdyConnection, type SpdyListener } from '../spdy/connection.ts';
import { WebSocketConnection } from './websocket-connection.ts';

/** True for a request to switch to SPDY/3.1. */
export function isSpdyUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'spdy/3.1';
}

/**
 * Returns the first stream protocol that the client offers and the server supports. Upstream: apimachinery/pkg/util/httpstream (Handshake).
 */
export function streamProtocol({ headers }: IncomingMessage, supported: readonly string[]): string | undefined {
  const given = headers['x-stream-protocol-version'];
  const offered = (Array.isArray(given) ? given : (given ?? '').split(',')).map((name) => name.trim());
  return offered.find((name) => supported.includes(name));
}

/** Switches a connection to SPDY. */
export function acceptSpdy(socket: Duplex, head: Buffer, protocol: string, listener: SpdyListener): SpdyConnection {
  const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  const connection = new SpdyConnection({ write: (bytes) => void socket.write(bytes), end: () => endWhenRead(socket) }, listener);
  receiveFrom(socket, head, (bytes) => connection.receive(bytes));
  socket.once('close', () => connection.ended());
  return connection;
}

/** Accepts SPDY in the messages of a WebSocket. Upstream: apimachinery/pkg/util/portforward (TunnelingConnection). */
export function acceptTunnel(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  protocol: string,
  listener: SpdyListener,
): SpdyConnection {
  const webSocket = new WebSocketConnection(request, socket, head, protocol, {
    part: (bytes) => connection.receive(bytes),
    closed: () => connection.ended(),
  });
  const connection = new SpdyConnection({ write: (bytes) => webSocket.send(bytes), end: () => webSocket.close() }, listener);
  return connection;
}
