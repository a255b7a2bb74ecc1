/** Counts operations in progress and notifies when none is left. */
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

  /** Starts an operation. Returns its end, to be called once. */
  enter(): () => void {
    this.#count += 1;
    return this.#leave;
  }

  /** Resolves when no operation is in progress. */
  empty(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
