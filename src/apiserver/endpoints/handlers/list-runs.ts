import type { Buffer } from 'node:buffer';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { joinSteps, type ListChunk } from '#apiserver/storage/cacher/object-tree';
import { RecentRuns } from '#apiserver/storage/cacher/recent-runs';
import { type Deflated, deflatedPiece, deflatedOf } from './gzip-pieces.ts';
import type { Prepare } from './large-objects.ts';

/** What the runs of a list are made of: see `ListChunk.encoded`. */
export interface Run {
  readonly variant: string;
  readonly makeItem: (object: CachedObject) => Buffer;
  readonly separator: Buffer;
  readonly stamp?: number;
  /** Of a large object; default: nothing, its bytes do. */
  readonly prepare?: Prepare | undefined;
}

/** The runs of items, each as the cache keeps it. */
export function* runsOf(chunks: readonly ListChunk[], { variant, makeItem, separator, stamp, prepare }: Run): Steps<Buffer[]> {
  const runs: Buffer[] = [];
  for (const chunk of chunks) {
    if (prepare && !chunk.kept(variant, stamp)) for (const item of chunk.items) yield* prepare(item);
    runs.push(chunk.encoded(variant, makeItem, separator, stamp));
    yield;
  }
  return runs;
}

/**
 * The runs of lists that are too large to be kept whole. Those that objects are parsed for are made one after the other, in steps: clients that
 * list at the same time wait for the same run, and no two make it.
 */
export class LargeLists {
  /** Lists of up to so many bytes are none of these. */
  mostKept: number;
  readonly #recent: RecentRuns;
  /** By chunk and variant: chunks do not change. */
  readonly #lengths = new WeakMap<ListChunk, Map<string, number>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(mostKept: number) {
    this.mostKept = mostKept;
    this.#recent = new RecentRuns(mostKept / 4);
  }

  /** See `RecentRuns.begin`. */
  begin(): () => void {
    return this.#recent.begin();
  }

  async run(chunk: ListChunk, run: Run): Promise<Buffer> {
    const bytes = await this.#made(chunk, run);
    this.#recent.used(chunk, run.variant, bytes.length);
    return bytes;
  }

  /**
   * The bytes of all runs, without what separates them. Each is made once for that; what is found to be no large list stays
   * kept. `isWanted`: asked before each.
   */
  async measure(chunks: readonly ListChunk[], run: Run, isWanted: () => boolean): Promise<number> {
    let total = 0;
    /** So many runs are counted among the recent ones. */
    let counted = 0;
    for (const [at, chunk] of chunks.entries()) {
      if (!isWanted()) break;
      total += this.#lengths.get(chunk)?.get(run.variant) ?? (await this.#made(chunk, run)).length;
      if (total <= this.mostKept) continue;
      for (; counted <= at; counted += 1) {
        const kept = chunks[counted]!.kept(run.variant);
        if (kept) this.#recent.used(chunks[counted]!, run.variant, kept.length);
      }
    }
    return total;
  }

  /** A run for a member of gzip. That is kept for the next list, instead of what it is made of. */
  async deflated(chunk: ListChunk, run: Run): Promise<Deflated> {
    const variant = `gzip:${run.variant}`;
    const kept = (): Buffer | undefined => chunk.kept(variant, run.stamp);
    const blocks = kept();
    if (blocks) return deflatedOf(blocks);
    return this.#inTurn(async () => {
      const made = kept();
      if (made) return deflatedOf(made);
      const bytes = chunk.kept(run.variant, run.stamp) ?? (await inSteps(bytesOf(chunk, run)));
      this.#note(chunk, run, bytes);
      const deflated = await deflatedPiece(bytes);
      chunk.keep(variant, deflated.blocks, run.stamp);
      return deflated;
    });
  }

  async #made(chunk: ListChunk, run: Run): Promise<Buffer> {
    const { variant, makeItem, separator, stamp, prepare } = run;
    const kept = (): Buffer | undefined => chunk.kept(variant, stamp);
    const bytes =
      kept() ??
      (prepare
        ? await this.#inTurn(async () => kept() ?? chunk.keep(variant, await inSteps(bytesOf(chunk, run)), stamp))
        : chunk.encoded(variant, makeItem, separator, stamp));
    this.#note(chunk, run, bytes);
    return bytes;
  }

  #note(chunk: ListChunk, { variant, stamp }: Run, { length }: Buffer): void {
    // What depends on the time may be longer the next time.
    if (stamp !== undefined) return;
    let lengths = this.#lengths.get(chunk);
    if (!lengths) this.#lengths.set(chunk, (lengths = new Map<string, number>()));
    lengths.set(variant, length);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    // Whose work it was is told.
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function bytesOf({ items }: ListChunk, { makeItem, separator, prepare }: Run): Steps<Buffer> {
  return joinSteps(items, makeItem, separator, prepare);
}
