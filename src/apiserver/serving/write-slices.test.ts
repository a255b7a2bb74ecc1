import { once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sliceBytes, slicesOf, slicesOfTurn, writeSlices } from './write-slices.ts';

const piece = (bytes: number, fill: string): Buffer => Buffer.alloc(bytes, fill);

describe('slicesOf', () => {
  it.each<[string, number[], number[][]]>([
    ['nothing', [], []],
    ['groups small pieces', [10, 20, 30], [[10, 20, 30]]],
    ['fills a slice exactly', [sliceBytes - 1, 1], [[sliceBytes - 1, 1]]],
    ['starts a slice with a piece that does not fit', [sliceBytes, 1], [[sliceBytes], [1]]],
    ['splits a large piece', [2 * sliceBytes + 5], [[sliceBytes], [sliceBytes], [5]]],
    ['groups the rest of a large piece with small ones', [9, sliceBytes + 5, 1, sliceBytes], [[9], [sliceBytes], [5, 1], [sliceBytes]]],
  ])('%s', (_, pieces, want) => {
    expect([...slicesOf(pieces.map((bytes) => piece(bytes, 'x')))].map((slice) => slice.map(({ length }) => length))).toEqual(want);
  });

  it('does not copy', () => {
    const large = piece(2.5 * sliceBytes, 'x');
    for (const slice of slicesOf([large, piece(1, ',')])) expect(slice[0]?.buffer === large.buffer).toBe(true);
  });
});

describe('writeSlices', () => {
  /** A stream whose reads are controlled by the test. */
  class Slow extends Writable {
    readonly taken: Buffer[] = [];
    #accept: (() => void) | undefined;

    override _write(bytes: Buffer, _encoding: string, accept: () => void): void {
      this._writev([{ chunk: bytes }], accept);
    }
    override _writev(chunks: { chunk: Buffer }[], accept: () => void): void {
      this.taken.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
      this.#accept = accept;
    }
    async accept(): Promise<void> {
      this.#accept?.();
      await turn();
    }
  }

  const pieces = [piece(9, 'a'), piece(2 * sliceBytes, 'b'), piece(1, ','), piece(sliceBytes, 'c'), piece(2, 'd')];

  it('writes each slice after the previous one is sent, and ends', async () => {
    const target = new Slow();
    writeSlices(target, pieces);
    for (let written = 1; !target.writableFinished; written++) {
      expect(target.taken.length).toBe(written);
      expect(target.writableLength).toBeLessThanOrEqual(sliceBytes);
      await target.accept();
    }
    expect(Buffer.concat(target.taken).equals(Buffer.concat(pieces))).toBe(true);
  });

  it('yields to the event loop, even for a fast client', async () => {
    let taken = 0;
    const fast = new Writable({
      write(_bytes, _encoding, accept) {
        taken += 1;
        accept();
      },
    });
    const finished = once(fast, 'finish');
    writeSlices(fast, [piece(10 * sliceBytes, 'x')]);
    const ofTurns: number[] = [];
    for (let turns = 0; turns < 4; turns += 1) {
      const before = taken;
      await turn();
      ofTurns.push(ofTurns.length === 0 ? taken : taken - before);
    }
    expect(ofTurns).toEqual([slicesOfTurn, slicesOfTurn, 10 - 2 * slicesOfTurn, 0]);
    await finished;
  });

  it('ends a response without a body', async () => {
    const target = new Slow();
    writeSlices(target, []);
    await turn();
    expect(target.writableFinished).toBe(true);
  });

  it('stops if the client disconnects', async () => {
    const target = new Slow();
    writeSlices(target, pieces);
    target.destroy();
    await target.accept();
    expect(target.taken.length).toBe(1);
  });
});
