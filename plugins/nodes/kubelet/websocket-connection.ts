import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;
const maxMessageBytes = 32 * 1024 * 1024;
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Receives the messages of a WebSocket. */
export interface WebSocketListener {
  message(payload: Buffer): void;
  /** The connection has ended, for whatever reason. Called once. */
  closed(): void;
}

/** Returns the first requested subprotocol that is supported; undefined if none is. */
export function requestedProtocol({ headers }: IncomingMessage, supported: readonly string[]): string | undefined {
  const requested = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return requested.find((name) => supported.includes(name));
}

/** True for a WebSocket handshake: RFC 6455, 4.2.1. */
export function isWebSocketHandshake({ headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-version'] === '13' && Boolean(headers['sec-websocket-key'])
  );
}

/**
 * The server's side of a WebSocket (RFC 6455): answers the handshake, unmasks and joins the frames of messages, and answers pings. A
 * violation of the protocol closes the connection.
 */
export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #listener: WebSocketListener;
  #buffered: Buffer = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;
  #isClosed = false;

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, protocol: string, listener: WebSocketListener) {
    this.#socket = socket;
    this.#listener = listener;
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64');
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#ended());
    socket.once('end', () => socket.end());
    // Once the caller has the connection.
    if (head.length > 0) queueMicrotask(() => this.#receive(head));
  }

  /** Sends a binary message. */
  send(payload: Buffer): void {
    this.#write(opcodes.binary, payload);
  }

  /** Sends a close frame and ends the connection. */
  close(code = 1_000): void {
    if (this.#isClosed) return;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#write(opcodes.close, payload);
    this.#socket.end();
    this.#ended();
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.closed();
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.#isClosed || this.#socket.destroyed) return;
    this.#socket.cork();
    this.#socket.write(frameHead(opcode, payload.length));
    this.#socket.write(payload);
    this.#socket.uncork();
  }

  #receive(bytes: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    while (!this.#isClosed) {
      const frame = readFrame(this.#buffered);
      if (frame === 'incomplete') return;
      if (frame === 'invalid') return this.close(1_002);
      this.#buffered = this.#buffered.subarray(frame.end);
      this.#handle(frame);
    }
  }

  #handle({ opcode, isFinal, payload }: Frame): void {
    if (opcode === opcodes.close) return this.close();
    if (opcode === opcodes.ping) return this.#write(opcodes.pong, payload);
    if (opcode === opcodes.pong) return;
    const isContinuation = opcode === opcodes.continuation;
    if (isContinuation !== this.#fragments.length > 0) return this.close(1_002);
    this.#fragments.push(payload);
    this.#fragmentBytes += payload.length;
    if (this.#fragmentBytes > maxMessageBytes) return this.close(1_009);
    if (!isFinal) return;
    const message = this.#fragments.length === 1 ? payload : Buffer.concat(this.#fragments);
    this.#fragments = [];
    this.#fragmentBytes = 0;
    this.#listener.message(message);
  }
}

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
  /** Offset of the next frame. */
  readonly end: number;
}

/** Reads a client's frame from the start of the bytes: RFC 6455, 5.2. */
export function readFrame(bytes: Buffer): Frame | 'incomplete' | 'invalid' {
  if (bytes.length < 2) return 'incomplete';
  const first = bytes[0] as number;
  const second = bytes[1] as number;
  const opcode = first & 0xf;
  const isControl = opcode >= 0x8;
  const short = second & 0x7f;
  // Extensions are not negotiated, clients mask, and control frames are short and whole.
  if ((first & 0x70) !== 0 || (second & 0x80) === 0 || (opcode > 0x2 && opcode < 0x8) || opcode > 0xa) return 'invalid';
  if (isControl && (short > 125 || (first & 0x80) === 0)) return 'invalid';
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskAt = 2 + lengthBytes;
  if (bytes.length < maskAt + 4) return 'incomplete';
  const length = lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > maxMessageBytes) return 'invalid';
  const start = maskAt + 4;
  if (bytes.length < start + length) return 'incomplete';
  const payload = Buffer.from(bytes.subarray(start, start + length));
  for (let i = 0; i < length; i += 1) payload[i] = (payload[i] as number) ^ (bytes[maskAt + (i & 3)] as number);
  return { opcode, isFinal: (first & 0x80) !== 0, payload, end: start + length };
}

function frameHead(opcode: number, length: number): Buffer {
  const first = 0x80 | opcode;
  if (length < 126) return Buffer.from([first, length]);
  if (length < 0x1_0000) return Buffer.from([first, 126, length >> 8, length & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
