import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';

export interface QueuedThreadOptions {
  readonly name: string;
  /** Entry point, without extension. */
  readonly module: URL;
  readonly resourceLimits: ResourceLimits;
  /** Time after which a job fails and the thread is terminated. */
  readonly timeoutMs?: number;
}

interface Job<A> {
  readonly message: unknown;
  readonly transfer: readonly TransferListItem[];
  readonly answer: PromiseWithResolvers<A>;
}

/** Idle time after which the thread exits. */
const idleMs = 30_000;

/**
 * Worker thread that is started on first use and answers one job at a time with one message. A job that exhausts its memory or its time
 * fails alone: those that wait get another thread.
 */
export class QueuedThread<M, A> {
  readonly #options: QueuedThreadOptions;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #jobs: Job<A>[] = [];

  constructor(options: QueuedThreadOptions) {
    this.#options = options;
  }

  ask(message: M, transfer: readonly TransferListItem[] = []): Promise<A> {
    const answer = Promise.withResolvers<A>();
    this.#jobs.push({ message, transfer, answer });
    if (this.#jobs.length === 1) this.#next();
    return answer.promise;
  }

  #next(): void {
    clearTimeout(this.#timer);
    const job = this.#jobs[0];
    if (!job) {
      const worker = this.#worker;
      worker?.unref();
      this.#timer = setTimeout(() => this.#end(), idleMs).unref();
      return;
    }
    const worker = (this.#worker ??= this.#start());
    // The thread keeps the process alive only while a job is pending.
    worker.ref();
    worker.postMessage(job.message, job.transfer);
    const { timeoutMs, name } = this.#options;
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(() => this.#fail(new Error(`the ${name} thread did not answer within ${timeoutMs / 1_000} s`)), timeoutMs);
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

  #settle(settle: (job: Job<A>) => void): void {
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
