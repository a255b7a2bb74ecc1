import type { Buffer } from 'node:buffer';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Maximum size of the head of a response, and of the informational responses before it. */
const maxHeadBytes = 1024 * 1024;
/** Maximum number of header fields of a response; node:http would drop the others without a word. */
const maxFields = 10_000;
/** Time for which the bytes of one connection may be parsed in a turn of the event loop. */
const parsingMs = 2;

/** Options of each request to another server. The default of node:http for heads is 16 KiB. */
export const headLimits = { maxHeaderSize: maxHeadBytes } as const;

/** A response, with the connection and its first bytes if the server has switched protocols. */
export interface Answer {
  readonly response: IncomingMessage;
  readonly upgraded?: { readonly socket: Duplex; readonly head: Buffer };
}

/**
 * Resolves to the response of a server that may misbehave. Rejects if the connection breaks, the head exceeds the limits, or the protocol
 * is switched without `mayUpgrade`. Until the end of the response its connection is parsed a few milliseconds in a turn: node:http has work
 * for each header, informational response and chunk, of which 64 KiB may have ten thousand. Create the request with `headLimits`.
 */
export function answerOf(request: ClientRequest, mayUpgrade = false): Promise<Answer> {
  request.maxHeadersCount = maxFields + 1;
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      const error = new Error(reason);
      request.destroy(error);
      reject(error);
    };
    request.once('socket', (socket) => paceParsing(request, socket));
    let headBytes = 0;
    request.on('information', ({ rawHeaders, statusMessage }) => {
      headBytes += leastHeadBytes + statusMessage.length;
      for (const text of rawHeaders) headBytes += text.length;
      if (headBytes > maxHeadBytes) fail(`net/http: server response headers exceeded ${maxHeadBytes} bytes; aborted`);
    });
    request.on('error', reject);
    request.once('upgrade', (response, socket, head) => {
      if (mayUpgrade) return resolve({ response, upgraded: { socket, head } });
      socket.destroy();
      fail(`backend tried to switch protocol ${JSON.stringify(String(response.headers.upgrade ?? ''))} when "" was requested`);
    });
    request.once('response', (response) => {
      const { statusCode = 0, rawHeaders } = response;
      if (statusCode === switchingProtocols) fail('internal error: 101 switching protocols response with non-writable body');
      else if (statusCode < 100) fail(`malformed HTTP status code "${String(statusCode).padStart(3, '0')}"`);
      else if (rawHeaders.length > 2 * maxFields) fail(`net/http: server response headers exceeded ${maxFields} fields; aborted`);
      else resolve({ response });
    });
  });
}

const switchingProtocols = 101;
/** Length of the status line of an informational response without a reason, and of its end. */
const leastHeadBytes = 'HTTP/1.1 103 \r\n\r\n'.length;

/** Connections whose bytes took long to parse continue in later turns, in their order. */
const waiting: (() => void)[] = [];
/** Number of them that continue in one turn. */
const continuedOfTurn = 2;

function continueLater(resume: () => void): void {
  waiting.push(resume);
  if (waiting.length === 1) setImmediate(continueWaiting);
}

function continueWaiting(): void {
  for (const resume of waiting.splice(0, continuedOfTurn)) resume();
  if (waiting.length > 0) setImmediate(continueWaiting);
}

/** Stops reading from the connection when its bytes took long to parse, until a later turn. */
function paceParsing(request: ClientRequest, socket: Socket): void {
  // While it is true, node:http does not resume reading (readStart in lib/_http_incoming.js).
  const held = socket as Socket & { _paused?: boolean };
  let began = 0;
  let tookMs = 0;
  const begin = (): void => {
    if (tookMs === 0) setImmediate(() => (tookMs = 0));
    began = performance.now();
  };
  const parsed = (): void => {
    tookMs += performance.now() - began;
    if (tookMs < parsingMs || held._paused) return;
    held._paused = true;
    socket.pause();
    continueLater(() => {
      held._paused = false;
      // Otherwise node:http resumes reading when the response has been read.
      if (!isFull(request)) socket.resume();
    });
  };
  const end = (): void => {
    socket.off('data', begin).off('data', parsed);
  };
  socket.prependListener('data', begin);
  socket.on('data', parsed);
  request.once('close', end);
  request.once('upgrade', end);
}

/** True if the response holds as much as its reader may leave unread. */
function isFull(request: ClientRequest): boolean {
  const { res } = request as ClientRequest & { readonly res?: IncomingMessage | null };
  return res ? res.readableLength >= res.readableHighWaterMark : false;
}
