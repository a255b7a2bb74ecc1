import { Buffer } from 'node:buffer';
import { concatKept } from '#apimachinery/runtime/kept-bytes';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { joinSteps, type ListChunk } from '#apiserver/storage/cacher/object-tree';
import { RecentRuns } from '#apiserver/storage/cacher/recent-runs';
import { type Deflated, deflatedOf, deflatePiece, inflatePiece } from './gzip-pieces.ts';
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
  #scratch: Buffer = Buffer.alloc(0);

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
   * The bytes of all runs, without what separates them. Each is made once for that; those of what is found to be no large list are
   * kept if `keeps` is true. `isWanted`: asked before each.
   */
  async measure(chunks: readonly ListChunk[], run: Run, isWanted: () => boolean, keeps = true): Promise<number> {
    const { variant } = run;
    let total = 0;
    let isKept = keeps;
    for (const [at, chunk] of chunks.entries()) {
      if (!isWanted()) break;
      total += this.#lengthOf(chunk, variant) ?? (isKept ? (await this.#made(chunk, run)).length : await this.#measured(chunk, run));
      if (!isKept || total <= this.mostKept) continue;
      isKept = false;
      for (const counted of chunks.slice(0, at + 1)) {
        const kept = counted.kept(variant);
        if (kept) this.#recent.used(counted, variant, kept.length);
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
      const bytes = chunk.kept(run.variant, run.stamp) ?? (await inSteps(bytesOf(chunk, run, this.#concatAgain)));
      this.#note(chunk, run, bytes);
      const deflated = await deflatePiece(bytes);
      chunk.keep(variant, deflated.blocks, run.stamp);
      return deflated;
    });
  }

  /** What `deflated` was made of, which lasts as a run does. */
  async inflated(chunk: ListChunk, { variant, stamp }: Run, deflated: Deflated): Promise<Buffer> {
    const kept = (): Buffer | undefined => chunk.kept(variant, stamp);
    const bytes = kept() ?? (await this.#inTurn(async () => kept() ?? chunk.keep(variant, await inflatePiece(deflated), stamp)));
    this.#recent.used(chunk, variant, bytes.length);
    return bytes;
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

  #measured(chunk: ListChunk, run: Run): Promise<number> {
    return this.#inTurn(async () => {
      const known = this.#lengthOf(chunk, run.variant);
      if (known !== undefined) return known;
      const bytes = chunk.kept(run.variant) ?? (await inSteps(bytesOf(chunk, run, this.#concatAgain)));
      this.#note(chunk, run, bytes);
      return bytes.length;
    });
  }

  #lengthOf(chunk: ListChunk, variant: string): number | undefined {
    return this.#lengths.get(chunk)?.get(variant);
  }

  #note(chunk: ListChunk, { variant, stamp }: Run, { length }: Buffer): void {
    // What depends on the time may be longer the next time.
    if (stamp !== undefined) return;
    let lengths = this.#lengths.get(chunk);
    if (!lengths) this.#lengths.set(chunk, (lengths = new Map<string, number>()));
    lengths.set(variant, length);
  }

  /** In memory that is used again for the next: buffers are collected late, since they are little of the heap. */
  readonly #concatAgain = (parts: readonly Buffer[]): Buffer => {
    let length = 0;
    for (const part of parts) length += part.length;
    if (length > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const part of parts) at += part.copy(this.#scratch, at);
    return this.#scratch.subarray(0, length);
  };

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    // Whose work it was is told.
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Those that others ask for stay parsed; all others would only take their place. */
function bytesOf({ items }: ListChunk, { makeItem, separator, prepare }: Run, concat = concatKept): Steps<Buffer> {
  const makeOnce = (object: CachedObject): Buffer => {
    const { isParsed } = object;
    const bytes = makeItem(object);
    if (!isParsed) object.forget();
    return bytes;
  };
  return joinSteps(items, makeOnce, separator, concat, prepare);
}
