import { parentPort, workerData } from 'node:worker_threads';
import { type CheckpointOptions, Checkpoints } from './checkpoints.ts';
import { answer, type CommitAnswer, type CommitRequest, connect, type LogOptions, LogWriter } from './log-file.ts';

/* Thread that writes and syncs; it answers messages in order. Node loads this file directly (see log-file.ts). */

export type CommitWorkerData = LogOptions & CheckpointOptions;

const port = parentPort!;
const data = workerData as CommitWorkerData;
const writer = new LogWriter(connect(data.file), data);
/** A failed checkpoint is reported outside of any request. */
const checkpoints = new Checkpoints(writer, data, (unasked) => port.postMessage({ unasked } satisfies CommitAnswer));
port.postMessage({ ready: true } satisfies CommitAnswer);

port.on('message', (request: CommitRequest) => {
  if (request.type === 'close') return void close(request);
  // Releasing the reserve makes a checkpoint, which SQLite would refuse during another one.
  if (request.type === 'releaseReserve') checkpoints.settle();
  const error = request.type === 'append' ? checkpoints.makeRoom(request.batch) : undefined;
  port.postMessage(error ? { error } : answer(writer, request));
  checkpoints.consider();
});

/** Processes the last request. */
async function close(request: CommitRequest): Promise<void> {
  await checkpoints.close();
  port.postMessage(answer(writer, request));
  port.close();
}
