import { parentPort, workerData } from 'node:worker_threads';
import { answer, type CommitAnswer, type CommitRequest, connect, failureOf, type LogOptions, LogWriter } from './log-file.ts';

/*
 * The thread that waits for the disk: it answers messages in the order in which they came. Node loads it as it stands
 * (see log-file.ts).
 */

export interface CommitWorkerData extends LogOptions {
  readonly file: string;
  /** After so many bytes the write-ahead log is copied into the file. */
  readonly checkpointBytes: number;
}

const port = parentPort!;
const data = workerData as CommitWorkerData;
const writer = new LogWriter(connect(data.file), data);
port.postMessage({ ready: true } satisfies CommitAnswer);

port.on('message', (request: CommitRequest) => {
  port.postMessage(answer(writer, request));
  if (request.type === 'close') port.close();
  else if (writer.uncheckedBytes >= data.checkpointBytes) checkpoint();
});

/** After the answer, so that nobody waits for it but the next batch. Its failure is nobody's answer. */
function checkpoint(): void {
  try {
    writer.checkpoint();
  } catch (error) {
    port.postMessage({ unasked: failureOf(error) } satisfies CommitAnswer);
  }
}
