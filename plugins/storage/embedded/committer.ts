import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { CommitWorkerData } from './commit-worker.ts';
import { answer, type CommitAnswer, type CommitFailure, type CommitRequest, failureOf, LogWriter } from './log-file.ts';
import { threadOptions } from './thread-options.ts';

/** The writer of the log: a worker thread or the main thread. */
export interface Committer {
  /** Sends a request. `done` is called asynchronously; calls are in the order of the requests. */
  request(request: CommitRequest, done: (answer: CommitAnswer) => void): void;
  /** Stops without answering pending requests. */
  terminate(): Promise<void>;
}

/**
 * Sends requests to a worker thread. Until the thread runs (about 40 ms), the main thread processes them, so that a starting
 * server need not wait. `onFailure` is called when the thread dies (with code 0) or fails outside of a request.
 */
export class WorkerCommitter implements Committer {
  readonly #worker: Worker;
  readonly #waiting: ((answer: CommitAnswer) => void)[] = [];
  #next = 0;
  #untilReady: InlineCommitter | undefined;

  constructor(database: DatabaseSync, data: CommitWorkerData, onFailure: (failure: CommitFailure) => void) {
    this.#untilReady = new InlineCommitter(database, data.quotaBytes);
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    this.#worker = new Worker(new URL(`./commit-worker.${extension}`, import.meta.url), {
      ...threadOptions,
      workerData: data,
      name: 'embedded-storage',
    });
    this.#worker.on('message', (message: CommitAnswer) => {
      if (message.ready) this.#untilReady = undefined;
      else if (message.unasked) onFailure(message.unasked);
      else this.#shift()(message);
    });
    this.#worker.on('error', (error: Error) => onFailure(failureOf(error)));
    this.#worker.on('exit', () => {
      if (this.#next < this.#waiting.length) onFailure({ message: 'the writer thread has ended', code: 0 });
    });
  }

  request(request: CommitRequest, done: (answer: CommitAnswer) => void): void {
    if (this.#untilReady && request.type === 'close') {
      void this.terminate().then(() => done({}));
      return;
    }
    if (this.#untilReady && request.type !== 'restoreReserve') {
      this.#untilReady.request(request, done);
      return;
    }
    this.#waiting.push(done);
    this.#worker.postMessage(request, request.type === 'append' ? [request.batch] : []);
  }

  async terminate(): Promise<void> {
    this.#worker.removeAllListeners();
    await this.#worker.terminate();
  }

  #shift(): (answer: CommitAnswer) => void {
    const done = this.#waiting[this.#next++]!;
    if (this.#next === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#next = 0;
    }
    return done;
  }
}

/** Writes synchronously on the main thread, for in-memory stores. */
export class InlineCommitter implements Committer {
  readonly #writer: LogWriter;

  constructor(database: DatabaseSync, quotaBytes: number) {
    this.#writer = new LogWriter(database, { quotaBytes, reserve: undefined });
  }

  request(request: CommitRequest, done: (answer: CommitAnswer) => void): void {
    const message = answer(this.#writer, request);
    queueMicrotask(() => done(message));
  }
  async terminate(): Promise<void> {}
}
