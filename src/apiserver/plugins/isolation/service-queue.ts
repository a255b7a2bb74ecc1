import { ConcurrencyLimit } from '#apiserver/base/concurrency-limit';

/** Reads that the server performs at a time for a thread, answers that the thread has not received included. */
const maxInProgress = 16;
const maxWaiting = 10_000;

/**
 * The reads of one worker thread through the client of the server. A few are in progress at a time, until the thread has received their
 * answers: lists that it does not take would otherwise fill the memory of the server.
 */
export class ServiceQueue {
  readonly #limit = new ConcurrencyLimit(maxInProgress);
  readonly #unread = new Map<number, () => void>();
  #waiting = 0;

  /** `overflowed` is called if too many reads wait. */
  constructor(private readonly overflowed: () => void) {}

  /** Calls `answer`, which sends the answer to the read of this number, when its turn has come. */
  async run(id: number, answer: () => Promise<void>): Promise<void> {
    if (this.#waiting >= maxWaiting) return this.overflowed();
    this.#waiting += 1;
    await this.#limit.run(async () => {
      this.#waiting -= 1;
      const received = new Promise<void>((resolve) => this.#unread.set(id, resolve));
      await answer();
      await received;
    });
  }

  /** The thread has received the answer to a read. */
  received(id: number): void {
    this.#unread.get(id)?.();
    this.#unread.delete(id);
  }
}
