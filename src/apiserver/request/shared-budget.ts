import { ClientGoneError } from './exchange.ts';

/** Releases a grant. Call it once. */
export type Release = () => void;

interface Waiting {
  readonly weight: number;
  readonly grant: (release: Release) => void;
  readonly refuse: (reason: ClientGoneError) => void;
}

/**
 * A limited resource that all requests of the process share. If it is exhausted, requests wait: owners are served round-robin and
 * each owner in its own order, so that a thousand requests of one owner delay another owner by one request at a time. A weight
 * above the whole budget is granted when nothing else is held.
 */
export class SharedBudget {
  readonly #limit: number;
  #held = 0;
  /** Waiting requests by owner, in the order of service. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Sum of the held weights. */
  get held(): number {
    return this.#held;
  }

  /**
   * Returns the release of a grant: immediately if there is room and no request is queued, otherwise a promise. `onGone` registers
   * a callback for the client's disconnection, which rejects with ClientGoneError.
   */
  take(owner: string, weight: number, onGone: (listener: () => void) => void): Release | Promise<Release> {
    if (this.#lines.size === 0 && this.#fits(weight)) return this.#grant(weight);
    return new Promise((grant, refuse) => {
      const waiting: Waiting = { weight, grant, refuse };
      const line = this.#lines.get(owner);
      if (line) line.push(waiting);
      else this.#lines.set(owner, [waiting]);
      onGone(() => this.#leave(owner, waiting));
    });
  }

  #fits(weight: number): boolean {
    return this.#held === 0 || this.#held + weight <= this.#limit;
  }

  #grant(weight: number): Release {
    this.#held += weight;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= weight;
      this.#serve();
    };
  }

  #serve(): void {
    for (const [owner, line] of this.#lines) {
      const [next] = line;
      if (!next || !this.#fits(next.weight)) return;
      line.shift();
      // Moves the owner to the end of the order.
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      next.grant(this.#grant(next.weight));
    }
  }

  #leave(owner: string, waiting: Waiting): void {
    const line = this.#lines.get(owner);
    const at = line?.indexOf(waiting) ?? -1;
    if (!line || at < 0) return;
    line.splice(at, 1);
    waiting.refuse(new ClientGoneError('the client closed the connection'));
    if (line.length === 0) this.#lines.delete(owner);
    this.#serve();
  }
}
