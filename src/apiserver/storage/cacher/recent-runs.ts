import type { ListChunk } from './object-tree.ts';

interface Recent {
  readonly variant: string;
  readonly bytes: number;
}

/**
 * Of the runs that large lists are made of, those used last stay, so many bytes of them: clients that list at the same time are close to each
 * other, for whoever finds a run goes faster than the first, who has it made.
 */
export class RecentRuns {
  readonly #mostBytes: number;
  /** The one that was used last is last. */
  readonly #runs = new Map<ListChunk, Recent>();
  #bytes = 0;
  #lists = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** A large list begins; what is returned is to be called at its end. After the last, what is left is as any other run. */
  begin(): () => void {
    this.#lists += 1;
    return () => {
      this.#lists -= 1;
      if (this.#lists > 0) return;
      this.#runs.clear();
      this.#bytes = 0;
    };
  }

  /** A run of this chunk was used. */
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
