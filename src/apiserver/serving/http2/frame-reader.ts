import type { Buffer } from 'node:buffer';
import { MergedBytes } from '../merged-bytes.ts';
import { errorCodes, flags, frameHeadBytes, frameTypes, Http2Error } from './protocol.ts';

/** What is told of frames. May throw Http2Error. */
export interface FrameHandler {
  /** A frame of which the payload is a number of 32 bits: WINDOW_UPDATE or RST_STREAM. */
  numberFrame(type: number, stream: number, value: number): void;
  /** A frame of any other type but DATA, whole. The payload is a view of what was read. */
  frame(type: number, flag: number, stream: number, payload: Buffer): void;
  /** DATA of `length` bytes begins, of which `bodyLength` are not padding. */
  dataBegins(stream: number, flag: number, length: number, bodyLength: number): void;
  /** A part of its body, as it comes: a view, too. */
  data(chunk: Buffer): void;
  dataEnds(): void;
}

/** Splits what a client sends into frames: RFC 9113, 4. Bodies go on as they come, so that a frame of them need never be held. */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #maxFrameBytes: number;
  /** The begin of a frame of which the rest has not come. */
  readonly #kept = new MergedBytes();
  /** Bytes that must be there for the next step. */
  #needed = frameHeadBytes;
  /** Of a DATA frame: what of its body and of its padding has not come; -1 outside of one. */
  #bodyLeft = -1;
  #paddingLeft = 0;
  #isPaused = false;
  /** Frames that were whole. */
  #frames = 0;

  constructor(handler: FrameHandler, maxFrameBytes: number) {
    this.#handler = handler;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Identifies the frame of which a part has come; undefined where there is none, or where it is DATA, whose parts go on as they come. */
  get partialFrame(): number | undefined {
    return this.#kept.length > 0 ? this.#frames : undefined;
  }

  /** Hands out no more frames: a handler may ask for it within a frame that is not of DATA. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Goes on with what has come since. Throws as `push` does. */
  resume(): void {
    this.#isPaused = false;
    if (this.#kept.length > 0) this.#take(this.#kept.take());
  }

  /** Keeps copies only. Throws Http2Error where the connection cannot go on. */
  push(chunk: Buffer): void {
    if (this.#kept.length === 0 && !this.#isPaused) return this.#take(chunk);
    this.#kept.append(chunk);
    if (this.#kept.length >= this.#needed && !this.#isPaused) this.#take(this.#kept.take());
  }

  #take(bytes: Buffer): void {
    let at = 0;
    while (!this.#isPaused) {
      if (this.#bodyLeft >= 0) {
        at = this.#takeData(bytes, at);
        if (this.#bodyLeft >= 0) return;
      }
      const taken = this.#takeFrame(bytes, at);
      if (taken === 0) break;
      at += taken;
    }
    if (at < bytes.length) this.#kept.append(bytes.subarray(at));
  }

  /** Answers how many bytes it took: none where more are needed. */
  #takeFrame(bytes: Buffer, at: number): number {
    const present = bytes.length - at;
    this.#needed = frameHeadBytes;
    if (present < frameHeadBytes) return 0;
    const length = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    if (length > this.#maxFrameBytes) throw new Http2Error(errorCodes.frameSizeError, 'a frame is too large');
    const type = bytes[at + 3] as number;
    const flag = bytes[at + 4] as number;
    const stream =
      ((bytes[at + 5] as number) & 0x7f) * 0x1000000 +
      (((bytes[at + 6] as number) << 16) | ((bytes[at + 7] as number) << 8) | (bytes[at + 8] as number));
    if (type === frameTypes.data) return this.#beginData(bytes, at, flag, stream, length);
    this.#needed = frameHeadBytes + length;
    if (present < this.#needed) return 0;
    const start = at + frameHeadBytes;
    this.#frames += 1;
    // A client that reads a thousand watches sends hundreds of window updates for each event: they are not worth an object each.
    if (type === frameTypes.windowUpdate || type === frameTypes.resetStream) {
      if (length !== 4) throw new Http2Error(errorCodes.frameSizeError, 'a frame that is a number has four octets');
      this.#handler.numberFrame(type, stream, bytes.readUInt32BE(start));
    } else {
      this.#handler.frame(type, flag, stream, bytes.subarray(start, start + length));
    }
    return frameHeadBytes + length;
  }

  #beginData(bytes: Buffer, at: number, flag: number, stream: number, length: number): number {
    let head = frameHeadBytes;
    let padding = 0;
    if (flag & flags.padded) {
      head += 1;
      this.#needed = head;
      if (length === 0) throw new Http2Error(errorCodes.frameSizeError, 'a frame is too short for its padding');
      if (bytes.length - at < head) return 0;
      padding = bytes[at + frameHeadBytes] as number;
      if (padding >= length) throw new Http2Error(errorCodes.protocolError, 'a frame is all padding');
    }
    this.#frames += 1;
    this.#paddingLeft = padding;
    this.#bodyLeft = length - padding - (head - frameHeadBytes);
    this.#handler.dataBegins(stream, flag, length, this.#bodyLeft);
    return head;
  }

  /** Answers where what it took ends. */
  #takeData(bytes: Buffer, start: number): number {
    let at = start;
    const ofBody = Math.min(this.#bodyLeft, bytes.length - at);
    if (ofBody > 0) {
      this.#bodyLeft -= ofBody;
      this.#handler.data(bytes.subarray(at, at + ofBody));
      at += ofBody;
    }
    if (this.#bodyLeft > 0) return at;
    const ofPadding = Math.min(this.#paddingLeft, bytes.length - at);
    this.#paddingLeft -= ofPadding;
    at += ofPadding;
    if (this.#paddingLeft === 0) {
      this.#bodyLeft = -1;
      this.#handler.dataEnds();
    }
    return at;
  }
}
