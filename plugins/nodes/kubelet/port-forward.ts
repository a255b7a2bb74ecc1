import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Pod } from 'kubenest/types/core_v1';
import type { Steps } from '#sdk/internal';
import type { PodFiles } from '../pods/pod-files.ts';
import { settingOf } from '../pods/settings.ts';
import type { SpdyListener, SpdyStream } from '../spdy/connection.ts';
import { listenerOn, serveSimulated } from './simulated-server.ts';
import { acceptSpdy, acceptTunnel, isSpdyUpgrade, streamProtocol } from './spdy-upgrade.ts';
import { isWebSocketHandshake, requestedProtocol } from './websocket-connection.ts';

const protocol = 'portforward.k8s.io';
const tunnelProtocol = `SPDY/3.1+${protocol}`;
/** Bytes of one client that may wait for the local ports. */
const maxBufferedBytes = 16 * 1024 * 1024;

/**
 * Serves a port-forward, over SPDY or over SPDY in a WebSocket: for each connection the client opens a stream for errors and one for data.
 * The annotation `port-forward` names the local port for each port of the pod; it must be one of `allowed`. Without it, a container that
 * listens is simulated. Returns false if the client offers no known protocol.
 * Upstream: k8s.io/cri-streaming/pkg/streaming/portforward.
 */
export function forwardPorts(
  pod: Pod,
  allowed: readonly number[],
  files: PodFiles,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): boolean {
  if (isWebSocketHandshake(request)) {
    if (!requestedProtocol(request, [tunnelProtocol])) return false;
    acceptTunnel(request, socket, head, tunnelProtocol, forwarder(pod, allowed, files, socket));
    return true;
  }
  if (!isSpdyUpgrade(request) || !streamProtocol(request, [protocol])) return false;
  acceptSpdy(socket, head, protocol, forwarder(pod, allowed, files, socket));
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

function forwarder(pod: Pod, allowed: readonly number[], files: PodFiles, client: Duplex): SpdyListener {
  const errors = new Map<string, SpdyStream>();
  const relays = new Relays(client);
  return {
    opened(stream) {
      const { streamtype: type, requestid: id = '', port = '' } = stream.headers;
      if (type === 'error') {
        errors.set(id, stream);
        stream.onReset = () => void errors.delete(id);
        return;
      }
      const error = errors.get(id);
      if (type !== 'data' || !error) return stream.reset();
      errors.delete(id);
      const target = localPort(pod, Number(port));
      const listener = target === undefined ? listenerOn(pod, Number(port), files) : undefined;
      if (listener) {
        error.end();
        return serveSimulated(pod, listener, files, stream);
      }
      if (target === undefined || !allowed.includes(target)) {
        const { name, uid } = pod.metadata;
        return refuse(
          stream,
          error,
          `an error occurred forwarding ${port} -> ${port}: pod ${name} (${uid}) has no local port for it, or the server does not allow it`,
        );
      }
      relays.open(stream, error, target);
    },
    closed: () => relays.close(),
  };
}

function refuse(data: SpdyStream, error: SpdyStream, message: string): void {
  error.write(Buffer.from(message));
  error.end();
  data.end();
}

/** Connections of one client to local ports. They are read no faster than the client reads. */
class Relays {
  readonly #sockets = new Set<Socket>();

  constructor(private readonly client: Duplex) {
    client.on('drain', () => {
      for (const socket of this.#sockets) socket.resume();
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  open(data: SpdyStream, error: SpdyStream, port: number): void {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.#sockets.add(socket);
    data.onData = (bytes) => this.#send(socket, bytes);
    data.onEnd = () => socket.end();
    data.onReset = () => socket.destroy();
    socket.on('data', (bytes: Buffer) => {
      data.write(bytes);
      if (this.client.writableNeedDrain) socket.pause();
    });
    socket.once('error', ({ message }) => error.write(Buffer.from(`an error occurred forwarding ${port}: ${message}`)));
    socket.once('close', () => {
      this.#sockets.delete(socket);
      data.end();
      error.end();
    });
    socket.once('end', () => data.end());
  }

  /** SPDY as Kubernetes uses it has no flow control. */
  *#send(socket: Socket, bytes: Buffer): Steps<void> {
    if (socket.write(bytes)) return;
    const waiting = [...this.#sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
    if (waiting > maxBufferedBytes) socket.destroy();
    yield;
  }
}
