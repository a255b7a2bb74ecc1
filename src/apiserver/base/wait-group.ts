/** Counts what is under way and tells when there is none left. */
export class WaitGroup {
  #count = 0;
  #waiting: (() => void)[] = [];
  readonly #leave = (): void => {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  };

  get size(): number {
    return this.#count;
  }

  /** Returns what to call once, when it is over. */
  enter(): () => void {
    this.#count += 1;
    return this.#leave;
  }

  /** Resolves when nothing is under way. */
  empty(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
