import type { Buffer } from 'node:buffer';
import type { Revision } from 'kubenest/sdk';
import { blockMs, type Connection, type Reply } from './connection.ts';

const retryMs = 200;

/** An event of the stream: its revision, and the mark that tells it from another of that revision in a past that was lost. */
export interface Mark {
  readonly revision: Revision;
  readonly mark: string;
}

/** Tells how far the stream of events is, over a connection of its own, which waits for the next. */
export class Tail {
  #revision: Revision = 0;
  #waiting = new Set<() => void>();
  #isClosed = false;
  #last: Mark = { revision: 0, mark: '' };

  constructor(
    private readonly connection: Connection,
    private readonly stream: string,
  ) {}

  /** Everything up to it is in the stream. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The last event that has come. */
  get last(): Mark {
    return this.#last;
  }

  /** This server has written an event itself, which the stream need not tell. */
  noteWritten(written: Mark): void {
    if (written.revision > this.#last.revision) this.#last = written;
  }

  /** Follows the stream from a revision on. */
  start(from: Revision): void {
    this.#revision = from;
    void this.#follow();
  }

  /** Resolves when there is something after the revision, when the signal aborts, when it is closed, or when watches are to look again. */
  async after(revision: Revision, signal: AbortSignal): Promise<void> {
    if (this.#revision > revision || signal.aborted || this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }

  /** Something was written, or lost: those who wait look. */
  wake(revision: Revision = this.#revision): void {
    this.#revision = Math.max(this.#revision, revision);
    for (const resolve of [...this.#waiting]) resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.wake();
  }

  #note(id: Buffer, fields: Reply): void {
    const revision = Number(id.toString('latin1').split('-')[0]);
    this.noteWritten({ revision, mark: String((fields as readonly Reply[])[7] ?? '') });
    this.wake(revision);
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const last = `${this.#revision}-0`;
        const answer = (await this.connection.call('XREAD', 'COUNT', 1000, 'BLOCK', blockMs, 'STREAMS', this.stream, last)) as
          | readonly [readonly [Buffer, readonly (readonly [Buffer, Reply])[]]]
          | null;
        const newest = answer?.[0][1].at(-1);
        if (newest) this.#note(...newest);
      } catch {
        // The connection comes back by itself; what came meanwhile is in the stream.
        if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}
