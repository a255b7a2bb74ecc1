import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Pod } from 'kubenest/types/core_v1';
import { settingOf } from '../pods/settings.ts';
import type { SpdyListener, SpdyStream } from '../spdy/connection.ts';
import { acceptSpdy, acceptTunnel, isSpdyUpgrade, streamProtocol } from './spdy-upgrade.ts';
import { isWebSocketHandshake, requestedProtocol } from './websocket-connection.ts';

const protocol = 'portforward.k8s.io';
const tunnelProtocol = `SPDY/3.1+${protocol}`;
const maxBufferedBytes = 16 * 1024 * 1024;

/**
 * Serves a port-forward, over SPDY or over SPDY in a WebSocket: for each connection the client opens a stream for errors and one for data.
 * The annotation `port-forward` names the local port for each port of the pod; it must be one of `allowed`. Returns false if the client offers no known protocol.
 * Upstream: k8s.io/cri-streaming/pkg/streaming/portforward.
 */
export function forwardPorts(pod: Pod, allowed: readonly number[], request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
  if (isWebSocketHandshake(request)) {
    if (!requestedProtocol(request, [tunnelProtocol])) return false;
    acceptTunnel(request, socket, head, tunnelProtocol, forwarder(pod, allowed));
    return true;
  }
  if (!isSpdyUpgrade(request) || !streamProtocol(request, [protocol])) return false;
  acceptSpdy(socket, head, protocol, forwarder(pod, allowed));
  return true;
}

/** Returns the local port for a port of the pod; undefined if the annotation does not name one. */
export function localPort(pod: Pod, port: number): number | undefined {
  let ports: unknown;
  try {
    ports = JSON.parse(settingOf(pod, 'port-forward') ?? '{}');
  } catch {
    return undefined;
  }
  const found: unknown =
    typeof ports === 'object' && ports !== null && Object.hasOwn(ports, String(port)) ? (ports as never)[String(port)] : undefined;
  const number = Number(found);
  return Number.isInteger(number) && number > 0 && number < 65_536 ? number : undefined;
}

function forwarder(pod: Pod, allowed: readonly number[]): SpdyListener {
  const errors = new Map<string, SpdyStream>();
  const sockets = new Set<Socket>();
  return {
    opened(stream) {
      const { streamtype: type, requestid: id = '', port = '' } = stream.headers;
      if (type === 'error') return void errors.set(id, stream);
      const error = errors.get(id);
      if (type !== 'data' || !error) return stream.reset();
      errors.delete(id);
      const target = localPort(pod, Number(port));
      if (target === undefined || !allowed.includes(target)) {
        const { name, uid } = pod.metadata;
        return refuse(
          stream,
          error,
          `an error occurred forwarding ${port} -> ${port}: pod ${name} (${uid}) has no local port for it, or the server does not allow it`,
        );
      }
      sockets.add(relay(stream, error, target, (socket) => sockets.delete(socket)));
    },
    closed() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function refuse(data: SpdyStream, error: SpdyStream, message: string): void {
  error.write(Buffer.from(message));
  error.end();
  data.end();
}

function relay(data: SpdyStream, error: SpdyStream, port: number, ended: (socket: Socket) => void): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  data.onData = (bytes) => {
    socket.write(bytes);
    // SPDY as Kubernetes uses it has no flow control.
    if (socket.writableLength > maxBufferedBytes) socket.destroy();
  };
  data.onEnd = () => socket.end();
  data.onReset = () => socket.destroy();
  socket.on('data', (bytes: Buffer) => data.write(bytes));
  socket.once('error', ({ message }) => error.write(Buffer.from(`an error occurred forwarding ${port}: ${message}`)));
  socket.once('close', () => {
    ended(socket);
    data.end();
    error.end();
  });
  socket.once('end', () => data.end());
  return socket;
}
