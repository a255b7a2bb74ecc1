import { Buffer } from 'node:buffer';
import { concatKept } from '#apimachinery/runtime/kept-bytes';
import { inSteps, type Steps } from '#apimachinery/runtime/steps';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { joinSteps, type ListChunk } from '#apiserver/storage/cacher/object-tree';
import { RecentRuns } from '#apiserver/storage/cacher/recent-runs';
import { type Deflated, deflatedOf, deflatePiece, inflatePiece } from './gzip-pieces.ts';
import type { Prepare } from './large-objects.ts';

/** Parameters of encoding the chunks of a list; see `ListChunk.encoded`. */
export interface Run {
  readonly variant: string;
  readonly makeItem: (object: CachedObject) => Buffer;
  readonly separator: Buffer;
  readonly stamp?: number;
  /** Preparation of large objects; default: none, because the stored bytes suffice. */
  readonly prepare?: Prepare | undefined;
}

/** Returns the encoded chunks, which the cache keeps. */
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
 * Encoded chunks of lists that are too large to be kept whole. Chunks whose objects must be parsed are encoded one at a time and
 * yield to the event loop; clients that list concurrently share the result.
 */
export class LargeLists {
  /** Maximum size in bytes of a list that is kept whole. */
  mostKept: number;
  readonly #recent: RecentRuns;
  /** Encoded lengths by chunk and variant; chunks are immutable. */
  readonly #lengths = new WeakMap<ListChunk, Map<string, number>>();
  #last: Promise<unknown> = Promise.resolve();
  #scratch: Buffer = Buffer.alloc(0);

  constructor(mostKept: number) {
    this.mostKept = mostKept;
    this.#recent = new RecentRuns(mostKept / 4);
  }

  /** Marks the start of a large list; returns the function to call at its end. */
  begin(): () => void {
    return this.#recent.begin();
  }

  async run(chunk: ListChunk, run: Run): Promise<Buffer> {
    const bytes = await this.#made(chunk, run);
    this.#recent.used(chunk, run.variant, bytes.length);
    return bytes;
  }

  /**
   * Returns the number of bytes of all runs, without separators. Each run is encoded to measure it; if the list turns out not to be
   * large and `keeps` is true, the runs are kept. `isWanted` is called before each run; measuring stops when it returns false.
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

  /** Returns a compressed run. It is kept for the next list instead of its uncompressed form. */
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

  /** Returns the uncompressed form of `deflated`, which is kept like a run. */
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
    // Runs that depend on the time may have another length the next time.
    if (stamp !== undefined) return;
    let lengths = this.#lengths.get(chunk);
    if (!lengths) this.#lengths.set(chunk, (lengths = new Map<string, number>()));
    lengths.set(variant, length);
  }

  /** Concatenates into a reused buffer: V8 collects buffers late, because they use little of its heap. */
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
    // The caller of the failed work receives its error.
    this.#last = done.catch(() => undefined);
    return done;
  }
}

/** Encodes a chunk. Objects that were parsed before stay parsed; others are released, because keeping them would only use memory. */
function bytesOf({ items }: ListChunk, { makeItem, separator, prepare }: Run, concat = concatKept): Steps<Buffer> {
  const makeOnce = (object: CachedObject): Buffer => {
    const { isParsed } = object;
    const bytes = makeItem(object);
    if (!isParsed) object.forget();
    return bytes;
  };
  return joinSteps(items, makeOnce, separator, concat, prepare);
}
