/** Standard output and error of a server: nobody may read them, and the disk of a file may be full; the server goes on. */
import { fstatSync, write } from 'node:fs';

/** Characters that wait for a reader, or a disk, at most. */
const maxWaiting = 1_048_576;

/** Lines are written together. */
const batchCharacters = 4_096;

/** Ignores that a reader of standard output or error has gone. Without a listener such an error ends the process. */
export function ignoreStreamErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** Where lines go. */
export interface LogSink {
  /** Characters that are not written yet. */
  readonly waiting: number;
  write(text: string): void;
}

/** Lines for a file descriptor; those that nobody takes are dropped and counted. */
export class LogOutput {
  readonly #sink: LogSink;
  #batch = '';
  #dropped = 0;

  constructor(sink: LogSink = fstatSync(2).isFile() ? new FileSink(2) : new StreamSink(process.stderr)) {
    this.#sink = sink;
  }

  /** Takes a line with its end. */
  write(line: string): void {
    if (this.#sink.waiting + this.#batch.length > maxWaiting) {
      this.#dropped += 1;
      return;
    }
    this.#batch += line;
    if (this.#batch.length >= batchCharacters) this.flush();
  }

  /** Begins to write what was taken. The process does not end of itself before it is written. */
  flush(): void {
    if (this.#dropped > 0 && this.#sink.waiting === 0) {
      this.#batch += `${JSON.stringify({ level: 40, time: new Date().toISOString(), dropped: this.#dropped, msg: 'lines of the log were dropped' })}\n`;
      this.#dropped = 0;
    }
    if (this.#batch === '') return;
    this.#sink.write(this.#batch);
    this.#batch = '';
  }
}

/** A pipe, a socket or a terminal: Node writes what fits, and keeps the rest. */
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

/** A file: one write at a time, in another thread. What cannot be written is lost. */
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
