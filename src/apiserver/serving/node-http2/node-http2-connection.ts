import type { ServerHttp2Session } from 'node:http2';
import { type ConnectionDeadlines, Persistence } from '../deadlines.ts';
import { NodeHttp2Stream } from './node-http2-stream.ts';

/** Number of requests of one connection before it yields to the event loop. */
const requestsOfTurn = 10;

/** A connection of node:http2. It emits a limited number of requests at a time and enforces the deadlines. */
export class NodeHttp2Connection {
  readonly #session: ServerHttp2Session;
  readonly #deadlines: ConnectionDeadlines;
  readonly #onStream: (stream: NodeHttp2Stream) => void;
  /** Requests that wait for the next event loop iteration. */
  #waiting: NodeHttp2Stream[] = [];
  #taken = 0;
  #isScheduled = false;
  #streams = 0;
  #lastStream = 0;
  readonly #since = performance.now();
  readonly #idle = new Persistence();
  #hasSettings = false;
  #closesAfterFirst = false;

  constructor(session: ServerHttp2Session, deadlines: ConnectionDeadlines, onStream: (stream: NodeHttp2Stream) => void) {
    this.#session = session;
    this.#deadlines = deadlines;
    this.#onStream = onStream;
    session.on('error', () => session.destroy());
    session.once('remoteSettings', () => {
      this.#hasSettings = true;
    });
    session.on('stream', (stream, headers, _, rawHeaders) => {
      this.#streams += 1;
      this.#lastStream += 1;
      if (this.#closesAfterFirst) session.close();
      stream.once('close', () => {
        this.#streams -= 1;
      });
      const request = new NodeHttp2Stream(stream, headers, rawHeaders);
      if (headers[':path'] === undefined) return request.refuse();
      this.#waiting.push(request);
      if (!this.#isScheduled) this.#serve();
    });
  }

  /** Closes the connection after its first request if it has had none. */
  announceEnd(): void {
    this.#closesAfterFirst = this.#lastStream === 0;
  }

  /** Closes the connection after its first request, which is answered, or now if it has had one. */
  closeAfterFirst(): void {
    if (this.#lastStream > 0) this.#session.close();
    else this.#closesAfterFirst = true;
  }

  /** Implements `Http2Connection.checkDeadlines`. A connection within a header block counts as idle unless it has other requests. */
  checkDeadlines(now: number): void {
    const { prefaceMs, idleMs } = this.#deadlines;
    const session = this.#session;
    if (!this.#hasSettings) {
      if (now - this.#since >= prefaceMs) session.destroy();
      return;
    }
    if (this.#idle.age(this.#streams > 0 ? undefined : this.#lastStream, now) < idleMs) return;
    // A client that does not read would not receive a GOAWAY.
    if (session.closed) session.destroy();
    else session.close();
  }

  /**
   * Serves the waiting requests. A request that was reset meanwhile is skipped, so that a rapid reset costs only the work of
   * node:http2.
   */
  #serve(): void {
    const requests = this.#waiting;
    let at = 0;
    for (; at < requests.length && this.#taken < requestsOfTurn; at++) {
      const request = requests[at] as NodeHttp2Stream;
      if (request.closed) continue;
      this.#taken += 1;
      this.#onStream(request);
    }
    this.#waiting = requests.slice(at);
    if (this.#isScheduled || this.#taken < requestsOfTurn) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#taken = 0;
      this.#serve();
    });
  }
}
