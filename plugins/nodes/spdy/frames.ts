import { Buffer } from 'node:buffer';

/** A frame of SPDY/3.1. Unused control frames are read as `other`. */
export type SpdyFrame =
  | { readonly type: 'data'; readonly stream: number; readonly isLast: boolean; readonly payload: Buffer }
  | { readonly type: 'synStream'; readonly stream: number; readonly isLast: boolean; readonly headers: Buffer }
  | { readonly type: 'reset'; readonly stream: number }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway' }
  | { readonly type: 'windowUpdate'; readonly stream: number; readonly delta: number }
  | { readonly type: 'other' };

const headBytes = 8;
const maxControlBytes = 65_536;
const fin = 0x01;
const version = 3;
const control = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7, windowUpdate: 9 } as const;

/** Thrown for bytes that are not SPDY/3.1. */
export class SpdyError extends Error {}

/**
 * Splits received bytes into frames. The payload of a data frame may be split further, so that no more of it is held than what arrived at
 * once.
 */
export class SpdyFrameReader {
  #buffered: Buffer = Buffer.alloc(0);
  /** Data frame of which a part has not arrived. */
  #data: { readonly head: Buffer; left: number } | undefined;

  /** Adds bytes and returns the frames that are complete now. Throws SpdyError. */
  *read(bytes: Buffer): Generator<SpdyFrame, void, void> {
    let rest = this.#buffered.length === 0 ? bytes : Buffer.concat([this.#buffered, bytes]);
    while (this.#data || rest.length >= headBytes) {
      if (this.#data) {
        if (rest.length === 0 && this.#data.left > 0) break;
        const payload = rest.subarray(0, this.#data.left);
        rest = rest.subarray(payload.length);
        yield this.#dataFrame(this.#data, payload);
        continue;
      }
      const head = rest.subarray(0, headBytes);
      const length = head.readUIntBE(5, 3);
      const isControl = ((head[0] as number) & 0x80) !== 0;
      if (isControl && length > maxControlBytes) throw new SpdyError('the frame is too long');
      if (isControl && rest.length < headBytes + length) break;
      const payload = rest.subarray(headBytes, headBytes + length);
      rest = rest.subarray(headBytes + (isControl ? length : 0));
      if (isControl) yield parseControl(head, payload);
      else this.#data = { head: Buffer.from(head), left: length };
    }
    this.#buffered = Buffer.from(rest);
  }

  #dataFrame(data: { readonly head: Buffer; left: number }, payload: Buffer): SpdyFrame {
    data.left -= payload.length;
    if (data.left === 0) this.#data = undefined;
    const isLast = data.left === 0 && ((data.head[4] as number) & fin) !== 0;
    return { type: 'data', stream: data.head.readUInt32BE(0), isLast, payload };
  }
}

function parseControl(head: Buffer, payload: Buffer): SpdyFrame {
  const isLast = ((head[4] as number) & fin) !== 0;
  if ((head.readUInt16BE(0) & 0x7fff) !== version) throw new SpdyError('the version is not 3');
  const need = (bytes: number): void => {
    if (payload.length < bytes) throw new SpdyError('the frame is too short');
  };
  const id = (at: number): number => payload.readUInt32BE(at) & 0x7fff_ffff;
  switch (head.readUInt16BE(2)) {
    case control.synStream:
      need(10);
      return { type: 'synStream', stream: id(0), isLast, headers: payload.subarray(10) };
    case control.reset:
      need(8);
      return { type: 'reset', stream: id(0) };
    case control.ping:
      need(4);
      return { type: 'ping', id: payload.readUInt32BE(0) };
    case control.goAway:
      return { type: 'goAway' };
    case control.windowUpdate:
      need(8);
      return { type: 'windowUpdate', stream: id(0), delta: id(4) };
    default:
      return { type: 'other' };
  }
}

function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head[4] = flags;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, i * 4);
  return bytes;
};

/** Encodes a data frame. */
export function dataFrame(stream: number, payload: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(stream, 0);
  head[4] = isLast ? fin : 0;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

export const synReplyFrame = (stream: number, headers: Buffer): Buffer =>
  controlFrame(control.synReply, 0, Buffer.concat([words(stream), headers]));
export const resetFrame = (stream: number, status: number): Buffer => controlFrame(control.reset, 0, words(stream, status));
export const pingFrame = (id: number): Buffer => controlFrame(control.ping, 0, words(id));
export const goAwayFrame = (lastStream: number): Buffer => controlFrame(control.goAway, 0, words(lastStream, 0));
export const windowUpdateFrame = (stream: number, delta: number): Buffer => controlFrame(control.windowUpdate, 0, words(stream, delta));

/** Encodes a SYN_STREAM frame, which only clients send. */
export const synStreamFrame = (stream: number, headers: Buffer): Buffer =>
  controlFrame(control.synStream, 0, Buffer.concat([words(stream, 0), Buffer.alloc(2), headers]));
