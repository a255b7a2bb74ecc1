import { parentPort, workerData } from 'node:worker_threads';
import { checkpoint, type CommitFailure, connect, failureOf } from './log-file.ts';

/*
 * The thread that copies the write-ahead log into the file while the other one goes on to write. Node loads it as it stands (see
 * log-file.ts).
 */

export interface CheckpointWorkerData {
  readonly file: string;
  /** One element: 1 while a copy is asked for and not done. */
  readonly running: Int32Array;
}

export interface CheckpointAnswer {
  /** The number that it was asked for by. */
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
