import { Buffer } from 'node:buffer';
import { type Encode, NoSpaceError, type Revision } from 'kubenest/sdk';
import type { Connection, Reply } from './connection.ts';
import { commit, commitDeletions } from './scripts.ts';

const maxBatchWrites = 256;
const maxBatchBytes = 4 * 1024 * 1024;

export interface Write {
  readonly operation: 'P' | 'D';
  readonly key: string;
  /** Expected revision; 0: the key must not exist. */
  readonly expected: Revision;
  /** undefined for deletions. */
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

/** A write with its value encoded for a revision. */
interface Encoded {
  readonly write: Write;
  readonly revision: Revision;
  readonly value: Buffer;
}

/** Result of a batch. */
interface Outcome {
  /** The writes to retry. */
  readonly again: readonly Write[];
  /** The current revision. */
  readonly revision: Revision;
}

/**
 * Group commit: writes that arrive during a batch form the next one. A value contains its revision, which only the store
 * assigns; a batch is therefore encoded for the revisions after the newest known one, and encoded again if another server
 * was faster. Rejected writes leave gaps between revisions.
 */
export class WriteQueue {
  /** Number of replicas whose logs must contain a write before it is acknowledged; undefined: the script's reply suffices. */
  syncs: number | undefined;
  readonly #waiting: Write[] = [];
  #running: Promise<void> | undefined;

  /**
   * `newest` is the newest known revision. `conflict` returns the error of a write whose key is at another revision.
   * `onRevision` is called with each written revision.
   */
  constructor(
    private readonly connection: Connection,
    private readonly store: { readonly prefix: string; readonly mark: string },
    private readonly newest: () => Revision,
    private readonly conflict: (write: Write) => Promise<Error>,
    private readonly onRevision: (revision: Revision) => void,
  ) {}

  add(write: Write): void {
    this.#waiting.push(write);
    this.#running ??= this.#run();
  }

  /** Resolves when no batch is pending. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    // Writes of the same turn share a batch.
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
    let base = this.newest();
    for (let left = batch; left.length > 0; ) {
      const { encoded, later } = this.#encode(left, base);
      const { again, revision } = await this.#commit(base, encoded);
      base = revision;
      left = [...again, ...later];
    }
  }

  /** Encodes writes. `later` contains those that do not fit into this batch. */
  #encode(writes: readonly Write[], base: Revision): { encoded: Encoded[]; later: Write[] } {
    const encoded: Encoded[] = [];
    const later: Write[] = [];
    const keys = new Set<string>();
    let bytes = 0;
    for (const write of writes) {
      // A second write of the same key is decided after the first.
      if (keys.has(write.key) || bytes > maxBatchBytes) {
        later.push(write);
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

  /** Commits a batch. Without memory, deletions are retried separately. */
  async #commit(base: Revision, encoded: readonly Encoded[]): Promise<Outcome> {
    if (encoded.length === 0) return { again: [], revision: base };
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
      return { again, revision: base };
    }
    if (String(answer[0]) === 'base') return { again: encoded.map(({ write }) => write), revision: Number(answer[1]) };
    let last = base;
    for (const [i, { write, revision, value }] of encoded.entries()) {
      const createRevision = Number(answer[i + 1]);
      if (createRevision === 0) {
        this.#refuse(write);
        continue;
      }
      last = revision;
      this.onRevision(revision);
      write.resolve({ revision, createRevision, value });
    }
    return { again: [], revision: last };
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
