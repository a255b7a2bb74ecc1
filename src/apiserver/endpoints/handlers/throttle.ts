import type { Buffer } from 'node:buffer';
import { Transform, type TransformCallback } from 'node:stream';

/** Number of slices per second; a slice is sent at once, so that the stream is slow but even. */
const slicesPerSecond = 10;

/**
 * Limits a stream to a number of bytes per second, with backpressure. Upstream: mxk/go-flowrate, as apimachinery/pkg/util/proxy
 * uses it.
 */
export class Throttle extends Transform {
  readonly #slice: number;
  readonly #bytesPerSecond: number;
  /** Time of performance.now() at which the sent bytes are within the rate. */
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
