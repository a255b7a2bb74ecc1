/** HTTP/2 frames as bytes, and a connection that sends and collects them: RFC 9113. */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import tls from 'node:tls';

export const types = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const flag = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;
export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;
export const none = Buffer.alloc(0);
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export type Field = readonly [name: string, value: string];

/** `length` overrides the payload's length in the header. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = none, length = payload.length): Buffer {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUIntBE(length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, 9);
  return bytes;
}

export function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, i * 4);
  return bytes;
}

export function settings(...values: readonly (readonly [name: number, value: number])[]): Buffer {
  const bytes = Buffer.alloc(values.length * 6);
  for (const [i, [name, value]] of values.entries()) {
    bytes.writeUInt16BE(name, i * 6);
    bytes.writeUInt32BE(value, i * 6 + 2);
  }
  return frame(types.settings, 0, 0, bytes);
}

/** Encodes an integer (RFC 7541, 5.1). `mask` covers its bits in the first byte. */
export function hpackInteger(form: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([form | value]);
  const bytes = [form | mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

const text = (value: string): Buffer => Buffer.concat([hpackInteger(0, 0x7f, value.length), Buffer.from(value, 'latin1')]);

/** Encodes a header block of literals without indexing. */
export function block(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])));
}

/** Encodes a literal with indexing. */
export function indexedField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)]);
}

export function pseudo(method: string, path: string): Field[] {
  return [
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
  ];
}

/** Encodes a complete request without a body. */
export function get(stream: number, path: string, ...more: readonly Field[]): Buffer {
  return frame(types.headers, flag.endHeaders | flag.endStream, stream, block([...pseudo('GET', path), ...more]));
}

/** Encodes the header of a request with a body. */
export function post(stream: number, path: string, ...more: readonly Field[]): Buffer {
  return frame(types.headers, flag.endHeaders, stream, block([...pseudo('POST', path), ...more]));
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Splits received data into frames. */
export class FrameSplitter {
  #rest: Buffer = none;

  *push(chunk: Buffer): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    const bytes = this.#rest;
    while (bytes.length - at >= 9) {
      const end = at + 9 + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      yield { type: bytes[at + 3]!, flags: bytes[at + 4]!, stream, payload: bytes.subarray(at + 9, end) };
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }
}

export interface Target {
  readonly port: number;
  readonly host?: string;
}

/** Resolves after the handshake, with `h2` by ALPN. Socket errors end the connection. */
export async function connectTls({ port, host = '127.0.0.1' }: Target): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  const failed = once(socket, 'close').then(() => Promise.reject(new Error('the connection ended during the handshake')));
  failed.catch(() => undefined);
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'secureConnect'), failed]);
  return socket;
}

/** A client that sends given bytes and collects the received frames. */
export class RawConnection {
  readonly frames: Frame[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #listeners = new Set<() => void>();

  private constructor(readonly socket: tls.TLSSocket) {
    const splitter = new FrameSplitter();
    socket.on('data', (chunk: Buffer) => {
      for (const each of splitter.push(chunk)) {
        if (each.type === types.settings && !(each.flags & flag.ack)) this.send(frame(types.settings, flag.ack, 0));
        this.frames.push(each);
      }
      this.#changed();
    });
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.isClosed = true;
        this.#changed();
        resolve();
      }),
    );
  }

  /** Sends the preface with the settings. */
  static async open(target: Target, first: Buffer = settings()): Promise<RawConnection> {
    const connection = new RawConnection(await connectTls(target));
    connection.send(preface, first);
    return connection;
  }

  send(...frames: readonly Buffer[]): void {
    if (!this.isClosed && this.socket.writable) this.socket.write(Buffer.concat(frames));
  }

  /** Resolves to true as soon as `holds` returns true, or to false after `ms` or at the end of the connection. */
  async until(holds: () => boolean, ms: number): Promise<boolean> {
    if (holds()) return true;
    if (this.isClosed) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    const check = (): void => {
      if (holds()) resolve(true);
      else if (this.isClosed) resolve(false);
    };
    this.#listeners.add(check);
    const held = await promise;
    clearTimeout(timer);
    this.#listeners.delete(check);
    return held;
  }

  find(type: number, stream?: number): Frame | undefined {
    return this.frames.find((each) => each.type === type && (stream === undefined || each.stream === stream));
  }

  /** Returns the body received on a stream. */
  bodyOf(stream: number): Buffer {
    return Buffer.concat(this.frames.filter((each) => each.type === types.data && each.stream === stream).map(({ payload }) => payload));
  }

  hasEnded(stream: number): boolean {
    return this.frames.some((each) => each.stream === stream && each.type <= types.headers && (each.flags & flag.endStream) !== 0);
  }

  destroy(): void {
    this.socket.destroy();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
