import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { oneStep } from '#apimachinery/runtime/steps';
import { CachedObject } from '#apiserver/storage/cacher/cached-object';
import { Leaf, type ListChunk } from '#apiserver/storage/cacher/object-tree';
import { inflatePiece } from './gzip-pieces.ts';
import { LargeLists, type Run } from './list-runs.ts';

const reader = {
  parse: (bytes: Buffer) => ({ metadata: { name: bytes.toString() } }) as never,
  parseSteps: () => oneStep(() => ({}) as never),
  fields: () => ({}),
  fieldPaths: new Set<string>(),
};

/** Chunks of ten objects, each of which is encoded to ten bytes. */
function chunksOf(count: number): ListChunk[] {
  const object = (name: string): CachedObject => new CachedObject(`/a/${name}`, 1, 1, Buffer.from(name), reader);
  return Array.from(
    { length: count },
    (_, c) =>
      new Leaf(
        undefined,
        Array.from({ length: 10 }, (__, i) => object(`object-${c}${i}`)),
      ),
  );
}

/** Returns a run that counts encoded objects in `made`. */
function runOf(made: { count: number }, stamp?: number): Run {
  const makeItem = ({ object }: CachedObject): Buffer => {
    made.count += 1;
    return Buffer.from(object.metadata.name!.padEnd(10));
  };
  return {
    variant: 'v',
    makeItem,
    separator: Buffer.alloc(0),
    prepare: () => oneStep(() => undefined),
    ...(stamp === undefined ? {} : { stamp }),
  };
}

const always = (): boolean => true;

it('encodes a run once for concurrent callers', async () => {
  const lists = new LargeLists(10_000);
  const made = { count: 0 };
  const [chunk] = chunksOf(1) as [ListChunk];
  const runs = await Promise.all(Array.from({ length: 5 }, () => lists.run(chunk, runOf(made))));
  expect(made.count).toBe(10);
  expect(runs.every((run) => run === runs[0])).toBe(true);
  expect(runs[0]!.toString()).toBe('object-00 object-01 object-02 object-03 object-04 object-05 object-06 object-07 object-08 object-09 ');
  expect(chunk.items.some(({ isParsed }) => isParsed)).toBe(false);
});

it('continues after a run whose encoding failed', async () => {
  const lists = new LargeLists(10_000);
  const [broken, whole] = chunksOf(2) as [ListChunk, ListChunk];
  const failing: Run = {
    ...runOf({ count: 0 }),
    makeItem: () => {
      throw new Error('no item');
    },
  };
  const [failed, made] = await Promise.allSettled([lists.run(broken, failing), lists.run(whole, runOf({ count: 0 }))]);
  expect([failed.status, made.status]).toEqual(['rejected', 'fulfilled']);
});

it('measures each run once and keeps only the last used ones of a large list', async () => {
  const lists = new LargeLists(400);
  const made = { count: 0 };
  const chunks = chunksOf(8);
  const kept = (): number => chunks.filter((chunk) => chunk.kept('v')).length;
  expect(await Promise.all([1, 2, 3].map(() => lists.measure(chunks, runOf(made), always)))).toEqual([800, 800, 800]);
  expect(made.count).toBe(80);
  expect(kept()).toBe(1);
  expect(await lists.measure(chunks, runOf(made), always)).toBe(800);
  expect(made.count).toBe(80);
  for (const chunk of chunks) await lists.run(chunk, runOf(made));
  expect(kept()).toBe(1);
});

it('keeps the measured runs of a list that is not large', async () => {
  const lists = new LargeLists(400);
  const made = { count: 0 };
  const chunks = chunksOf(4);
  expect(await lists.measure(chunks, runOf(made), always)).toBe(400);
  expect(chunks.every((chunk) => chunk.kept('v'))).toBe(true);
  expect(made.count).toBe(40);
});

it('stops measuring when the result is no longer wanted', async () => {
  const made = { count: 0 };
  await new LargeLists(400).measure(chunksOf(8), runOf(made), () => made.count < 30);
  expect(made.count).toBe(30);
});

it('compresses a run once and decompresses it to the original', async () => {
  const lists = new LargeLists(400);
  const made = { count: 0 };
  const chunks = chunksOf(3);
  for (let time = 0; time < 2; time += 1) {
    for (const chunk of chunks) {
      const deflated = await lists.deflated(chunk, runOf(made, 7));
      expect(chunk.kept('v', 7) === undefined || time > 0).toBe(true);
      const plain = await lists.inflated(chunk, runOf(made, 7), deflated);
      expect(plain.equals(await inflatePiece(deflated))).toBe(true);
      expect(plain.toString()).toContain(chunk.items[9]!.object.metadata.name);
    }
  }
  expect(made.count).toBe(30);
  await lists.deflated(chunks[0]!, runOf(made, 8));
  expect(made.count).toBe(40);
});
