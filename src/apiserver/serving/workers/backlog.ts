/** Maximum weight of unprocessed entries in bytes. */
const maxBytes = 16 << 20;
const entryBytes = 1_024;

/** Returns the weight of entries and their byte strings. */
export function weightOf(entries: number, bytes: number): number {
  return entries * entryBytes + bytes;
}

/**
 * Measures how far one thread is behind the messages of another. The sender blocks while the backlog is too large, as if it did the
 * work itself: it stops reading, so its clients wait.
 */
export class Backlog {
  /** Total processed weight; like `#sent`, it wraps around. */
  readonly #done: Int32Array<SharedArrayBuffer>;
  #sent = 0;

  /** `shared` has 4 bytes and belongs to both threads. */
  constructor(shared: SharedArrayBuffer) {
    this.#done = new Int32Array(shared);
  }

  /** Adds to the backlog before sending. Blocks until the receiver has caught up. */
  add(weight: number): void {
    for (;;) {
      const done = Atomics.load(this.#done, 0);
      if (((this.#sent - done) | 0) <= maxBytes) break;
      Atomics.wait(this.#done, 0, done);
    }
    this.#sent = (this.#sent + weight) | 0;
  }

  /** Subtracts from the backlog; called by the receiver. */
  done(weight: number): void {
    Atomics.add(this.#done, 0, weight);
    Atomics.notify(this.#done, 0);
  }
}
