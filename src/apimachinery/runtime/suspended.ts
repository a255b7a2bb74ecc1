import { inSteps, type Steps } from './steps.ts';

/** Thrown out of a computation that needs a pending answer. The computation restarts when the promise resolves. */
export class Suspended extends Error {
  readonly until: Promise<unknown>;

  constructor(until: Promise<unknown>) {
    super('evaluation suspended');
    this.until = until;
  }
}

/** The questions of one computation that other threads answer, with the answers so far. */
class Questions {
  readonly #answers = new Map<string, unknown>();
  #pending: Promise<void>[] = [];
  /** True if parts of the computation keep their results over a restart, so none of them may complete with a guess. */
  readonly keepsResults: boolean;

  constructor(keepsResults: boolean) {
    this.keepsResults = keepsResults;
  }

  get areOpen(): boolean {
    return this.#pending.length > 0;
  }

  /** Returns the answer; undefined if it is pending. `ask` is called once for each key. */
  answer<T>(key: string, ask: () => Promise<T>): T | undefined {
    if (!this.#answers.has(key)) {
      this.#answers.set(key, undefined);
      const pending = ask().then((answer) => {
        this.#answers.set(key, answer);
      });
      // Chunked work may wait for it later.
      pending.catch(() => {});
      this.#pending.push(pending);
    }
    return this.#answers.get(key) as T | undefined;
  }

  async answered(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await Promise.all(pending);
  }

  /** Runs a synchronous part of the computation. */
  during<T>(work: () => T): T {
    const outer = current;
    current = this;
    try {
      return work();
    } finally {
      current = outer;
    }
  }

  /** Returns what the computation has to wait for: the open questions, or what it threw. Throws any other error. */
  waitAfter(error: unknown): Promise<unknown> {
    if (this.areOpen) return this.answered();
    if (error instanceof Suspended) return error.until;
    throw error;
  }
}

/** The questions of the computation that runs now. */
let current: Questions | undefined;

/**
 * Asks another thread within a computation that can restart. Returns the answer, `guess` while it is pending, or undefined if the current
 * computation cannot restart. After a guess the computation continues, so that all its questions are collected in one run, but its result is
 * discarded. `question` returns a key that identifies it, and asks.
 */
export function askElsewhere<T>(question: () => readonly [key: string, ask: () => Promise<T>], guess: T): T | undefined {
  return current && (current.answer(...question()) ?? guess);
}

/**
 * Called where a result may be kept. Throws Suspended if it depends on a guess; without `when`, only in computations some of whose
 * results outlive a restart.
 */
export function refuseGuesses(when?: 'always'): void {
  if (current?.areOpen && (when === 'always' || current.keepsResults)) throw new Suspended(current.answered());
}

/**
 * Runs a computation and restarts it after each suspension. Returns a promise only if it was suspended. The computation must
 * have no side effects before it completes.
 */
export function settled<T>(compute: () => T): T | Promise<T> {
  return attempt(compute, new Questions(true));
}

/** Like `settled`, for a computation none of whose results outlive a restart. */
export function settledAnew<T>(compute: () => T): T | Promise<T> {
  return attempt(compute, new Questions(false));
}

function attempt<T>(compute: () => T, questions: Questions): T | Promise<T> {
  let wait: Promise<unknown>;
  try {
    const result = questions.during(compute);
    if (!questions.areOpen) return result;
    wait = questions.answered();
  } catch (error) {
    wait = questions.waitAfter(error);
  }
  return wait.then(() => attempt(compute, questions));
}

/** Like `settledAnew`, for chunked work, which `begin` restarts after each suspension. */
export async function settledSteps<T>(begin: () => Steps<T>): Promise<T> {
  const questions = new Questions(false);
  for (;;) {
    try {
      const result = await inSteps(stepsDuring(questions, begin));
      if (!questions.areOpen) return result;
      await questions.answered();
    } catch (error) {
      await questions.waitAfter(error);
    }
  }
}

function* stepsDuring<T>(questions: Questions, begin: () => Steps<T>): Steps<T> {
  const steps = questions.during(begin);
  for (;;) {
    const step = questions.during(() => steps.next());
    if (step.done) return step.value;
    yield;
  }
}
