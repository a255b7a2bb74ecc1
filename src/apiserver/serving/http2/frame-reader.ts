import type { Buffer } from 'node:buffer';
import { MergedBytes } from '#apiserver/base/merged-bytes';
import { errorCodes, flags, frameHeadBytes, frameTypes, Http2Error } from './protocol.ts';

/** Receives frames. May throw Http2Error. */
export interface FrameHandler {
  /** Called for a frame whose payload is a 32-bit number: WINDOW_UPDATE or RST_STREAM. */
  numberFrame(type: number, stream: number, value: number): void;
  /** Called for a complete frame of another type than DATA. The payload is a view of the read buffer. */
  frame(type: number, flag: number, stream: number, payload: Buffer): void;
  /** Called at the start of a DATA frame of `length` bytes, of which `bodyLength` are not padding. */
  dataBegins(stream: number, flag: number, length: number, bodyLength: number): void;
  /** Called with body bytes as they arrive; also a view. */
  data(chunk: Buffer): void;
  dataEnds(): void;
}

/** Splits the input into frames: RFC 9113, 4. DATA is passed on as it arrives, so that it is never buffered. */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #maxFrameBytes: number;
  /** Start of an incomplete frame. */
  readonly #kept = new MergedBytes();
  /** Number of bytes required for the next step. */
  #needed = frameHeadBytes;
  /** Outstanding body bytes of the current DATA frame; -1 outside of one. */
  #bodyLeft = -1;
  #paddingLeft = 0;
  #isPaused = false;
  /** Number of complete frames. */
  #frames = 0;

  constructor(handler: FrameHandler, maxFrameBytes: number) {
    this.#handler = handler;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Number of the incomplete frame; undefined if there is none, or if it is DATA. */
  get partialFrame(): number | undefined {
    return this.#kept.length > 0 ? this.#frames : undefined;
  }

  /** Stops emitting frames. A handler may call it within a frame other than DATA. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Continues with the buffered bytes. Throws like `push`. */
  resume(): void {
    this.#isPaused = false;
    if (this.#kept.length > 0) this.#take(this.#kept.take());
  }

  /** Reads bytes; buffered ones are copied. Throws Http2Error if the connection must end. */
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

  /** Reads a frame and returns its number of bytes; 0 if it is incomplete. */
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
    // A client that reads a thousand watches sends hundreds of window updates for each event, so they are handled without
    // allocation.
    if (type === frameTypes.windowUpdate || type === frameTypes.resetStream) {
      if (length !== 4) throw new Http2Error(errorCodes.frameSizeError, 'the payload must have 4 bytes');
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
      if (padding >= length) throw new Http2Error(errorCodes.protocolError, 'padding exceeds the frame');
    }
    this.#frames += 1;
    this.#paddingLeft = padding;
    this.#bodyLeft = length - padding - (head - frameHeadBytes);
    this.#handler.dataBegins(stream, flag, length, this.#bodyLeft);
    return head;
  }

  /** Passes DATA on and returns the offset after it. */
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
