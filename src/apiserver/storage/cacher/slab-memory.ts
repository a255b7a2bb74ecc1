import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { noteDropped } from './dropped-bytes.ts';

/**
 * malloc maps so much by itself (bin/kubenest makes it stay so): what a slab had goes back to the system when it is dropped.
 * Who reads something of a packed slab waits for all of it to be unpacked, a fifth of a millisecond.
 */
export const slabBytes = 256 * 1024;
/** Larger pieces have a slab of their own: the end of one in which the next piece has no room is lost. */
export const largestPiece = slabBytes / 16;
/** So much may lie waste, or an eighth of what is in use if that is more. */
const wasteBytes = 4 * 1024 * 1024;
/** What does not become a quarter smaller stays as it is. */
const worthwhile = 3 / 4;

/** Where bytes stand. */
export interface Memory {
  readonly memory: Buffer;
}

/** Who has bytes in a slab. */
export interface Tenant {
  readonly size: number;
  /** Its bytes, wherever they stand. */
  readonly bytes: Buffer;
  /** Its bytes stand at `start` of this memory from now on. `index`: its number there. */
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
  /** The same, smaller; once made it stays, for a full slab does not change. 'useless': it would not be much smaller. */
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

  /** What it takes of the process's memory, when what was dropped is collected. */
  get footprint(): number {
    return (this.#plain ? this.capacity : 0) + (Buffer.isBuffer(this.#packed) ? this.#packed.length : 0);
  }

  take(tenant: Tenant): void {
    this.memory.set(tenant.bytes, this.used);
    this.admit(tenant);
  }

  /** The next bytes are the tenant's already. */
  admit(tenant: Tenant): void {
    tenant.moveTo(this, this.used, this.tenants.push(tenant) - 1);
    this.used += tenant.size;
    this.live += tenant.size;
  }

  /** Packs a full slab of which nothing was read since the last call. Resolves to the bytes that it let go of. */
  async cool(): Promise<number> {
    if (!this.#plain || this.#packed === 'useless') return 0;
    const wasRead = this.#isRead;
    this.#isRead = false;
    if (wasRead) return 0;
    this.#packed ??= await pack(this.#plain.subarray(0, this.used));
    // It may have been read meanwhile.
    if (this.#isRead || this.#packed === 'useless') return 0;
    this.#plain = undefined;
    return this.capacity;
  }
}

/**
 * Memory of many small pieces that live long: they stand one after the other in slabs of 256 KiB. A buffer of its own costs
 * each of them 300 bytes, and what the short-lived ones between them leave in the heap of malloc is never given back.
 *
 * Who leaves tells so, and what it had lies waste. When too much does, those who are left in the emptiest slab move to
 * another. Who still reads the old place does not mind: a slab stays as it is while somebody has it.
 *
 * What nobody reads for a while is packed (`cool`), by another thread: objects are texts of which most is alike. It is
 * unpacked when something of it is read.
 */
export class SlabMemory {
  #current = newSlab();
  /** Full ones. */
  readonly #slabs = new Set<Slab>();
  #live = 0;
  #capacity = 0;
  #dropped = 0;
  #isCooling = false;

  /** Bytes that tenants have here. */
  get live(): number {
    return this.#live;
  }

  /** Bytes of the slabs that are not theirs. */
  get waste(): number {
    return this.#capacity + this.#current.capacity - this.#live;
  }

  /** Bytes that slabs take of the process's memory. */
  get footprint(): number {
    let bytes = this.#current.footprint;
    for (const slab of this.#slabs) bytes += slab.footprint;
    return bytes;
  }

  /** Bytes that were let go of by packing since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Moves its bytes in. Those that are too large have a slab of their own, and are only moved if what they have is part of a larger buffer. */
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

  /** The tenant that is the `index`th of `home` leaves: its bytes stay readable, but are nobody's. */
  release(home: Memory, index: number): void {
    if (!(home instanceof Slab)) return;
    const tenant = home.tenants[index];
    if (!tenant) return;
    home.tenants[index] = undefined;
    home.live -= tenant.size;
    this.#live -= tenant.size;
    if (home.live === 0) this.#remove(home);
  }

  /** How many slabs are full. */
  get size(): number {
    return this.#slabs.size;
  }

  /** To be called after releases: moves the tenants of one slab to others where too much lies waste. Whether there is more of it. */
  tidy(): boolean {
    if (!this.#isWasteful) return false;
    this.#empty(this.#emptiest());
    return this.#isWasteful;
  }

  /**
   * To be called regularly: tidies, and packs what nobody has read since the last call, one slab after the other. `pause` comes behind each
   * that was moved or packed, a millisecond of work at most.
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
    // Who reads an old place keeps the slab, but not those who have moved.
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
  // One byte more than there is, or the end is looked for in a buffer more.
  return zstdDecompressSync(packed, { chunkSize: size + 1 });
}

function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
