import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';

export interface QueuedThreadOptions {
  readonly name: string;
  /** Entry point, without extension. */
  readonly module: URL;
  readonly resourceLimits: ResourceLimits;
  /** Time after which a job fails with ThreadTimeoutError and the thread is terminated. */
  readonly timeoutMs?: number;
  /** Time after which a job that waits for the thread fails with ThreadTimeoutError. */
  readonly waitMs?: number;
}

/** A job took too long, or never started. */
export class ThreadTimeoutError extends Error {
  readonly hasStarted: boolean;

  constructor(message: string, hasStarted: boolean) {
    super(message);
    this.hasStarted = hasStarted;
  }
}

/** A message to the thread. */
export interface ThreadMessage<M> {
  readonly message: M;
  readonly transfer?: readonly TransferListItem[];
}

interface Job<M, A> {
  readonly make: () => ThreadMessage<M>;
  readonly answer: PromiseWithResolvers<A>;
  /** Time at which the job fails if it has not started, on the clock of `performance.now()`. */
  readonly startBy: number;
}

/** Idle time after which the thread exits. */
const idleMs = 30_000;

/**
 * Worker thread that is started on first use and does one job at a time, with one message for its result. A job that exhausts its memory or
 * its time fails alone: those that wait get another thread.
 */
export class QueuedThread<M, A> implements Disposable {
  readonly #options: QueuedThreadOptions;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #jobs: Job<M, A>[] = [];

  constructor(options: QueuedThreadOptions) {
    this.#options = options;
  }

  /**
   * Returns the answer to the message that `make` returns when it is sent, so that jobs that wait have no copies of their own. `onGone`
   * registers a callback that drops a job that has not started.
   */
  run(make: () => ThreadMessage<M>, onGone?: (leave: () => void) => void): Promise<A> {
    const answer = Promise.withResolvers<A>();
    const { waitMs = Infinity } = this.#options;
    const job = { make, answer, startBy: this.#jobs.length === 0 ? Infinity : performance.now() + waitMs };
    this.#jobs.push(job);
    onGone?.(() => this.#drop(job));
    if (this.#jobs.length === 1) this.#next();
    return answer.promise;
  }

  /** Terminates the thread; pending jobs fail. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#end();
    for (const { answer } of this.#jobs.splice(0)) answer.reject(new Error(`the ${this.#options.name} thread has ended`));
  }

  #next(): void {
    clearTimeout(this.#timer);
    const job = this.#firstInTime();
    if (!job) {
      const worker = this.#worker;
      worker?.unref();
      this.#timer = setTimeout(() => this.#end(), idleMs).unref();
      return;
    }
    const worker = (this.#worker ??= this.#start());
    // The thread keeps the process alive only while a job is pending.
    worker.ref();
    const { message, transfer = [] } = job.make();
    worker.postMessage(message, transfer);
    const { timeoutMs } = this.#options;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#fail(this.#late(timeoutMs, true)), timeoutMs);
  }

  #drop(job: Job<M, A>): void {
    const at = this.#jobs.indexOf(job);
    // The first one has started.
    if (at <= 0) return;
    this.#jobs.splice(at, 1);
    job.answer.reject(new Error(`the client of the ${this.#options.name} thread is gone`));
  }

  /** Returns the first job, without those that have waited too long. */
  #firstInTime(): Job<M, A> | undefined {
    while (this.#jobs[0] && performance.now() > this.#jobs[0].startBy)
      this.#jobs.shift()?.answer.reject(this.#late(this.#options.waitMs ?? 0, false));
    return this.#jobs[0];
  }

  #late(afterMs: number, hasStarted: boolean): ThreadTimeoutError {
    return new ThreadTimeoutError(`the ${this.#options.name} thread did not answer within ${afterMs / 1_000} s`, hasStarted);
  }

  #start(): Worker {
    const { name, module, resourceLimits } = this.#options;
    const isSource = import.meta.url.endsWith('.ts');
    const worker = new Worker(new URL(`${module.href}.${isSource ? 'ts' : 'js'}`), {
      name,
      execArgv: isSource ? ['--conditions=kubenest-source'] : [],
      resourceLimits,
    });
    worker.on('message', (answer: A) => {
      if (worker === this.#worker) this.#settle((job) => job.answer.resolve(answer));
    });
    worker.on('error', (error: Error) => worker === this.#worker && this.#fail(error));
    worker.on('exit', () => worker === this.#worker && this.#fail(new Error(`the ${name} thread exited`)));
    return worker;
  }

  #settle(settle: (job: Job<M, A>) => void): void {
    const job = this.#jobs.shift();
    if (job) settle(job);
    this.#next();
  }

  #fail(error: Error): void {
    this.#end();
    this.#settle((job) => job.answer.reject(error));
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }
}
