import { Worker } from 'node:worker_threads';
import type { CheckpointAnswer, CheckpointWorkerData } from './checkpoint-worker.ts';
import { type CommitFailure, failureOf, type LogWriter } from './log-file.ts';
import { threadOptions } from './thread-options.ts';

/** What is left after the other thread's copies is copied by the one that writes if it is no more, or after so many copies. */
const restBytes = 64 * 1024;
const maxCopies = 4;
/** The log grows no further than to so many times what a checkpoint is for: then writes wait for it. */
const maxBehind = 2;
const waitMs = 10_000;

export interface CheckpointOptions {
  readonly file: string;
  /** After so many bytes the write-ahead log is copied into the file. */
  readonly checkpointBytes: number;
  /** A checkpoint adds no more to the file: then writes wait for it. The reserve has room for it. */
  readonly maxGrowthBytes: number;
}

/**
 * Decides when the write-ahead log is copied into the file. That takes 20 to 80 ms for 4 MiB, which no write should wait for: another thread does
 * it, and this one the little that was written meanwhile, as only a log that was copied whole is used again from its start. Nothing blocks a
 * copy, and a copy blocks no write; while one runs, another is refused. Upstream: sqlite.org/wal.html (PASSIVE).
 */
export class Checkpoints {
  readonly #writer: LogWriter;
  readonly #file: string;
  readonly #checkpointBytes: number;
  readonly #maxGrowthBytes: number;
  readonly #onFailure: (failure: CommitFailure) => void;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  /** Copies of this checkpoint; 0: none is under way. */
  #copies = 0;
  /** Written since the log began anew, but for what is counted by the writer. */
  #behind = 0;
  /** The copy that was asked for last. */
  #asked = 0;

  constructor(
    writer: LogWriter,
    { file, checkpointBytes, maxGrowthBytes }: CheckpointOptions,
    onFailure: (failure: CommitFailure) => void,
  ) {
    this.#writer = writer;
    this.#file = file;
    this.#checkpointBytes = checkpointBytes;
    this.#maxGrowthBytes = maxGrowthBytes;
    this.#onFailure = onFailure;
  }

  /** Before a batch is written: copies the log where it would outgrow the reserve. Returns the failure if that was not possible. */
  makeRoom(batch: ArrayBuffer): CommitFailure | undefined {
    if (this.#writer.growthWith(batch) <= this.#maxGrowthBytes) return undefined;
    this.settle();
    this.#copies = 0;
    this.#behind = 0;
    try {
      this.#writer.checkpoint();
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** After each request. */
  consider(): void {
    const behind = this.#behind + this.#writer.uncheckedBytes;
    if (this.#copies === 0) {
      if (behind >= this.#checkpointBytes) this.#copy();
    } else if (behind >= this.#checkpointBytes * maxBehind) {
      this.settle();
      this.#finish();
    }
  }

  /** Waits for a copy that is under way. */
  settle(): void {
    Atomics.wait(this.#running, 0, 1, waitMs);
  }

  /** Resolves once the file is no longer open here. */
  async close(): Promise<void> {
    this.#worker?.removeAllListeners();
    await this.#worker?.terminate();
  }

  #copy(): void {
    this.#copies += 1;
    this.#behind += this.#writer.uncheckedBytes;
    this.#writer.beginCheckpoint();
    Atomics.store(this.#running, 0, 1);
    this.#worker ??= this.#start();
    this.#worker.postMessage(++this.#asked);
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const workerData: CheckpointWorkerData = { file: this.#file, running: this.#running };
    const worker = new Worker(new URL(`./checkpoint-worker.${extension}`, import.meta.url), {
      ...threadOptions,
      name: 'embedded-checkpoint',
      workerData,
    });
    worker.on('message', (answer: CheckpointAnswer) => this.#copied(answer));
    worker.on('error', (error: Error) => this.#onFailure(failureOf(error)));
    return worker;
  }

  #copied({ copy, error }: CheckpointAnswer): void {
    if (error) this.#onFailure(error);
    if (this.#copies === 0 || copy !== this.#asked) return;
    if (!error && this.#writer.uncheckedBytes > restBytes && this.#copies < maxCopies) this.#copy();
    else this.#finish();
  }

  /** Copies what is left. */
  #finish(): void {
    this.#copies = 0;
    this.#behind = 0;
    if (this.#writer.uncheckedBytes === 0) return;
    try {
      this.#writer.checkpoint();
    } catch (error) {
      this.#onFailure(failureOf(error));
    }
  }
}
