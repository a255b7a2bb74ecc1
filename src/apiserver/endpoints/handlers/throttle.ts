import type { Buffer } from 'node:buffer';
import { Transform, type TransformCallback } from 'node:stream';

/** What is sent in one go, as a part of what may go in a second: the stream is slow then, and does not stutter. */
const slicesPerSecond = 10;

/** Lets so many bytes a second through, and holds up whoever sends more. Upstream: mxk/go-flowrate, as apimachinery/pkg/util/proxy uses it. */
export class Throttle extends Transform {
  readonly #slice: number;
  readonly #bytesPerSecond: number;
  /** When all that was let through has had its time, by performance.now(). */
  #paidUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesPerSecond: number) {
    super();
    this.#bytesPerSecond = bytesPerSecond;
    this.#slice = Math.max(1, Math.floor(bytesPerSecond / slicesPerSecond));
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const next = (from: number): void => {
      if (from >= bytes.length) return done();
      const slice = bytes.subarray(from, from + this.#slice);
      const now = performance.now();
      const wait = this.#paidUntil - now;
      if (wait > 0) {
        this.#timer = setTimeout(() => next(from), wait);
        return;
      }
      this.#paidUntil = Math.max(this.#paidUntil, now) + (slice.length * 1_000) / this.#bytesPerSecond;
      this.push(slice);
      next(from + slice.length);
    };
    next(0);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    done(error);
  }
}
