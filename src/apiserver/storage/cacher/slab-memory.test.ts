import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { largestPiece, type Memory, slabBytes, SlabMemory, type Tenant } from './slab-memory.ts';

const megabyte = 1024 * 1024;

class Piece implements Tenant {
  readonly size: number;
  readonly #text: string;
  home: Memory;
  #start = 0;
  index = -1;
  moves = 0;

  constructor(text: string, size: number, source = Buffer.alloc(size, text)) {
    this.#text = text;
    this.size = size;
    this.home = { memory: source };
  }

  get bytes(): Buffer {
    return this.home.memory.subarray(this.#start, this.#start + this.size);
  }

  get isWhole(): boolean {
    return this.bytes.equals(Buffer.alloc(this.size, this.#text));
  }

  moveTo(home: Memory, start: number, index: number): void {
    this.home = home;
    this.#start = start;
    this.index = index;
    this.moves += 1;
  }
}

function filled(slabs: SlabMemory, count: number, size: number): Piece[] {
  return Array.from({ length: count }, (_, i) => {
    const piece = new Piece(`<${i}>`, size);
    slabs.hold(piece);
    return piece;
  });
}

const atOnce = (): Promise<void> => Promise.resolve();

function leave(slabs: SlabMemory, pieces: readonly Piece[]): void {
  for (const piece of pieces) slabs.release(piece.home, piece.index);
  while (slabs.tidy());
}

describe('SlabMemory', () => {
  it('places small pieces contiguously', () => {
    const slabs = new SlabMemory();
    const pieces = filled(slabs, 5_000, 1_000);
    expect(new Set(pieces.map((piece) => piece.home)).size).toBe(20);
    expect(slabs.live).toBe(5_000_000);
    expect(slabs.waste).toBe(20 * slabBytes - 5_000_000);
    expect(pieces.every((piece) => piece.isWhole)).toBe(true);
  });

  it.each([
    {
      name: 'a large part of a larger buffer in its own memory',
      source: Buffer.alloc(200_000, 'x').subarray(0, largestPiece + 1),
      copies: true,
    },
    { name: 'a large buffer in place', source: Buffer.alloc(largestPiece + 1, 'x'), copies: false },
  ])('keeps $name', ({ source, copies }) => {
    const slabs = new SlabMemory();
    const piece = new Piece('x', largestPiece + 1, source);
    slabs.hold(piece);
    expect(piece.home.memory.buffer === source.buffer).toBe(!copies);
    expect(piece.home.memory.buffer.byteLength).toBe(piece.size);
    expect(piece.isWhole).toBe(true);
    slabs.release(piece.home, piece.index);
    expect(slabs.live).toBe(0);
  });

  it.each([
    { name: 'the oldest tenants', of: (i: number) => i < 18_000 },
    { name: 'nine of ten tenants', of: (i: number) => i % 10 !== 0 },
    { name: 'a quarter', of: (i: number) => i % 4 === 0 },
    { name: 'all', of: () => true },
  ])('wastes little memory when $name leave', ({ of }) => {
    const slabs = new SlabMemory();
    const pieces = filled(slabs, 20_000, 2_000);
    const gone = pieces.filter((_, i) => of(i));
    const left = pieces.filter((_, i) => !of(i));
    leave(slabs, gone);
    expect(slabs.live).toBe(left.length * 2_000);
    expect(slabs.waste).toBeLessThanOrEqual(Math.max(4 * megabyte, slabs.live / 8));
    expect(left.every((piece) => piece.isWhole)).toBe(true);
    // Readers that still hold pieces see the same bytes.
    expect(gone.every((piece) => piece.isWhole)).toBe(true);
  });

  it('moves a piece only a few times while others are added and removed', () => {
    const slabs = new SlabMemory();
    const pieces = filled(slabs, 10_000, 2_000);
    let seed = 1;
    let moves = 0;
    for (let i = 0; i < 50_000; i++) {
      seed = (seed * 48_271) % 2_147_483_647;
      const at = seed % pieces.length;
      const old = pieces[at]!;
      moves += old.moves;
      leave(slabs, [old]);
      pieces[at] = filled(slabs, 1, 2_000)[0]!;
    }
    expect(moves / 50_000).toBeLessThan(8);
    expect(slabs.waste).toBeLessThanOrEqual(Math.max(4 * megabyte, slabs.live / 8) + slabBytes);
  });

  it('ignores the release of a tenant that has left or was never present', () => {
    const slabs = new SlabMemory();
    const [first] = filled(slabs, 2, 100);
    leave(slabs, [first!, first!, new Piece('z', 100)]);
    expect(slabs.live).toBe(100);
  });

  describe('compression', () => {
    /** Cools twice, because data read since the last call stays uncompressed. */
    const cool = async (slabs: SlabMemory): Promise<void> => {
      await slabs.cool(atOnce);
      await slabs.cool(atOnce);
    };

    it('compresses unread data and decompresses it on access', async () => {
      const slabs = new SlabMemory();
      const pieces = filled(slabs, 20_000, 1_000);
      const before = slabs.footprint;
      await cool(slabs);
      expect(slabs.footprint).toBeLessThan(before / 5);
      expect(slabs.dropped).toBeGreaterThan(before * 0.9);
      expect(slabs.live).toBe(20_000_000);
      expect(pieces.every((piece) => piece.isWhole)).toBe(true);
      expect(slabs.footprint).toBeGreaterThan(before);
      await cool(slabs);
      expect(slabs.footprint).toBeLessThan(before / 5);
      expect(pieces.every((piece) => piece.isWhole)).toBe(true);
    });

    it('skips data that is read between two calls or during compression', async () => {
      const slabs = new SlabMemory();
      const pieces = filled(slabs, 2_000, 1_000);
      await slabs.cool(atOnce);
      expect(pieces.every((piece) => piece.isWhole)).toBe(true);
      await slabs.cool(atOnce);
      expect(slabs.dropped).toBe(0);
      const cooling = slabs.cool(atOnce);
      expect(pieces.every((piece) => piece.isWhole)).toBe(true);
      await cooling;
      expect(slabs.dropped).toBe(0);
    });

    it('compresses large pieces, too', async () => {
      const slabs = new SlabMemory();
      const piece = filled(slabs, 1, megabyte)[0]!;
      await cool(slabs);
      expect(slabs.dropped).toBe(megabyte);
      expect(piece.isWhole).toBe(true);
      leave(slabs, [piece]);
      expect([slabs.live, slabs.waste]).toEqual([0, slabBytes]);
      expect(piece.isWhole).toBe(true);
    });

    it('skips data that would hardly shrink', async () => {
      const slabs = new SlabMemory();
      const pieces = Array.from({ length: 1_000 }, () => new Piece('', 1_000, randomBytes(1_000)));
      for (const piece of pieces) slabs.hold(piece);
      const before = slabs.footprint;
      await cool(slabs);
      await cool(slabs);
      expect([slabs.dropped, slabs.footprint]).toEqual([0, before]);
    });

    it('compacts compressed slabs', async () => {
      const slabs = new SlabMemory();
      const pieces = filled(slabs, 20_000, 1_000);
      await cool(slabs);
      const left = pieces.filter((_, i) => i % 3 === 0);
      leave(
        slabs,
        pieces.filter((_, i) => i % 3 !== 0),
      );
      expect(slabs.waste).toBeLessThanOrEqual(4 * megabyte);
      expect(left.every((piece) => piece.isWhole)).toBe(true);
    });

    it('pauses after each slab, also during compaction', async () => {
      const slabs = new SlabMemory();
      const pieces = filled(slabs, 40_000, 1_000);
      await slabs.cool(atOnce);
      for (const piece of pieces.filter((_, i) => i % 2 === 0)) slabs.release(piece.home, piece.index);
      const wastes: number[] = [];
      await slabs.cool(() => {
        wastes.push(slabs.waste);
        return Promise.resolve();
      });
      const tidied = wastes.findIndex((waste) => waste <= 4 * megabyte);
      expect(tidied).toBeGreaterThan(50);
      expect(wastes.slice(0, tidied)).toEqual(wastes.slice(0, tidied).toSorted((a, b) => b - a));
      await slabs.cool(atOnce);
      expect(slabs.dropped).toBeGreaterThan(10 * megabyte);
    });

    it('compresses one slab at a time and never concurrently', async () => {
      const slabs = new SlabMemory();
      filled(slabs, 5_000, 1_000);
      await slabs.cool(atOnce);
      await Promise.all([slabs.cool(atOnce), slabs.cool(atOnce), slabs.cool(atOnce)]);
      expect(slabs.dropped).toBe(19 * slabBytes);
    });
  });
});
