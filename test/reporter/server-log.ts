import type { Buffer } from 'node:buffer';
import { Writable } from 'node:stream';

interface Chunk {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  readonly text: string;
}

/** Characters that are kept; older output is dropped. */
const mostKept = 8 * 1024 * 1024;

/** Keeps what the workers of a test run write, so that it is shown only beside a test that fails. */
export class ServerLog extends Writable {
  readonly #chunks: Chunk[] = [];
  #kept = 0;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const text = chunk.toString('utf8');
    this.#chunks.push({ at: performance.now(), text });
    this.#kept += text.length;
    while (this.#kept > mostKept) this.#kept -= this.#chunks.shift()?.text.length ?? 0;
    done();
  }

  /** Returns the last `count` lines that were written since `from`, a time of the monotonic clock. */
  linesSince(from: number, count: number): string[] {
    const text = this.#chunks.flatMap((chunk) => (chunk.at >= from ? chunk.text : [])).join('');
    return text.split('\n').filter(Boolean).slice(-count);
  }
}
