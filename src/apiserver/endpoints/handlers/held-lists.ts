interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * The bytes of lists that are held whole until their clients have taken them, of items that no other list shares: a client that asks for many
 * with different selectors, and reads none, must not fill the process with them.
 */
export class HeldLists {
  readonly #limit: number;
  #held = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /** Counts a list of so many bytes if there is room for it, or no other. Returns what lets go of it, to be called once. */
  tryHold(bytes: number): (() => void) | undefined {
    if (this.#held > 0 && this.#held + bytes > this.#limit) return undefined;
    this.#held += bytes;
    return () => {
      this.#held -= bytes;
      this.#beginNext();
    };
  }

  /** Waits until there is room, in the order of the calls. Returns what gives up the wait. */
  whenRoom(bytes: number, begin: () => void): () => void {
    const waiting: Waiting = { bytes, begin };
    this.#waiting.add(waiting);
    return () => this.#waiting.delete(waiting);
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#held > 0 && this.#held + waiting.bytes > this.#limit) return;
      this.#waiting.delete(waiting);
      waiting.begin();
    }
  }
}
