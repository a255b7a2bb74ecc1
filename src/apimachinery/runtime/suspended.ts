import { inSteps, type Steps } from './steps.ts';

/** Thrown out of a computation that needs a pending result. The computation restarts when the promise resolves. */
export class Suspended extends Error {
  readonly until: Promise<unknown>;

  constructor(until: Promise<unknown>) {
    super('evaluation suspended');
    this.until = until;
  }
}

/** The calls of one computation to other threads, with their results so far. */
class RemoteCalls {
  readonly #results = new Map<string, unknown>();
  #pending: Promise<void>[] = [];
  /** True if parts of the computation keep their results over a restart, so none of them may complete with a placeholder. */
  readonly keepsResults: boolean;

  constructor(keepsResults: boolean) {
    this.keepsResults = keepsResults;
  }

  get arePending(): boolean {
    return this.#pending.length > 0;
  }

  /** Returns the result of a call; undefined if it is pending. `start` is called once for each key. */
  result<T>(key: string, start: () => Promise<T>): T | undefined {
    if (!this.#results.has(key)) {
      this.#results.set(key, undefined);
      const pending = start().then((result) => {
        this.#results.set(key, result);
      });
      // Chunked work may wait for it later.
      pending.catch(() => {});
      this.#pending.push(pending);
    }
    return this.#results.get(key) as T | undefined;
  }

  /** Resolves when the pending calls have results; rejects if one of them fails. */
  async complete(): Promise<void> {
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

  /** Returns what the computation has to wait for: the pending calls, or the Suspended that it threw. Throws any other error. */
  waitAfter(error: unknown): Promise<unknown> {
    if (this.arePending) return this.complete();
    if (error instanceof Suspended) return error.until;
    throw error;
  }
}

/** The calls of the computation that runs now. */
let current: RemoteCalls | undefined;

/**
 * Calls another thread within a computation that can restart. Returns the result, `placeholder` while it is pending, or undefined if the
 * current computation cannot restart. After a placeholder the computation continues, so that all its calls are collected in one run, but
 * its result is discarded. `call` returns a key that identifies the call, and the function that starts it.
 */
export function callElsewhere<T>(call: () => readonly [key: string, start: () => Promise<T>], placeholder: T): T | undefined {
  return current && (current.result(...call()) ?? placeholder);
}

/**
 * Called where a result may be kept. Throws Suspended if it depends on a placeholder; without `when`, only in computations some of whose
 * results outlive a restart.
 */
export function refusePlaceholders(when?: 'always'): void {
  if (current?.arePending && (when === 'always' || current.keepsResults)) throw new Suspended(current.complete());
}

/**
 * Runs a computation and restarts it after each suspension. Returns a promise only if it was suspended. The computation must
 * have no side effects before it completes.
 */
export function settled<T>(compute: () => T): T | Promise<T> {
  return attempt(compute, new RemoteCalls(true));
}

/** Like `settled`, for a computation none of whose results outlive a restart. */
export function settledAnew<T>(compute: () => T): T | Promise<T> {
  return attempt(compute, new RemoteCalls(false));
}

function attempt<T>(compute: () => T, calls: RemoteCalls): T | Promise<T> {
  let wait: Promise<unknown>;
  try {
    const result = calls.during(compute);
    if (!calls.arePending) return result;
    wait = calls.complete();
  } catch (error) {
    wait = calls.waitAfter(error);
  }
  return wait.then(() => attempt(compute, calls));
}

/** Like `settledAnew`, for chunked work, which `begin` restarts after each suspension. */
export async function settledSteps<T>(begin: () => Steps<T>): Promise<T> {
  const calls = new RemoteCalls(false);
  for (;;) {
    try {
      const result = await inSteps(stepsDuring(calls, begin));
      if (!calls.arePending) return result;
      await calls.complete();
    } catch (error) {
      await calls.waitAfter(error);
    }
  }
}

function* stepsDuring<T>(calls: RemoteCalls, begin: () => Steps<T>): Steps<T> {
  const steps = calls.during(begin);
  for (;;) {
    const step = calls.during(() => steps.next());
    if (step.done) return step.value;
    yield;
  }
}
