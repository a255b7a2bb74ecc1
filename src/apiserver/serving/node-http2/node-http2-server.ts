import type { ServerHttp2Session, ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Http2Server, Http2ServerOptions, OnStream } from '../http2-server.ts';
import { NodeHttp2Connection } from './node-http2-connection.ts';

const limits = {
  /** Burst and rate of resets by the client (CVE-2023-44487). A client may cancel some hundred watches at once. */
  streamResetBurst: 500,
  streamResetRate: 33,
  /** Megabytes of header tables, header lists and queued frames; above, new streams are refused. */
  maxSessionMemory: 32,
  /** Maximum number of fields of a request; their size is limited by SETTINGS_MAX_HEADER_LIST_SIZE. */
  maxHeaderListPairs: 10_000,
  /** Maximum number of parameters of one SETTINGS frame, as in golang.org/x/net/http2. */
  maxSettings: 100,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
} as const;

/** HTTP/2 by node:http2, which uses nghttp2: `--http2-server=node`. */
export class NodeHttp2Server implements Http2Server {
  /** Loaded on first use, because it takes 10 ms and 5 MB. */
  readonly #performHandshake = process.getBuiltinModule('node:http2').performServerHandshake;
  readonly #options: Http2ServerOptions;
  readonly #sessionOptions: ServerOptions;
  readonly #onStream: OnStream;
  readonly #connections = new Map<ServerHttp2Session, NodeHttp2Connection>();
  #isGoingAway = false;

  constructor(options: Http2ServerOptions, onStream: OnStream) {
    const { maxConcurrentStreams, streamWindow, maxHeaderBytes } = options;
    this.#options = options;
    this.#onStream = onStream;
    this.#sessionOptions = {
      ...limits,
      settings: {
        maxConcurrentStreams,
        initialWindowSize: streamWindow,
        maxFrameSize: streamWindow,
        maxHeaderListSize: maxHeaderBytes,
        enableConnectProtocol: false,
      },
      // As in HTTP/1.1, a response may repeat a field.
      strictSingleValueFields: false,
    };
  }

  serve(socket: TLSSocket): void {
    const session = this.#performHandshake(socket, this.#sessionOptions);
    const { maxConcurrentStreams, streamWindow, deadlines } = this.#options;
    session.setLocalWindowSize(streamWindow * maxConcurrentStreams);
    const connection = new NodeHttp2Connection(session, deadlines, (stream) => this.#onStream(stream, socket));
    this.#connections.set(session, connection);
    session.once('close', () => this.#connections.delete(session));
    if (this.#isGoingAway) connection.closeAfterFirst();
  }

  /** Connections with requests continue, because node:http2 serves no new stream after a GOAWAY. */
  announceEnd(): void {
    this.#isGoingAway = true;
    for (const connection of this.#connections.values()) connection.announceEnd();
  }

  goAway(): void {
    for (const connection of this.#connections.values()) connection.closeAfterFirst();
  }

  close(): void {
    for (const session of this.#connections.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#connections.keys()) session.destroy();
  }

  checkDeadlines(now: number): void {
    for (const connection of this.#connections.values()) connection.checkDeadlines(now);
  }
}
