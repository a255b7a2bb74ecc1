import { Buffer } from 'node:buffer';
import type { Steps } from '#apimachinery/runtime/steps';

/** Receives the frames of a client from which the server expects no messages. */
export interface FrameListener {
  ping(payload: Buffer): void;
  close(): void;
  /** Called for an unmasked frame, which clients must not send: RFC 6455, 5.1. */
  unmasked(): void;
}

const opcodes = { close: 0x8, ping: 0x9 };
/** Maximum payload of a ping that is answered. RFC 6455, 5.5. */
const maxControlBytes = 125;
/** Maximum frame size; a larger frame closes the connection. Upstream: golang.org/x/net/websocket (DefaultMaxPayloadBytes). */
const maxFrameBytes = 32 * 1024 * 1024;

/** Parses the frames of a client incrementally and discards message payloads. RFC 6455, 5.2. */
export class ClientFrames {
  /** Received bytes of the frame's header. */
  #head: number[] = [];
  #opcode = 0;
  #mask: readonly number[] = [];
  /** Remaining bytes of the payload; undefined until the header is complete. */
  #left: number | undefined;
  #at = 0;
  #payload: number[] = [];
  #isOver = false;

  constructor(private readonly listener: FrameListener) {}

  *read(bytes: Buffer): Steps<void> {
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      if (this.#left === undefined) this.#takeHead(bytes[at++] as number);
      else at = this.#takePayload(bytes, at, this.#left);
      if (this.#left !== 0) continue;
      this.#finish();
      yield;
    }
  }

  #takeHead(byte: number): void {
    const head = this.#head;
    head.push(byte);
    if (head.length < 2) return;
    if (((head[1] as number) & 0x80) === 0) return this.#end(() => this.listener.unmasked());
    const short = (head[1] as number) & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (head.length < 2 + lengthBytes + 4) return;
    const length = lengthBytes === 0 ? short : head.slice(2, 2 + lengthBytes).reduce((sum, next) => sum * 256 + next, 0);
    if (length > maxFrameBytes) return this.#end(() => this.listener.close());
    this.#opcode = (head[0] as number) & 0xf;
    this.#mask = head.slice(-4);
    this.#left = length;
    this.#at = 0;
    this.#head = [];
  }

  #takePayload(bytes: Buffer, from: number, left: number): number {
    const end = Math.min(bytes.length, from + left);
    if (this.#opcode === opcodes.ping)
      for (let at = from; at < end && this.#at < maxControlBytes; at += 1, this.#at += 1)
        this.#payload.push((bytes[at] as number) ^ (this.#mask[this.#at % 4] as number));
    this.#left = left - (end - from);
    return end;
  }

  #finish(): void {
    const payload = Buffer.from(this.#payload);
    this.#left = undefined;
    this.#payload = [];
    if (this.#opcode === opcodes.ping) this.listener.ping(payload);
    else if (this.#opcode === opcodes.close) this.#end(() => this.listener.close());
  }

  #end(notify: () => void): void {
    this.#isOver = true;
    notify();
  }
}
