import type { ListChunk } from './object-tree.ts';

interface Recent {
  readonly variant: string;
  readonly bytes: number;
}

/**
 * LRU cache of the encoded runs of large lists, limited in bytes. Concurrent lists share runs: a follower that finds encoded
 * runs is faster than the leader, which encodes them, so they stay close together.
 */
export class RecentRuns {
  readonly #mostBytes: number;
  /** Runs in the order of last use, the latest at the end. */
  readonly #runs = new Map<ListChunk, Recent>();
  #bytes = 0;
  #lists = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /**
   * Marks the start of a large list. Returns the function to call at its end; after the last one ends, the remaining runs
   * are released to the sweeps.
   */
  begin(): () => void {
    this.#lists += 1;
    return () => {
      this.#lists -= 1;
      if (this.#lists > 0) return;
      this.#runs.clear();
      this.#bytes = 0;
    };
  }

  /** Marks a run of this chunk as used. */
  used(chunk: ListChunk, variant: string, bytes: number): void {
    this.#forget(chunk, this.#runs.get(chunk), variant);
    this.#runs.set(chunk, { variant, bytes });
    this.#bytes += bytes;
    for (const [oldest, run] of this.#runs) {
      if (this.#bytes <= this.#mostBytes || oldest === chunk) return;
      this.#forget(oldest, run);
    }
  }

  #forget(chunk: ListChunk, run: Recent | undefined, kept?: string): void {
    if (!run) return;
    this.#runs.delete(chunk);
    this.#bytes -= run.bytes;
    if (run.variant !== kept) chunk.drop(run.variant);
  }
}
