import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { exitStatus } from './exit-status.ts';
import type { ProcessStreams, RemoteProcess } from './remote-process.ts';
import { requestedProtocol, WebSocketConnection } from './websocket-connection.ts';

/** Channels: the first byte of each message. Upstream: remotecommand/websocket.go. */
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
/** In v5, the client can close a channel. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Returns the subprotocol of remote commands that the request and this server have in common. */
export function commandProtocol(request: IncomingMessage): string | undefined {
  return requestedProtocol(request, protocols);
}

/** Serves a remote command over a WebSocket with channels. */
export function serveWebSocketCommand(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  protocol: string,
  start: (streams: ProcessStreams) => RemoteProcess,
): void {
  let process: RemoteProcess | undefined;
  /** Channel of the present message, until its part that matters was read. */
  let channel: number | undefined;
  const connection = new WebSocketConnection(request, socket, head, protocol, {
    *part(bytes, isFirst) {
      if (isFirst) channel = bytes[0];
      const payload = isFirst ? bytes.subarray(1) : bytes;
      if (payload.length === 0 || !process) return;
      if (channel === channels.stdin) return yield* process.stdin(payload);
      if (channel === channels.close && payload[0] === channels.stdin) process.stdinClosed();
      channel = undefined;
    },
    closed: () => process?.hangUp(),
  });
  const send = (channel: number, bytes: Buffer): void => connection.send(Buffer.concat([Buffer.from([channel]), bytes]));
  // An empty message: the streams are open.
  send(channels.stdout, Buffer.alloc(0));
  process = start({
    stdout: (bytes) => send(channels.stdout, bytes),
    stderr: (bytes) => send(channels.stderr, bytes),
    exit(code) {
      send(channels.error, exitStatus(code));
      connection.close();
    },
  });
}
