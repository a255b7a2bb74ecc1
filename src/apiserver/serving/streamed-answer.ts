import type { Buffer } from 'node:buffer';
import type { ResponseStream, StreamKind } from '#apiserver/request/exchange';
import { type Answer, cutOffIfStalled } from './stalled-clients.ts';

/**
 * A streamed response on the response of HTTP/1.1 or the stream of HTTP/2. A list drains only when all written bytes are sent, so that
 * one whose client does not read consists of its head. It is a class because object literals with a getter would each have a shape of their
 * own, whose lookup costs time for each event.
 */
export class StreamedAnswer implements ResponseStream {
  readonly abort: () => void;
  readonly #target: Answer;
  readonly #stalledMs: number;
  readonly #kind: StreamKind;
  /** Called when the bytes of a list are sent. */
  #sent: (() => void) | undefined;

  constructor(target: Answer, stalledMs: number, kind: StreamKind, abort: () => void) {
    this.#target = target;
    this.#stalledMs = stalledMs;
    this.#kind = kind;
    this.abort = abort;
    if (kind === 'list') cutOffIfStalled(target, stalledMs);
  }

  write(bytes: Buffer): boolean {
    const target = this.#target;
    if (target.closed || target.destroyed) return true;
    if (this.#kind === 'open') return target.write(bytes);
    target.write(bytes, this.#sent);
    return false;
  }

  end(): void {
    this.#target.end();
    if (this.#kind === 'open') cutOffIfStalled(this.#target, this.#stalledMs);
  }

  get pendingBytes(): number {
    return this.#target.writableLength;
  }

  onDrain(listener: () => void): void {
    if (this.#kind === 'list') this.#sent = listener;
    else this.#target.on('drain', listener);
  }
}
