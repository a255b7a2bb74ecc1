import { Buffer } from 'node:buffer';
import { type Encode, NoSpaceError, type Revision, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';
import type { Connection, Reply } from './connection.ts';
import { commit, commitDeletions, prepare } from './scripts.ts';
import { parseState } from './version.ts';

const maxBatchWrites = 256;
const maxBatchBytes = 4 * 1024 * 1024;

export interface Write {
  readonly operation: 'P' | 'D';
  readonly key: string;
  /** 0: there must be none. */
  readonly expected: Revision;
  /** Of deletions undefined. */
  readonly encode: Encode | undefined;
  readonly ttlSeconds: number;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

export interface Written {
  readonly revision: Revision;
  readonly createRevision: Revision;
  readonly value: Buffer;
}

/** A write that may happen, with the bytes that were made for a revision. */
interface Encoded {
  readonly write: Write;
  readonly revision: Revision;
  readonly value: Buffer;
}

/**
 * Group commit: while one batch is under way, the writes that come are the next. A value knows its revision, which only the
 * store can give; so a batch is made for the revisions that follow the current one, and made anew if another server was faster.
 */
export class WriteQueue {
  /** Of how many replicas the logs must have a write before it is acknowledged; undefined: the answer of the script is enough. */
  syncs: number | undefined;
  readonly #waiting: Write[] = [];
  #running: Promise<void> | undefined;

  /** `conflict`: the error of a write whose key is at another revision. `onRevision`: told each revision that was written. */
  constructor(
    private readonly connection: Connection,
    private readonly store: { readonly prefix: string; readonly mark: string },
    private readonly conflict: (write: Write) => Promise<Error>,
    private readonly onRevision: (revision: Revision) => void,
  ) {}

  add(write: Write): void {
    this.#waiting.push(write);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // What comes in the same turn goes in the same batch.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatchWrites);
      try {
        await this.#write(batch);
      } catch (error) {
        for (const write of batch) write.reject(error);
      }
    }
    this.#running = undefined;
  }

  async #write(batch: readonly Write[]): Promise<void> {
    for (let left = batch; left.length > 0; ) {
      let prepared: readonly Buffer[];
      try {
        prepared = (await this.connection.run(prepare, this.store.prefix, ...left.map(({ key }) => key))) as readonly Buffer[];
      } catch (error) {
        throw notSent(error);
      }
      const [base, ...states] = prepared;
      const { encoded, later } = this.#encode(left, Number(base), states);
      const again = encoded.length > 0 ? await this.#commit(Number(base), encoded) : [];
      left = [...again, ...later];
    }
  }

  /** Makes the bytes of those whose key is as expected; the others are rejected. `later`: what has no room in this round. */
  #encode(writes: readonly Write[], base: Revision, states: readonly Buffer[]): { encoded: Encoded[]; later: Write[] } {
    const encoded: Encoded[] = [];
    const later: Write[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    for (const [i, write] of writes.entries()) {
      // The second write of a key is decided when the first is.
      if (keys.has(write.key) || bytes > maxBatchBytes) {
        later.push(write);
        continue;
      }
      if (parseState(states[i] as Buffer).revision !== write.expected) {
        this.#refuse(write);
        continue;
      }
      const revision = base + encoded.length + 1;
      try {
        const value = write.encode?.(revision) ?? Buffer.alloc(0);
        bytes += value.length;
        keys.add(write.key);
        encoded.push({ write, revision, value });
      } catch (error) {
        write.reject(error);
      }
    }
    return { encoded, later };
  }

  /** Returns the writes that are to be tried again: deletions are by themselves where there is no room for the others. */
  async #commit(base: Revision, encoded: readonly Encoded[]): Promise<Write[]> {
    const args = encoded.flatMap(({ write: { operation, key, expected, ttlSeconds }, revision, value }) => [
      operation,
      key,
      expected,
      revision,
      Math.round(ttlSeconds * 1000),
      value,
    ]);
    const deletions = encoded.filter(({ write }) => write.operation === 'D').map(({ write }) => write);
    const isDeleting = deletions.length === encoded.length;
    let answer: readonly Reply[];
    try {
      answer = (await this.#send(isDeleting ? commitDeletions : commit, base, args)) as readonly Reply[];
    } catch (error) {
      const again = error instanceof NoSpaceError && !isDeleting ? deletions : [];
      for (const { write } of encoded) if (!again.includes(write)) write.reject(error);
      return again;
    }
    if (String(answer[0]) === 'base') return encoded.map(({ write }) => write);
    for (const [i, { write, revision, value }] of encoded.entries()) {
      const createRevision = Number(answer[i + 1]);
      if (createRevision === 0) {
        this.#refuse(write);
        continue;
      }
      this.onRevision(revision);
      write.resolve({ revision, createRevision, value });
    }
    return [];
  }

  #send(script: string, base: Revision, args: readonly (string | number | Buffer)[]): Promise<Reply> {
    const { prefix, mark } = this.store;
    return this.syncs === undefined
      ? this.connection.run(script, prefix, base, mark, ...args)
      : this.connection.runSynced(script, this.syncs, prefix, base, mark, ...args);
  }

  #refuse(write: Write): void {
    this.conflict(write).then(write.reject, write.reject);
  }
}

/** A preparation changes nothing: what it asked for has not happened. */
function notSent(error: unknown): unknown {
  return error instanceof UnknownOutcomeError ? new UnavailableError(error.message, { cause: error }) : error;
}
