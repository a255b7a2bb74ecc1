import type { ServerHttp2Session, ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Http2Server, Http2ServerOptions, OnStream } from '../http2-server.ts';
import { NodeHttp2Stream } from './node-http2-stream.ts';

const limits = {
  /** Resets by the client: so many at once, then so many a second (CVE-2023-44487). */
  streamResetBurst: 1000,
  streamResetRate: 33,
  /** Megabytes of header tables, header lists and queued frames: beyond, new streams are refused. */
  maxSessionMemory: 32,
  /** Fields of a request; their octets are limited by SETTINGS_MAX_HEADER_LIST_SIZE. */
  maxHeaderListPairs: 10_000,
  /** Entries of one SETTINGS frame. Upstream: golang.org/x/net/http2 has the same number. */
  maxSettings: 100,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  /** Upstream: golang.org/x/net/http2, prefaceTimeout. */
  prefaceMs: 10_000,
  /** Grace period for the final GOAWAY to leave. */
  lingerMs: 1000,
} as const;

/** HTTP/2 by node:http2, which is nghttp2: `--http2-server=node`. */
export class NodeHttp2Server implements Http2Server {
  /** Loaded by the first server that needs it: it takes 10 ms and 5 MB. */
  readonly #performHandshake = process.getBuiltinModule('node:http2').performServerHandshake;
  readonly #idleMs: number;
  readonly #window: number;
  readonly #options: ServerOptions;
  readonly #onStream: OnStream;
  readonly #sessions = new Set<ServerHttp2Session>();
  #isGoingAway = false;

  constructor({ maxConcurrentStreams, streamWindow, maxHeaderBytes, idleMs }: Http2ServerOptions, onStream: OnStream) {
    this.#idleMs = idleMs;
    this.#window = streamWindow * maxConcurrentStreams;
    this.#onStream = onStream;
    const { streamResetBurst, streamResetRate, maxSessionMemory, maxHeaderListPairs, maxSettings } = limits;
    const { maxSessionInvalidFrames, maxSessionRejectedStreams } = limits;
    this.#options = {
      settings: {
        maxConcurrentStreams,
        initialWindowSize: streamWindow,
        maxFrameSize: streamWindow,
        maxHeaderListSize: maxHeaderBytes,
        enableConnectProtocol: false,
      },
      ...{ streamResetBurst, streamResetRate, maxSessionMemory, maxHeaderListPairs, maxSettings },
      ...{ maxSessionInvalidFrames, maxSessionRejectedStreams },
      // An answer may have a field twice, as with HTTP/1.1.
      strictSingleValueFields: false,
    };
  }

  serve(socket: TLSSocket): void {
    const session = this.#performHandshake(socket, this.#options);
    this.#sessions.add(session);
    session.setLocalWindowSize(this.#window);
    session.on('error', () => session.destroy());
    const preface = setTimeout(() => session.destroy(), limits.prefaceMs).unref();
    session.once('remoteSettings', () => clearTimeout(preface));
    const idle = this.#closeWhenIdle(session);
    session.on('stream', (stream, headers, _, rawHeaders) => {
      idle.opened();
      stream.once('close', idle.closed);
      const request = new NodeHttp2Stream(stream, headers, rawHeaders);
      if (headers[':path'] === undefined) return request.refuse();
      this.#onStream(request, socket);
    });
    session.once('close', () => {
      clearTimeout(preface);
      idle.stop();
      this.#sessions.delete(session);
    });
    if (this.#isGoingAway) session.close();
  }

  goAway(): void {
    this.#isGoingAway = true;
    for (const session of this.#sessions) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** Counts requests alone: the timeout of a session starts anew with every frame, also with those that ask for nothing. */
  #closeWhenIdle(session: ServerHttp2Session): { opened(): void; closed(): void; stop(): void } {
    let streams = 0;
    const end = (): void => {
      if (session.closed) return session.destroy();
      session.close();
      timer = setTimeout(end, limits.lingerMs).unref();
    };
    let timer = setTimeout(end, this.#idleMs).unref();
    return {
      opened: () => {
        streams += 1;
        clearTimeout(timer);
      },
      closed: () => {
        streams -= 1;
        if (streams > 0) return;
        clearTimeout(timer);
        if (!session.destroyed) timer = setTimeout(end, session.closed ? limits.lingerMs : this.#idleMs).unref();
      },
      stop: () => clearTimeout(timer),
    };
  }
}
