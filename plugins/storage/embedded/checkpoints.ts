import { Worker } from 'node:worker_threads';
import type { CheckpointAnswer, CheckpointWorkerData } from './checkpoint-worker.ts';
import { type CommitFailure, failureOf, type LogWriter } from './log-file.ts';
import { threadOptions } from './thread-options.ts';

/**
 * When less than this remains after the checkpoint thread's copies, or after `maxCopies`, the writer copies the rest itself.
 */
const restBytes = 64 * 1024;
const maxCopies = 4;
/** Limit of the log size as a multiple of `checkpointBytes`; beyond it, writes wait for the checkpoint. */
const maxBehind = 2;
const waitMs = 10_000;

export interface CheckpointOptions {
  readonly file: string;
  /** Size of the write-ahead log that triggers a checkpoint. */
  readonly checkpointBytes: number;
  /**
   * Limit of the file's growth by one checkpoint, for which the reserve has room; beyond it, writes wait for the checkpoint.
   */
  readonly maxGrowthBytes: number;
}

/**
 * Decides when the write-ahead log is copied into the database file. Copying 4 MiB takes 20 to 80 ms, which writes should
 * not wait for: a separate thread copies, and the writer copies only the small rest, because SQLite restarts the log only
 * after it was copied completely. Copies and writes do not block each other; a second concurrent copy is refused. Upstream:
 * sqlite.org/wal.html (PASSIVE).
 */
export class Checkpoints {
  readonly #writer: LogWriter;
  readonly #file: string;
  readonly #checkpointBytes: number;
  readonly #maxGrowthBytes: number;
  readonly #onFailure: (failure: CommitFailure) => void;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #worker: Worker | undefined;
  /** Number of copies of the current checkpoint; 0: none is running. */
  #copies = 0;
  /** Bytes written since the log restarted, except those counted by the writer. */
  #behind = 0;
  /** Number of the last requested copy. */
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

  /**
   * Called before a batch is written: copies the log if it would outgrow the reserve. Returns the failure if that is
   * impossible.
   */
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

  /** Called after each request. */
  consider(): void {
    const behind = this.#behind + this.#writer.uncheckedBytes;
    if (this.#copies === 0) {
      if (behind >= this.#checkpointBytes) this.#copy();
    } else if (behind >= this.#checkpointBytes * maxBehind) {
      this.settle();
      this.#finish();
    }
  }

  /** Waits for a running copy. */
  settle(): void {
    Atomics.wait(this.#running, 0, 1, waitMs);
  }

  /** Resolves when this thread has closed the file. */
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

  /** Copies the rest of the log. */
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
