import type { Buffer } from 'node:buffer';
import type { ResponseStream } from '#apiserver/request/exchange';
import { type WorkerCommand, commandKinds } from './messages.ts';
import type { Outbox } from './outbox.ts';

/** Streamed response of a request whose connection is in a worker, with the client's backpressure. */
export class RemoteStream implements ResponseStream {
  readonly #outbox: Outbox<WorkerCommand>;
  readonly #request: number;
  readonly #highWaterBytes: number;
  readonly #listeners: (() => void)[] = [];
  #pendingBytes = 0;
  #isFull = false;
  #isEnded = false;
  #isClosed = false;

  constructor(outbox: Outbox<WorkerCommand>, request: number, highWaterBytes: number) {
    this.#outbox = outbox;
    this.#request = request;
    this.#highWaterBytes = highWaterBytes;
  }

  /** Number of unread bytes; an upper bound, because workers report read bytes with a delay. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  write(bytes: Buffer): boolean {
    if (this.#isEnded) return true;
    this.#outbox.push([commandKinds.write, this.#request, this.#outbox.part(bytes)]);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes < this.#highWaterBytes) return true;
    this.#isFull = true;
    return false;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#outbox.push([commandKinds.end, this.#request]);
  }

  abort(): void {
    if (this.#isClosed) return;
    this.close();
    this.#outbox.push([commandKinds.abort, this.#request]);
  }

  onDrain(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reports that the client has read so many bytes. */
  taken(bytes: number): void {
    this.#pendingBytes -= bytes;
    // The other half keeps the client busy until more arrives.
    if (!this.#isFull || this.#pendingBytes > this.#highWaterBytes / 2) return;
    this.#isFull = false;
    for (const listener of this.#listeners) listener();
  }

  /** Stops sending to the client. */
  close(): void {
    this.#isEnded = true;
    this.#isClosed = true;
    this.#pendingBytes = 0;
  }
}
