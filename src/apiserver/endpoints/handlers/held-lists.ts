/** Room that a list holds. */
export interface HeldRoom {
  /** Corrects the number of bytes, once it is known; it may exceed the budget, so that further lists wait. */
  resize(bytes: number): void;
  /** Gives the room back; to be called once. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** Multiple of the limit up to which owners that hold nothing get room for one list. */
const limitOfFirstLists = 8;

/**
 * Budget of lists that are buffered whole until their clients have read them and share no items with other lists. It prevents a
 * client that requests many selections and reads none from exhausting the memory. Owners, which are users, wait in turn, and one that holds
 * nothing does not wait for lists that others do not read.
 */
export class HeldLists {
  readonly #limit: number;
  #held = 0;
  /** Number of held lists by owner. */
  readonly #owners = new Map<string, number>();
  /** Waiting lists by owner, in the order of service. */
  readonly #lines = new Map<string, Set<Waiting>>();

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  /**
   * Takes bytes from the budget if they fit or nothing else is held; undefined if there is no room.
   */
  tryHold(owner: string, bytes: number): HeldRoom | undefined {
    if (!this.#hasRoom(owner, bytes)) return undefined;
    let held = 0;
    const resize = (size: number): void => {
      this.#held += size - held;
      held = size;
    };
    resize(bytes);
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    return {
      resize: (size) => {
        const shrinks = size < held;
        resize(size);
        if (shrinks) this.#beginNext();
      },
      release: () => {
        resize(0);
        const left = (this.#owners.get(owner) ?? 1) - 1;
        if (left > 0) this.#owners.set(owner, left);
        else this.#owners.delete(owner);
        this.#beginNext();
      },
    };
  }

  /** Calls `begin` when there is room, in the order of the owner's calls. Returns the cancellation. */
  whenRoom(owner: string, bytes: number, begin: () => void): () => void {
    const waiting: Waiting = { bytes, begin };
    const line = this.#lines.get(owner) ?? new Set();
    this.#lines.set(owner, line.add(waiting));
    return () => {
      line.delete(waiting);
      if (line.size === 0 && this.#lines.get(owner) === line) this.#lines.delete(owner);
    };
  }

  #hasRoom(owner: string, bytes: number): boolean {
    if (this.#held === 0) return true;
    const limit = this.#owners.has(owner) ? this.#limit : this.#limit * limitOfFirstLists;
    return this.#held + bytes <= limit;
  }

  #beginNext(): void {
    while (this.#beginOfEach());
  }

  /**
   * Begins the first list of each owner if there is room; owners that were served move to the end of the order. Behind a list without room
   * only owners that hold nothing are served. Returns true if a list began.
   */
  #beginOfEach(): boolean {
    let hasBegun = false;
    let isBlocked = false;
    for (const [owner, line] of [...this.#lines]) {
      const [next] = line;
      if (!next || (isBlocked && this.#owners.has(owner))) continue;
      if (!this.#hasRoom(owner, next.bytes)) {
        isBlocked = true;
        continue;
      }
      line.delete(next);
      this.#lines.delete(owner);
      if (line.size > 0) this.#lines.set(owner, line);
      hasBegun = true;
      next.begin();
    }
    return hasBegun;
  }
}
