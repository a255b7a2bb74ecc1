import type { Steps } from '#apimachinery/runtime/steps';
import { addErrors, type FieldError, maxErrors, Path } from './field.ts';

/** How far a loop has come that a pause has ended. */
interface Loop<S> {
  next: number;
  readonly errors: FieldError[];
  readonly state: S;
}

/** What a validation in steps has found before it paused: of each container by the place. */
class Found {
  readonly #loops = new Map<object, Map<unknown, Loop<unknown>>>();
  #began = 0;
  #pauseAt: number | undefined;
  /** The loop that the last step was left in, until it goes on. */
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
   * Throws once the step has had its time, which begins with the first loop that goes on, and is as long at least as what was done before that, as it is done in
   * each step. Where a loop was left and does not go on, since its container is made anew by each validation, there are no pauses any more.
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
/** The time is asked for after so many items. */
const itemsPerLook = 128;

class Pause extends Error {}

/** One for all, since nobody wants to know where it was thrown. */
const pause = new Pause('a validation in steps has paused');

let found: Found | undefined;

/**
 * A validation in steps: a loop of `checkEach` ends it when a step has had its time, and it is begun anew in the next one, where the loop goes on and those
 * before it give what they have found. So it must find the same each time, and change nothing.
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

/** What is wrong with each item of a container: `visit` adds to the errors. As `checkEach`, for visits that need to know nothing of others. */
export function errorsOfEach<T>(
  container: object,
  place: Place,
  items: readonly T[],
  visit: (errors: FieldError[], item: T, index: number) => void,
): FieldError[] {
  return checkEach(container, place, items, noState, visit).errors;
}

/** Adds what is wrong with each item of a list, as `errorsOfEach` finds it. Throws TooManyErrors. */
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

/** The path of what is checked, or who checks it: tells loops over the same container apart. */
type Place = Path | object;

/**
 * The errors of all items (of more than `maxErrors`, of the first), and the state that their visits shared. Within `validatingSteps` the loop may be left between two items, and during one that has
 * loops of its own, which is then visited again: what a visit leaves in the state for later ones, it leaves last.
 */
export function checkEach<T, S>(
  container: object,
  place: Place,
  items: readonly T[],
  newState: () => S,
  visit: (errors: FieldError[], item: T, index: number, state: S) => void,
): { readonly errors: FieldError[]; readonly state: S } {
  // Of very many short lists, what each has found would take more than they do.
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
  // Who gets them may add to them, and a later step asks for them again.
  return { errors: [...errors], state };
}
