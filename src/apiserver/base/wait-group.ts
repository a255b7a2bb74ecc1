/** Operations that began between two calls of `earlier`. */
interface Generation {
  count: number;
  readonly leave: () => void;
  readonly ended: PromiseWithResolvers<void>;
}

/** Counts operations in progress and notifies when none is left. */
export class WaitGroup {
  #count = 0;
  #waiting: (() => void)[] = [];
  #current = this.#newGeneration();
  /** Resolves when the operations of all earlier generations have ended. */
  #earlier = Promise.resolve();

  get size(): number {
    return this.#count;
  }

  /** Starts an operation. Returns its end, to be called once. */
  enter(): () => void {
    this.#count += 1;
    this.#current.count += 1;
    return this.#current.leave;
  }

  /** Resolves when no operation is in progress. */
  empty(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the operations that are in progress now have ended, whatever begins later. */
  earlier(): Promise<void> {
    const { count, ended } = this.#current;
    if (count > 0) {
      const before = this.#earlier;
      this.#earlier = ended.promise.then(() => before);
      this.#current = this.#newGeneration();
    }
    return this.#earlier;
  }

  #newGeneration(): Generation {
    const ended = Promise.withResolvers<void>();
    const generation: Generation = {
      count: 0,
      ended,
      leave: () => {
        generation.count -= 1;
        if (generation.count === 0 && generation !== this.#current) ended.resolve();
        this.#count -= 1;
        if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
      },
    };
    return generation;
  }
}
