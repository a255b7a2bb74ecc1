import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { isUpgradable, type ResponseStream, type UpgradableExchange } from '#apiserver/request/exchange';
import type { RequestContext } from '#apiserver/request/request-context';
import { endWhenRead } from '#apiserver/serving/end-soon';
import { receiveFrom } from '#apiserver/serving/receive-from';
import { ClientFrames } from './websocket-frames.ts';

/** A request for a WebSocket (RFC 6455, 4.1) whose connection can be taken over. As in kube-apiserver, HTTP/2 has none. */
export type WebSocketRequest = RequestContext & { readonly exchange: UpgradableExchange };

/** True for a WebSocket handshake. Upstream: httpstream/wsstream/conn.go (IsWebSocketRequest). */
export function isWebSocketRequest(context: RequestContext): context is WebSocketRequest {
  const { exchange } = context;
  const { upgrade, connection = '' } = exchange.headers;
  return upgrade?.toLowerCase() === 'websocket' && connection.toLowerCase().includes('upgrade') && isUpgradable(exchange);
}

/** Encoding of messages: text, binary, or base64 text. */
export type MessageForm = 'text' | 'binary' | 'base64';

/** Result of the handshake: the subprotocol of the response (undefined: none), or the status of a rejection. */
export type Agreement = { readonly protocol: string | undefined; readonly form: MessageForm } | { readonly refusal: 400 | 403 };

/**
 * Returns the handshake of watches, which require an Origin and accept a single requested subprotocol, without effect. Upstream:
 * golang.org/x/net/websocket (Handler).
 */
export function agreeToWatch(form: MessageForm): (protocols: readonly string[], origin: string) => Agreement {
  return (protocols, origin) => {
    if (!isRequestUri(origin)) return { refusal: 403 };
    return protocols.length > 1 ? { refusal: 400 } : { protocol: protocols[0], form };
  };
}

const readerForms: ReadonlyMap<string, MessageForm> = new Map([
  ['', 'binary'],
  ['binary.k8s.io', 'binary'],
  ['base64.binary.k8s.io', 'base64'],
]);

/** Negotiates the subprotocol of streamed texts (logs): the first supported one. Upstream: httpstream/wsstream/stream.go. */
export function agreeToRead(protocols: readonly string[]): Agreement {
  for (const protocol of protocols.length === 0 ? [''] : protocols) {
    const form = readerForms.get(protocol);
    if (form) return { protocol, form };
  }
  return { refusal: 403 };
}

/** True for a path or an absolute URI, like Go's url.ParseRequestURI. */
function isRequestUri(text: string): boolean {
  return text.startsWith('/') || (URL.canParse(text) && /^[a-z][a-z0-9+.-]*:/i.test(text) && !/\s/.test(text));
}

/**
 * Takes the connection over and completes the handshake; undefined if it was rejected, with the responses of kube-apiserver.
 * Upstream: golang.org/x/net/websocket (serveWebSocket, hybi.go).
 */
export function acceptWebSocket(
  context: WebSocketRequest,
  agree: (protocols: readonly string[], origin: string) => Agreement,
): ResponseStream | undefined {
  const { headers } = context.exchange;
  const key = headers['sec-websocket-key'];
  const asked = headers['sec-websocket-protocol']?.trim() ?? '';
  const protocols = asked === '' ? [] : asked.split(',').map((protocol) => protocol.trim());
  if (context.method !== 'GET') return refuse(context, 405, 'bad method');
  if (!key) return refuse(context, 400, 'mismatch challenge/response');
  if (headers['sec-websocket-version'] !== '13')
    return refuse(context, 400, 'missing or bad WebSocket Version', ['Sec-WebSocket-Version: 13']);
  const agreed = agree(protocols, headers.origin ?? '');
  if ('refusal' in agreed) return refuse(context, agreed.refusal);
  let stream: WebSocketStream | undefined;
  const socket = take(context, 101, () => stream?.end());
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
  if (agreed.protocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${agreed.protocol}`);
  socket.write(head(101, lines), 'latin1');
  stream = new WebSocketStream(socket, agreed.form);
  return stream;
}

function refuse(context: WebSocketRequest, status: number, text = '', lines: readonly string[] = []): undefined {
  const socket = take(context, status, () => socket.end());
  socket.write(head(status, lines) + text, 'latin1');
  endWhenRead(socket);
  return undefined;
}

function take(context: WebSocketRequest, status: number, end: () => void): Duplex {
  context.status = status;
  context.audit?.started(status);
  return context.exchange.takeOver(end);
}

function head(status: number, lines: readonly string[]): string {
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', ''].join('\r\n');
}

const text = 0x1;
const binary = 0x2;
const close = 0x8;
const pong = 0xa;
const normal = Buffer.from([0x03, 0xe8]);
const protocolError = Buffer.from([0x03, 0xea]);

/** Sends messages to a client. It handles only ping and close frames of the client. */
class WebSocketStream implements ResponseStream {
  readonly #socket: Duplex;
  readonly #form: MessageForm;
  #isEnded = false;

  constructor(socket: Duplex, form: MessageForm) {
    this.#socket = socket;
    this.#form = form;
    const frames = new ClientFrames({
      ping: (payload) => this.#send(pong, payload),
      close: () => this.end(),
      unmasked: () => {
        this.#send(close, protocolError);
        this.end();
      },
    });
    socket.once('end', () => this.end());
    // Pings are answered no faster than the client reads: upstream writes the pong before it reads on.
    receiveFrom(socket, Buffer.alloc(0), (bytes) => frames.read(bytes));
  }

  write(bytes: Buffer): boolean {
    if (this.#form === 'base64') return this.#send(text, Buffer.from(bytes.toString('base64'), 'latin1'));
    return this.#send(this.#form === 'text' ? text : binary, bytes);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#send(close, normal);
    this.#isEnded = true;
    endWhenRead(this.#socket);
  }

  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  onDrain(listener: () => void): void {
    this.#socket.on('drain', listener);
  }

  abort(): void {
    this.#isEnded = true;
    this.#socket.destroy();
  }

  #send(opcode: number, payload: Buffer): boolean {
    if (this.#isEnded || this.#socket.destroyed) return false;
    this.#socket.cork();
    this.#socket.write(frameHead(opcode, payload.length));
    const isTaken = this.#socket.write(payload);
    this.#socket.uncork();
    return isTaken;
  }
}

/** Returns the header of a whole, unmasked frame: RFC 6455, 5.2. */
function frameHead(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 0x1_0000) return Buffer.from([first, 126, length >> 8, length & 0xff]);
  const bytes = Buffer.alloc(10);
  bytes[0] = first;
  bytes[1] = 127;
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}
