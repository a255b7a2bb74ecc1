import type { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { windowBytes } from './messages.ts';

interface Sink {
  data(chunk: Buffer): void;
  end(): void;
}

/** Hands on what comes out of a stream, up to a window, and beyond it what is granted (and the rest of the chunk that reaches it). */
export class CreditedSource {
  readonly #source: Readable;
  #credit = windowBytes;
  #isDiscarding = false;

  constructor(source: Readable, sink: Sink) {
    this.#source = source;
    source.on('data', (chunk: Buffer) => {
      if (this.#isDiscarding) return;
      this.#credit -= chunk.length;
      if (this.#credit <= 0) source.pause();
      sink.data(chunk);
    });
    source.on('end', () => {
      if (!this.#isDiscarding) sink.end();
    });
  }

  grant(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > 0) this.#source.resume();
  }

  /** Nobody wants the rest, which must be read all the same for what follows on the connection. */
  discard(): void {
    this.#isDiscarding = true;
    this.#source.resume();
  }
}
