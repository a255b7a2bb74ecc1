interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Budget of lists that are buffered whole until their clients have read them and share no items with other lists. It prevents a
 * client that requests many selections and reads none from exhausting the memory.
 */
export class HeldLists {
  readonly #limit: number;
  #held = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /**
   * Takes bytes from the budget if they fit or nothing else is held. Returns their release, to be called once; undefined if there
   * is no room.
   */
  tryHold(bytes: number): (() => void) | undefined {
    if (this.#held > 0 && this.#held + bytes > this.#limit) return undefined;
    this.#held += bytes;
    return () => {
      this.#held -= bytes;
      this.#beginNext();
    };
  }

  /** Calls `begin` when there is room, in the order of the calls. Returns the cancellation. */
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
