import type { Buffer } from 'node:buffer';
import type { Revision } from 'kubenest/sdk';
import { blockMs, type Connection, type Reply } from './connection.ts';

const retryMs = 200;

/** Position in the event stream: a revision, and a mark that distinguishes events of the same revision in a lost history. */
export interface Mark {
  readonly revision: Revision;
  readonly mark: string;
}

/** Follows the end of the event stream over its own connection, which blocks for the next event. */
export class Tail {
  #revision: Revision = 0;
  #waiting = new Set<() => void>();
  #isClosed = false;
  #last: Mark = { revision: 0, mark: '' };

  constructor(
    private readonly connection: Connection,
    private readonly stream: string,
  ) {}

  /** Revision up to which the stream is complete. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The last received event. */
  get last(): Mark {
    return this.#last;
  }

  /** Records an event that this server has written itself. */
  noteWritten(written: Mark): void {
    if (written.revision > this.#last.revision) this.#last = written;
  }

  /** Follows the stream from a revision. */
  start(from: Revision): void {
    this.#revision = from;
    void this.#follow();
  }

  /** Resolves when events after the revision exist, when the signal aborts, when it is closed, or after `wake`. */
  async after(revision: Revision, signal: AbortSignal): Promise<void> {
    if (this.#revision > revision || signal.aborted || this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }

  /** Wakes the waiting watches after a write or a loss. */
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
        // The connection reconnects by itself, and the stream contains the writes since then.
        if (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}
