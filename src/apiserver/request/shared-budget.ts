import { ClientGoneError } from './exchange.ts';

/** Gives back what was taken; to be called once. */
export type Release = () => void;

interface Waiting {
  readonly weight: number;
  readonly grant: (release: Release) => void;
  readonly refuse: (reason: ClientGoneError) => void;
}

/**
 * What all requests of the process share of something that there is little of. Who finds it used up waits: owners have their turns one after the
 * other, and each is served in its own order, so that one owner's thousand requests hold another's up by one at a time. A weight above the whole
 * budget is granted when nothing else is held.
 */
export class SharedBudget {
  readonly #limit: number;
  #held = 0;
  /** By owner, in the order of their turns. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is held. */
  get held(): number {
    return this.#held;
  }

  /** At once if there is room and nobody waits. `onGone` is given what is to be called when the client has left, upon which ClientGoneError is thrown. */
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
      // The last in turn from now on.
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
