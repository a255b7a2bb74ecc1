import { type Expiry, ExpiryQueue } from './expiry-queue.ts';

export interface ExpiriesParts {
  /** Returns true if the write that set the expiry is the newest of its key. */
  isValid(expiry: Expiry): boolean;
  /** Deletes an expired key. */
  expire(expiry: Expiry): void;
  /** Returns true if the store is closed or has failed. */
  isOver(): boolean;
}

/** Maximum delay of a timer. */
const longestMs = 2 ** 31 - 1;

/** Deletes expired keys with a single timer. */
export class Expiries {
  readonly #queue = new ExpiryQueue();
  readonly #parts: ExpiriesParts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ExpiriesParts) {
    this.#parts = parts;
  }

  /** Adds an expiry; call `schedule` after adding one or more. */
  push(expiry: Expiry): void {
    this.#queue.push(expiry);
  }

  schedule(): void {
    this.#queue.prune((expiry) => this.#parts.isValid(expiry));
    const { next } = this.#queue;
    clearTimeout(this.#timer);
    if (!next || this.#parts.isOver()) return;
    this.#timer = setTimeout(() => this.#expire(), Math.min(Math.max(0, next.at - performance.now()) + 1, longestMs));
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #expire(): void {
    const now = performance.now();
    for (let { next } = this.#queue; next && next.at <= now; { next } = this.#queue) {
      this.#queue.pop();
      this.#parts.expire(next);
    }
    this.schedule();
  }
}
