import { parentPort, workerData } from 'node:worker_threads';
import { type CheckpointOptions, Checkpoints } from './checkpoints.ts';
import { answer, type CommitAnswer, type CommitRequest, connect, type LogOptions, LogWriter } from './log-file.ts';

/*
 * The thread that waits for the disk: it answers messages in the order in which they came. Node loads it as it stands
 * (see log-file.ts).
 */

export type CommitWorkerData = LogOptions & CheckpointOptions;

const port = parentPort!;
const data = workerData as CommitWorkerData;
const writer = new LogWriter(connect(data.file), data);
/** A checkpoint's failure is nobody's answer. */
const checkpoints = new Checkpoints(writer, data, (unasked) => port.postMessage({ unasked } satisfies CommitAnswer));
port.postMessage({ ready: true } satisfies CommitAnswer);

port.on('message', (request: CommitRequest) => {
  if (request.type === 'close') return void close(request);
  // It makes a checkpoint, which would be refused meanwhile.
  if (request.type === 'releaseReserve') checkpoints.settle();
  const error = request.type === 'append' ? checkpoints.makeRoom(request.batch) : undefined;
  port.postMessage(error ? { error } : answer(writer, request));
  checkpoints.consider();
});

/** Nothing follows it. */
async function close(request: CommitRequest): Promise<void> {
  await checkpoints.close();
  port.postMessage(answer(writer, request));
  port.close();
}
