import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { noteDropped } from './dropped-bytes.ts';

/**
 * Slab size. malloc serves this size by mmap (bin/kubenest fixes the threshold), so a dropped slab returns to the system.
 * Reading from a compressed slab decompresses all of it, which takes 0.2 ms.
 */
export const slabBytes = 256 * 1024;
/** Larger pieces get a slab of their own, because the rest of a slab without room for the next piece is wasted. */
export const largestPiece = slabBytes / 16;
/** Maximum waste, or an eighth of the used memory if that is more. */
const wasteBytes = 4 * 1024 * 1024;
/** Compression that saves less than a quarter is discarded. */
const worthwhile = 3 / 4;

/** Memory that holds bytes of tenants. */
export interface Memory {
  readonly memory: Buffer;
}

/** An owner of bytes in a slab. */
export interface Tenant {
  readonly size: number;
  /** The tenant's bytes at their current position. */
  readonly bytes: Buffer;
  /** Called after the tenant's bytes were moved to `start` of this memory. `index` is the tenant's number there. */
  moveTo(home: Memory, start: number, index: number): void;
}

const compress = promisify(zstdCompress);
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

class Slab implements Memory {
  readonly capacity: number;
  readonly tenants: (Tenant | undefined)[] = [];
  used = 0;
  live = 0;
  #plain: Buffer | undefined;
  /** The compressed bytes, kept because a full slab does not change. 'useless' if compression saves too little. */
  #packed: Buffer | 'useless' | undefined = undefined;
  #isRead = true;

  constructor(plain: Buffer) {
    this.#plain = plain;
    this.capacity = plain.length;
  }

  get memory(): Buffer {
    this.#isRead = true;
    return (this.#plain ??= unpack(this.#packed as Buffer, this.used));
  }

  get waste(): number {
    return this.capacity - this.live;
  }

  /** Memory use in bytes, once dropped buffers have been collected. */
  get footprint(): number {
    return (this.#plain ? this.capacity : 0) + (Buffer.isBuffer(this.#packed) ? this.#packed.length : 0);
  }

  take(tenant: Tenant): void {
    this.memory.set(tenant.bytes, this.used);
    this.admit(tenant);
  }

  /** Registers a tenant whose bytes are already at the next position. */
  admit(tenant: Tenant): void {
    tenant.moveTo(this, this.used, this.tenants.push(tenant) - 1);
    this.used += tenant.size;
    this.live += tenant.size;
  }

  /** Compresses a full slab that was not read since the last call. Resolves to the bytes released. */
  async cool(): Promise<number> {
    if (!this.#plain || this.#packed === 'useless') return 0;
    const wasRead = this.#isRead;
    this.#isRead = false;
    if (wasRead) return 0;
    this.#packed ??= await pack(this.#plain.subarray(0, this.used));
    // The slab may have been read during the compression.
    if (this.#isRead || this.#packed === 'useless') return 0;
    this.#plain = undefined;
    return this.capacity;
  }
}

/**
 * Memory for many small, long-lived pieces, packed contiguously into slabs of 256 KiB. A separate buffer would cost each
 * piece 300 bytes, and the gaps that short-lived allocations leave in the malloc heap would never be returned.
 *
 * A tenant that leaves reports it, and its bytes count as waste. When the waste exceeds the limit, the tenants of the
 * emptiest slab move to another one. Readers of the old position are unaffected, because a slab stays unchanged while it is
 * referenced.
 *
 * Data that is not read for a while is compressed (`cool`) in another thread, since objects are similar texts. Reading
 * decompresses it.
 */
export class SlabMemory {
  #current = newSlab();
  /** Slabs without free space. */
  readonly #slabs = new Set<Slab>();
  #live = 0;
  #capacity = 0;
  #dropped = 0;
  #isCooling = false;

  /** Bytes that belong to tenants. */
  get live(): number {
    return this.#live;
  }

  /** Bytes of slabs that belong to no tenant. */
  get waste(): number {
    return this.#capacity + this.#current.capacity - this.#live;
  }

  /** Memory use of the slabs in bytes. */
  get footprint(): number {
    let bytes = this.#current.footprint;
    for (const slab of this.#slabs) bytes += slab.footprint;
    return bytes;
  }

  /** Bytes released by compression since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Moves the tenant's bytes into a slab. Pieces that are too large get their own slab and are copied only if they are part
   * of a larger buffer.
   */
  hold(tenant: Tenant): void {
    const { size } = tenant;
    this.#live += size;
    if (size <= largestPiece) {
      this.#take(tenant);
      return;
    }
    const { bytes } = tenant;
    const slab = new Slab(bytes.buffer.byteLength > size ? ownCopy(bytes) : bytes);
    slab.admit(tenant);
    this.#add(slab);
  }

  /** Releases the tenant at `index` of `home`. Its bytes stay readable but count as waste. */
  release(home: Memory, index: number): void {
    if (!(home instanceof Slab)) return;
    const tenant = home.tenants[index];
    if (!tenant) return;
    home.tenants[index] = undefined;
    home.live -= tenant.size;
    this.#live -= tenant.size;
    if (home.live === 0) this.#remove(home);
  }

  /** Number of full slabs. */
  get size(): number {
    return this.#slabs.size;
  }

  /**
   * Moves the tenants of one slab to others if the waste exceeds the limit; called after releases. Returns true if more
   * remains to be done.
   */
  tidy(): boolean {
    if (!this.#isWasteful) return false;
    this.#empty(this.#emptiest());
    return this.#isWasteful;
  }

  /**
   * Compacts, then compresses slabs that were not read since the last call, one after the other; called periodically. Awaits
   * `pause` after each slab, which takes at most a millisecond.
   */
  async cool(pause: () => Promise<void>): Promise<void> {
    if (this.#isCooling) return;
    this.#isCooling = true;
    try {
      while (this.tidy()) await pause();
      for (const slab of this.#slabs) {
        const bytes = await slab.cool();
        this.#dropped += bytes;
        noteDropped(bytes);
        if (bytes > 0) await pause();
      }
    } finally {
      this.#isCooling = false;
    }
  }

  #take(tenant: Tenant): void {
    if (this.#current.used + tenant.size > this.#current.capacity) {
      if (this.#current.live > 0) this.#add(this.#current);
      this.#current = newSlab();
    }
    this.#current.take(tenant);
  }

  #add(slab: Slab): void {
    this.#slabs.add(slab);
    this.#capacity += slab.capacity;
  }

  #remove(slab: Slab): void {
    if (this.#slabs.delete(slab)) this.#capacity -= slab.capacity;
  }

  get #isWasteful(): boolean {
    return this.#slabs.size > 0 && this.waste > Math.max(wasteBytes, this.#live / 8);
  }

  #emptiest(): Slab {
    let emptiest: Slab | undefined;
    for (const slab of this.#slabs) if (!emptiest || slab.waste > emptiest.waste) emptiest = slab;
    return emptiest!;
  }

  #empty(slab: Slab): void {
    this.#remove(slab);
    // A reader of an old position retains the slab, but not the tenants that have moved.
    for (const tenant of slab.tenants.splice(0)) if (tenant) this.#take(tenant);
  }
}

function newSlab(): Slab {
  return new Slab(Buffer.allocUnsafeSlow(slabBytes));
}

async function pack(plain: Buffer): Promise<Buffer | 'useless'> {
  const packed = await compress(plain, packing);
  return packed.length > plain.length * worthwhile ? 'useless' : ownCopy(packed);
}

function unpack(packed: Buffer, size: number): Buffer {
  // One byte more than the size: otherwise zlib allocates another buffer to detect the end.
  return zstdDecompressSync(packed, { chunkSize: size + 1 });
}

function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
