/** So many bytes (each entry counts for some, too) may wait for the other thread. */
const maxBytes = 16 << 20;
const entryBytes = 1_024;

/** What an entry and its byte strings count for. */
export function weightOf(entries: number, bytes: number): number {
  return entries * entryBytes + bytes;
}

/**
 * How far one thread is behind with what another tells it. The one that tells stands still while that is too much, as it
 * would if it did the work itself: then it reads nothing more, and its clients wait.
 */
export class Backlog {
  /** What the other thread has done with, in all; like `#told` it goes round. */
  readonly #done: Int32Array<SharedArrayBuffer>;
  #told = 0;

  /** `shared`: of both threads, 4 bytes. */
  constructor(shared: SharedArrayBuffer) {
    this.#done = new Int32Array(shared);
  }

  /** To be called before so much is told; returns once the other thread has caught up. */
  tell(weight: number): void {
    for (;;) {
      const done = Atomics.load(this.#done, 0);
      if (((this.#told - done) | 0) <= maxBytes) break;
      Atomics.wait(this.#done, 0, done);
    }
    this.#told = (this.#told + weight) | 0;
  }

  /** To be called by the other thread. */
  done(weight: number): void {
    Atomics.add(this.#done, 0, weight);
    Atomics.notify(this.#done, 0);
  }
}
