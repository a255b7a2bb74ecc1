import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endWhenRead, receiveFrom, type Steps } from '#sdk/internal';

const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;
const empty = Buffer.alloc(0);
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Receives the messages of a WebSocket. */
export interface WebSocketListener {
  /** Receives the next part of a message, as long as it arrived at once. */
  part(payload: Buffer, isFirst: boolean): Steps<void>;
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
 * The server's side of a WebSocket (RFC 6455): answers the handshake, unmasks the parts of messages, and answers pings. A violation of the
 * protocol closes the connection. No more of a message is held than what arrived at once.
 */
export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #listener: WebSocketListener;
  /** Start of a frame whose head, or payload if it is a control frame, has not arrived in full. */
  #incomplete: Buffer = empty;
  /** Data frame of which a part has not arrived. */
  #frame: { readonly head: FrameHead; received: number } | undefined;
  /** True until the first byte of a message has arrived. Its first frames may be empty. */
  #isAtStart = true;
  /** True between the first and the last frame of a message. */
  #isInMessage = false;
  #isClosed = false;

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer, protocol: string, listener: WebSocketListener) {
    this.#socket = socket;
    this.#listener = listener;
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${guid}`).digest('base64');
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
    receiveFrom(socket, head, (bytes) => this.#receive(bytes));
    socket.once('close', () => this.#ended());
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
    endWhenRead(this.#socket);
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

  *#receive(bytes: Buffer): Steps<void> {
    let rest = this.#incomplete.length === 0 ? bytes : Buffer.concat([this.#incomplete, bytes]);
    this.#incomplete = empty;
    while (!this.#isClosed && rest.length > 0) {
      yield;
      if (this.#frame) {
        const { head, received } = this.#frame;
        const part = rest.subarray(0, head.length - received);
        rest = rest.subarray(part.length);
        yield* this.#part(this.#frame, part);
        continue;
      }
      const head = readFrameHead(rest);
      if (head === 'invalid') return this.close(1_002);
      const isWhole = head !== 'incomplete' && (!head.isControl || rest.length >= head.end + head.length);
      if (!isWhole) {
        this.#incomplete = Buffer.from(rest);
        return;
      }
      const payload = rest.subarray(head.end, head.isControl ? head.end + head.length : head.end);
      rest = rest.subarray(head.end + payload.length);
      if (head.isControl) this.#control(head.opcode, unmasked(payload, head.mask, 0));
      else if ((head.opcode === opcodes.continuation) !== this.#isInMessage) return this.close(1_002);
      else yield* this.#part((this.#frame = { head, received: 0 }), payload);
    }
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) this.close();
    else if (opcode === opcodes.ping) this.#write(opcodes.pong, payload);
  }

  *#part(frame: { readonly head: FrameHead; received: number }, bytes: Buffer): Steps<void> {
    const { head, received } = frame;
    if (received === 0 && head.opcode !== opcodes.continuation) this.#isAtStart = true;
    frame.received += bytes.length;
    if (frame.received === head.length) this.#frame = undefined;
    this.#isInMessage = !head.isFinal;
    if (bytes.length === 0) return;
    const isFirst = this.#isAtStart;
    this.#isAtStart = false;
    yield* this.#listener.part(unmasked(bytes, head.mask, received), isFirst);
  }
}

interface FrameHead {
  readonly opcode: number;
  readonly isControl: boolean;
  readonly isFinal: boolean;
  readonly mask: Buffer;
  readonly length: number;
  /** Offset of the payload. */
  readonly end: number;
}

/** Reads the head of a client's frame from the start of the bytes: RFC 6455, 5.2. */
function readFrameHead(bytes: Buffer): FrameHead | 'incomplete' | 'invalid' {
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
  const mask = Buffer.from(bytes.subarray(maskAt, maskAt + 4));
  return { opcode, isControl, isFinal: (first & 0x80) !== 0, mask, length, end: maskAt + 4 };
}

/** Returns the bytes without their mask; `offset` is their position in the payload. */
function unmasked(bytes: Buffer, mask: Buffer, offset: number): Buffer {
  const payload = Buffer.from(bytes);
  for (let i = 0; i < payload.length; i += 1) payload[i] = (payload[i] as number) ^ (mask[(offset + i) & 3] as number);
  return payload;
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
