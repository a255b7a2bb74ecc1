/** Standard output and error of a server. The server continues if they have no reader or the disk of a file is full. */
import { fstatSync, write } from 'node:fs';
import { redactSecrets } from '#apiserver/base/secrets';

/** Maximum number of characters that wait for a reader or a disk. */
const maxWaiting = 1_048_576;

/** Number of characters from which lines are written as a batch. */
const batchCharacters = 4_096;

/** Ignores errors after a reader of standard output or error has gone. Without a listener, such an error would end the process. */
export function ignoreStreamErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** Destination of lines. */
export interface LogSink {
  /** Number of characters that are not written yet. */
  readonly waiting: number;
  write(text: string): void;
}

/** Buffers lines for a file descriptor; drops and counts lines that cannot be written. */
export class LogOutput {
  readonly #sink: LogSink;
  #batch = '';
  #dropped = 0;

  constructor(sink: LogSink = fstatSync(2).isFile() ? new FileSink(2) : new StreamSink(process.stderr)) {
    this.#sink = sink;
  }

  /** Accepts a line with its line end. Secrets in it are not written. */
  write(text: string): void {
    const line = redactSecrets(text);
    if (this.#sink.waiting + this.#batch.length > maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#batch += line;
    if (this.#batch.length >= batchCharacters) this.flush();
  }

  /** Starts writing the buffered lines. The process does not exit on its own before they are written. */
  flush(): void {
    if (this.#dropped > 0 && this.#sink.waiting === 0) {
      this.#batch += `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped: this.#dropped, msg: 'log lines were dropped' })}\n`;
      this.#dropped = 0;
    }
    if (this.#batch === '') return;
    this.#sink.write(this.#batch);
    this.#batch = '';
  }
}

/** A pipe, socket or terminal: Node writes what it can, and buffers the rest. */
class StreamSink implements LogSink {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  get waiting(): number {
    return this.#stream.writableLength;
  }

  write(text: string): void {
    this.#stream.write(text);
  }
}

/** A file: one write at a time, in another thread. Data that cannot be written is lost. */
class FileSink implements LogSink {
  readonly #descriptor: number;
  #isWriting = false;
  #next = '';

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  get waiting(): number {
    return this.#next.length;
  }

  write(text: string): void {
    this.#next += text;
    if (!this.#isWriting) this.#write(Buffer.from(this.#take()));
  }

  #take(): string {
    const text = this.#next;
    this.#next = '';
    return text;
  }

  #write(bytes: Buffer): void {
    this.#isWriting = true;
    write(this.#descriptor, bytes, (error, written) => {
      this.#isWriting = false;
      if (!error && written < bytes.length) this.#write(bytes.subarray(written));
      else if (this.#next !== '') this.#write(Buffer.from(this.#take()));
    });
  }
}
