import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SpdyStream } from '../spdy/connection.ts';
import { exitStatus } from './exit-status.ts';
import type { ProcessStreams, RemoteProcess } from './remote-process.ts';
import { acceptSpdy, isSpdyUpgrade, streamProtocol } from './spdy-upgrade.ts';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
/** Upstream: remotecommand (streamCreationTimeout). */
const streamsTimeoutMs = 30_000;

/** Streams that the client opens, by the options of the request; `error` is always there. */
export type ExpectedStreams = Readonly<Record<'stdin' | 'stdout' | 'stderr' | 'resize', boolean>>;

/** Returns the stream protocol of a SPDY request for a remote command; undefined if there is none. */
export function spdyCommandProtocol(request: IncomingMessage): string | undefined {
  return isSpdyUpgrade(request) ? streamProtocol(request, protocols) : undefined;
}

/**
 * Serves a remote command over SPDY: one stream each, by the header `streamType`. Upstream:
 * k8s.io/cri-streaming/pkg/streaming/remotecommand.
 */
export function serveSpdyCommand(
  socket: Duplex,
  head: Buffer,
  protocol: string,
  expected: ExpectedStreams,
  start: (streams: ProcessStreams) => RemoteProcess,
): void {
  const wanted = new Set(['error', ...Object.entries(expected).flatMap(([name, isOpen]) => (isOpen ? [name] : []))]);
  const streams = new Map<string, SpdyStream>();
  let process: RemoteProcess | undefined;
  const timer = setTimeout(() => connection.close(), streamsTimeoutMs);
  const begin = (): void => {
    clearTimeout(timer);
    const stdin = streams.get('stdin');
    process = start({
      stdout: (bytes) => streams.get('stdout')?.write(bytes),
      stderr: (bytes) => streams.get('stderr')?.write(bytes),
      exit(code) {
        streams.get('error')?.write(exitStatus(code));
        for (const stream of streams.values()) stream.end();
        connection.close();
      },
    });
    if (!stdin) return;
    stdin.onData = function* (bytes) {
      if (process) yield* process.stdin(bytes);
    };
    stdin.onEnd = () => process?.stdinClosed();
  };
  const connection = acceptSpdy(socket, head, protocol, {
    opened(stream) {
      const type = stream.headers['streamtype'] ?? '';
      if (!wanted.delete(type)) return stream.reset();
      streams.set(type, stream);
      // Data that follows at once must find the process.
      if (wanted.size === 0) begin();
    },
    closed() {
      clearTimeout(timer);
      process?.hangUp();
    },
  });
}
