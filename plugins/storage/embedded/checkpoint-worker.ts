import { parentPort, workerData } from 'node:worker_threads';
import { checkpoint, type CommitFailure, connect, failureOf } from './log-file.ts';

/*
 * Thread that copies the write-ahead log into the database file while the commit thread continues to write. Node loads this
 * file directly (see log-file.ts).
 */

export interface CheckpointWorkerData {
  readonly file: string;
  /** One element: 1 while a requested copy is running. */
  readonly running: Int32Array;
}

export interface CheckpointAnswer {
  /** Number of the requested copy. */
  readonly copy: number;
  readonly error?: CommitFailure;
}

const port = parentPort!;
const { file, running } = workerData as CheckpointWorkerData;
const database = connect(file);

port.on('message', (copy: number) => {
  let answer: CheckpointAnswer = { copy };
  try {
    checkpoint(database);
  } catch (error) {
    answer = { copy, error: failureOf(error) };
  }
  Atomics.store(running, 0, 0);
  Atomics.notify(running, 0);
  port.postMessage(answer);
});
