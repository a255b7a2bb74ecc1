import type { Steps } from '#apimachinery/runtime/steps';
import { addErrors, type FieldError, maxErrors, Path } from './field.ts';

/** Progress of a loop that was paused. */
interface Loop<S> {
  next: number;
  readonly errors: FieldError[];
  readonly state: S;
}

/** Results of a chunked validation before its pause: for each container, by path. */
class Found {
  readonly #loops = new Map<object, Map<unknown, Loop<unknown>>>();
  #began = 0;
  #pauseAt: number | undefined;
  /** The loop that the last chunk paused in, until it continues. */
  #left: Loop<unknown> | undefined;

  begin(): void {
    this.#began = performance.now();
    this.#pauseAt = undefined;
  }

  loop<S>(container: object, place: Place, newState: () => S): Loop<S> {
    let ofContainer = this.#loops.get(container);
    if (!ofContainer) this.#loops.set(container, (ofContainer = new Map()));
    const key = place instanceof Path ? String(place) : place;
    let loop = ofContainer.get(key) as Loop<S> | undefined;
    if (!loop) ofContainer.set(key, (loop = { next: 0, errors: [], state: newState() }));
    if (loop === this.#left) this.#left = undefined;
    return loop;
  }

  /**
   * Throws when the time of the chunk is over. The time starts with the first loop that continues, and is at least as long as the part
   * before that loop, which each chunk repeats. If the paused loop does not continue, because its container is recreated by each run,
   * pauses are disabled.
   */
  pauseIfDue(loop: Loop<unknown>): void {
    if (this.#left) return;
    const now = performance.now();
    this.#pauseAt ??= now + Math.max(stepMs, now - this.#began);
    if (now < this.#pauseAt) return;
    this.#left = loop;
    throw pause;
  }
}

const stepMs = 5;
/** Number of items between two checks of the clock. */
const itemsPerLook = 128;

class Pause extends Error {}

/** A shared instance, since its stack is not needed. */
const pause = new Pause('a validation in steps has paused');

/** True for the signal of a pause, which code between a validation and its runner must let pass. */
export function isPause(error: unknown): boolean {
  return error instanceof Pause;
}

let found: Found | undefined;

/**
 * Runs a validation in chunks: a loop of `checkEach` aborts it when the time of a chunk is over, and the next chunk restarts it, continues
 * that loop and reuses the results of earlier loops. The validation must therefore be deterministic and have no side effects.
 */
export function* validatingSteps<T>(validation: () => T): Steps<T> {
  const mine = new Found();
  for (;;) {
    mine.begin();
    found = mine;
    try {
      return validation();
    } catch (error) {
      if (error !== pause) throw error;
    } finally {
      found = undefined;
    }
    yield;
  }
}

/** Returns the errors of each item of a container, which `visit` appends. Like `checkEach`, for visits that share no state. */
export function errorsOfEach<T>(
  container: object,
  place: Place,
  items: readonly T[],
  visit: (errors: FieldError[], item: T, index: number) => void,
): FieldError[] {
  return checkEach(container, place, items, noState, visit).errors;
}

/** Appends the errors of each item of a list, like `errorsOfEach`. Throws TooManyErrors. */
export function addErrorsOfEach<T>(
  errors: FieldError[],
  items: readonly T[],
  path: Path,
  visit: (errors: FieldError[], item: T, path: Path) => void,
): void {
  addErrors(
    errors,
    errorsOfEach(items, path, items, (found, item, i) => visit(found, item, path.index(i))),
  );
}

const noState = (): undefined => undefined;

/** The path of the container, or the checker: distinguishes loops over the same container. */
type Place = Path | object;

/**
 * Returns the errors of all items (at most the first `maxErrors`), and the state that the visits share. Within `validatingSteps` the loop
 * may pause between two items, and during a visit with nested loops, which is then repeated: a visit must change the shared state last.
 */
export function checkEach<T, S>(
  container: object,
  place: Place,
  items: readonly T[],
  newState: () => S,
  visit: (errors: FieldError[], item: T, index: number, state: S) => void,
): { readonly errors: FieldError[]; readonly state: S } {
  // Results of very many short lists would take more memory than the lists.
  if (!found || items.length < 2) {
    const errors: FieldError[] = [];
    const state = newState();
    for (let i = 0; i < items.length && errors.length <= maxErrors; i++) visit(errors, items[i]!, i, state);
    return { errors, state };
  }
  const loop = found.loop(container, place, newState);
  const { errors, state } = loop;
  for (; loop.next < items.length && errors.length <= maxErrors; loop.next++) {
    if (loop.next % itemsPerLook === 0) found.pauseIfDue(loop);
    const before = errors.length;
    try {
      visit(errors, items[loop.next]!, loop.next, state);
    } catch (error) {
      if (error === pause) errors.length = before;
      throw error;
    }
  }
  // A copy, since the caller may append to it, and a later chunk reads the results again.
  return { errors: [...errors], state };
}
