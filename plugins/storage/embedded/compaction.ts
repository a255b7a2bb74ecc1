import type { Revision } from 'kubenest/sdk';
import type { IndexEntry, KeyIndex } from './key-index.ts';
import type { CommitAnswer, CommitRequest } from './log-file.ts';

/** A deletion that is still in the log. */
export interface Tombstone<Pending> {
  readonly entry: IndexEntry<Pending>;
  readonly revision: Revision;
}

export interface CompactionParts<Pending> {
  readonly index: KeyIndex<Pending>;
  /** Revision of the last compaction, which may have been interrupted, and the revision up to which its deletions are done. */
  readonly revision: Revision;
  readonly compacted: Revision;
  /** Deletions in the order of their revisions. */
  readonly tombstones: Iterable<Tombstone<Pending>>;
  /** Sends a request to the writer. */
  ask(request: CommitRequest): Promise<CommitAnswer>;
  /** Returns true if the store is closed or has failed. */
  isOver(): boolean;
  /** Called with errors of a compaction without a caller. */
  onError(error: unknown): void;
}

const rowsOfStep = 250;
/** Ratio of the pause after a step of a periodic compaction to the step's duration, so that writes are not delayed. */
const restFactor = 3;

/**
 * Deletes versions that were overwritten before a revision, in chunks between which writes continue. An interrupted compaction resumes
 * when the file is reopened.
 */
export class Compaction<Pending> {
  readonly #parts: CompactionParts<Pending>;
  readonly #tombstones: Tombstone<Pending>[];
  #revision: Revision;
  #compacted: Revision;
  #running: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #endRest: (() => void) | undefined;

  constructor(parts: CompactionParts<Pending>) {
    this.#parts = parts;
    this.#tombstones = [...parts.tombstones];
    this.#revision = parts.revision;
    this.#compacted = parts.compacted;
  }

  /** Revision before which overwritten data is deleted or being deleted. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Resumes an interrupted compaction, then periodically compacts to the revision at the previous run; interval 0: never. */
  start(intervalMs: number, current: () => Revision): void {
    if (this.#compacted < this.#revision) this.#next(this.#revision, restFactor).catch(this.#parts.onError);
    if (intervalMs === 0) return;
    let last = current();
    this.#timer = setInterval(() => {
      const revision = last;
      last = current();
      if (revision > this.#revision && !this.#parts.isOver()) this.run(revision, restFactor).catch(this.#parts.onError);
    }, intervalMs);
    this.#timer.unref();
  }

  /**
   * Compacts to a revision, which must exceed the last one. `rest` is the pause after each step as a multiple of its
   * duration.
   */
  run(revision: Revision, rest = 0): Promise<void> {
    this.#revision = revision;
    return this.#next(revision, rest);
  }

  /** Records a deletion, whose key leaves the index when it is compacted. */
  noteDeletion(tombstone: Tombstone<Pending>): void {
    this.#tombstones.push(tombstone);
  }

  /** Starts no further compaction and skips pauses. */
  stop(): void {
    clearInterval(this.#timer);
    this.#endRest?.();
  }

  /** Resolves when no compaction is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Runs a compaction after the previous ones. */
  #next(revision: Revision, rest: number): Promise<void> {
    const compaction = this.#running.then(() => this.#steps(revision, rest));
    this.#running = compaction.catch(() => {});
    return compaction;
  }

  async #steps(revision: Revision, rest: number): Promise<void> {
    const { ask, isOver } = this.#parts;
    await ask({ type: 'beginCompaction', revision });
    for (let done = false; !done; ) {
      if (isOver()) return;
      const began = performance.now();
      const { step } = await ask({ type: 'compact', compacted: this.#compacted, revision, limit: rowsOfStep });
      this.#compacted = step!.compacted;
      done = step!.done;
      if (rest > 0 && !done) await this.#rest((performance.now() - began) * rest);
    }
    this.#forgetDeletions(revision);
  }

  async #rest(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endRest = undefined;
  }

  #forgetDeletions(upTo: Revision): void {
    let forgotten = 0;
    for (const { entry, revision } of this.#tombstones) {
      if (revision > upTo) break;
      forgotten++;
      if (entry.revision !== revision) continue;
      if (entry.pending) entry.revision = 0;
      else this.#parts.index.remove(entry.key);
    }
    this.#tombstones.splice(0, forgotten);
  }
}
