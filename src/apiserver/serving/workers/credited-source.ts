import type { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { windowBytes } from './messages.ts';

interface Sink {
  data(chunk: Buffer): void;
  end(): void;
}

/** Forwards a stream up to a window and the granted bytes (rounded up to a whole chunk). */
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

  /** Drops the rest, which must still be read to reach the next request of the connection. */
  discard(): void {
    this.#isDiscarding = true;
    this.#source.resume();
  }
}
