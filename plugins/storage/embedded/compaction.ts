import type { Revision } from 'kubenest/sdk';
import type { IndexEntry, KeyIndex } from './key-index.ts';
import type { CommitAnswer, CommitRequest } from './log-file.ts';

/** A deletion that the log still has. */
export interface Tombstone<Pending> {
  readonly entry: IndexEntry<Pending>;
  readonly revision: Revision;
}

export interface CompactionParts<Pending> {
  readonly index: KeyIndex<Pending>;
  /** The revision of the last compaction, which may have been interrupted, and up to where it has deleted what it has to. */
  readonly revision: Revision;
  readonly compacted: Revision;
  /** In the order of their revisions. */
  readonly tombstones: Iterable<Tombstone<Pending>>;
  /** Asks who writes the log. */
  ask(request: CommitRequest): Promise<CommitAnswer>;
  /** Whether the store is closed or has failed. */
  isOver(): boolean;
  /** Of a compaction that nobody waits for. */
  onError(error: unknown): void;
}

const rowsOfStep = 250;
/** Nobody waits for a regular compaction: between two steps it rests this many times as long as a step has taken, and writes go on. */
const restFactor = 3;

/** Forgets what was overwritten before a revision, in steps between which writes go on. What is interrupted goes on when the file is opened again. */
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

  /** What was overwritten before it is gone, or going. */
  get revision(): Revision {
    return this.#revision;
  }

  /** Goes on with what was interrupted, and then compacts every so often what was overwritten before the last time; 0: never. */
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

  /** The revision must be above that of the last compaction. `rest`: how many times as long as a step it rests after it. */
  run(revision: Revision, rest = 0): Promise<void> {
    this.#revision = revision;
    return this.#next(revision, rest);
  }

  /** The index forgets the key when its deletion is compacted. */
  noteDeletion(tombstone: Tombstone<Pending>): void {
    this.#tombstones.push(tombstone);
  }

  /** Begins no other, and rests no more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#endRest?.();
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** One after the other. */
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
