import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, inflateRaw } from 'node:zlib';
import { kept } from '#apimachinery/runtime/kept-bytes';

/** Compression level. Upstream: handlers/responsewriters/writers.go (defaultGzipContentEncodingLevel). */
export const gzipLevel = 1;
/** Pieces up to this size are stored uncompressed. */
const deflatedAboveBytes = 4_096;
/** Gzip header: ID, deflate, no flags, no time, fastest, unknown system. RFC 1952, 2.3. */
const head = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255]);
/** Empty final stored block. RFC 1951, 3.2.4. */
const lastBlock = Buffer.from([1, 0, 0, 0xff, 0xff]);

/** Byte-aligned deflate blocks without back-references beyond their start, so that they are valid at any position of a stream. */
export interface Deflated {
  readonly blocks: Buffer;
  /** CRC-32 of the uncompressed bytes; `bytes` is their number. */
  readonly crc: number;
  readonly bytes: number;
}

/** Compressed pieces by the original, for its lifetime: the watch cache retains runs of list items. */
const deflatedPieces = new WeakMap<Buffer, Deflated | Promise<Deflated>>();
/** Compressed pieces by their blocks, for callers that retain only these. */
const deflatedBlocks = new WeakMap<Buffer, Deflated>();
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** A gzip member composed of separately compressed pieces. Its checksum is combined from theirs. */
export class GzipMember {
  readonly head = head;
  #crc = 0;
  #size = 0;

  /** Adds a piece and returns its bytes in the member. */
  add({ blocks, crc, bytes }: Deflated): Buffer {
    this.#crc = combineCrc32(this.#crc, crc, bytes);
    this.#size += bytes;
    return blocks;
  }

  /** Returns the end of the member. */
  end(): Buffer {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#size % 2 ** 32, 4);
    return Buffer.concat([lastBlock, trailer]);
  }
}

/** Compresses pieces to one gzip member. Compression of a piece is cached. */
export async function gzipPieces(pieces: readonly Buffer[]): Promise<Buffer[]> {
  const deflated = await Promise.all(pieces.map(async (piece) => deflatedPiece(piece)));
  const member = new GzipMember();
  return [member.head, ...deflated.map((piece) => member.add(piece)), member.end()];
}

/** Compresses pieces to one gzip member as they are made. */
export async function* gzipAsMade(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const member = new GzipMember();
  yield member.head;
  for await (const piece of pieces) yield member.add(await deflatedPiece(piece));
  yield member.end();
}

/** Returns the result of `deflatePiece` for its blocks. */
export function deflatedOf(blocks: Buffer): Deflated {
  return deflatedBlocks.get(blocks)!;
}

export function deflatedPiece(piece: Buffer): Deflated | Promise<Deflated> {
  if (piece.length <= deflatedAboveBytes) return { blocks: storedBlock(piece), crc: crc32(piece), bytes: piece.length };
  let deflated = deflatedPieces.get(piece);
  if (!deflated) {
    deflated = deflatePiece(piece).then((done) => {
      deflatedPieces.set(piece, done);
      return done;
    });
    deflatedPieces.set(piece, deflated);
  }
  return deflated;
}

/** Compresses a piece without caching by it, so that its buffer may be reused afterwards. */
export async function deflatePiece(piece: Buffer): Promise<Deflated> {
  const blocks = kept(await deflate(piece, { level: gzipLevel, finishFlush: constants.Z_FULL_FLUSH }));
  const deflated = { blocks, crc: crc32(piece), bytes: piece.length };
  deflatedBlocks.set(blocks, deflated);
  return deflated;
}

/** Decompresses a piece. */
export async function inflatePiece({ blocks, bytes }: Deflated): Promise<Buffer> {
  // One byte more than the result avoids a second output chunk.
  return kept(await inflate(blocks, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: Math.max(bytes + 1, constants.Z_MIN_CHUNK) }));
}

function storedBlock(piece: Buffer): Buffer {
  const block = Buffer.allocUnsafe(5 + piece.length);
  block[0] = 0;
  block.writeUInt16LE(piece.length, 1);
  block.writeUInt16LE(piece.length ^ 0xffff, 3);
  piece.copy(block, 5);
  return block;
}

/** Polynomial of CRC-32, bits reversed. */
const polynomial = 0xedb88320;

/**
 * Returns the product of two polynomials modulo that of the CRC; the highest bit is the coefficient of x^0. Upstream: zlib's
 * crc32.c.
 */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 1 << 31, factor = b; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ polynomial : factor >>> 1;
  }
  return product >>> 0;
}

/** x^(2^n) for n from 0. */
const squares = [1 << 30];
for (let n = 1; n < 32; n++) squares.push(multiply(squares[n - 1] as number, squares[n - 1] as number));

/** Returns the CRC-32 of a concatenation from those of both parts and the length of the second part in bytes. */
export function combineCrc32(first: number, second: number, length: number): number {
  // Each byte of the second part shifts the first CRC by 8 bits: x^(8 * length).
  let shift = 1 << 31;
  for (let n = 3, left = length; left > 0; left = Math.floor(left / 2), n++) {
    if (left % 2 === 1) shift = multiply(squares[n % 32] as number, shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}
