import { Buffer } from 'node:buffer';

/** malloc maps so much by itself (bin/kubenest makes it stay so): what a slab had goes back to the system when it is dropped. */
export const slabBytes = 1024 * 1024;
/** Larger pieces have memory of their own: the end of a slab in which the next piece has no room is lost. */
export const largestPiece = slabBytes / 16;
/** So much may lie waste, or an eighth of what is in use if that is more. */
const wasteBytes = 4 * slabBytes;

/** Where bytes stand. */
export interface Memory {
  readonly memory: Buffer;
}

/** Who has bytes in a slab. */
export interface Tenant {
  readonly size: number;
  /** Its bytes, wherever they stand. */
  readonly bytes: Buffer;
  /** Its bytes stand at `start` of this memory from now on. `index`: its number there, -1 where it has the memory for itself. */
  moveTo(home: Memory, start: number, index: number): void;
}

class Slab implements Memory {
  readonly memory = Buffer.allocUnsafeSlow(slabBytes);
  readonly tenants: (Tenant | undefined)[] = [];
  used = 0;
  live = 0;

  take(tenant: Tenant): void {
    const { size } = tenant;
    this.memory.set(tenant.bytes, this.used);
    tenant.moveTo(this, this.used, this.tenants.push(tenant) - 1);
    this.used += size;
    this.live += size;
  }
}

/**
 * Memory of many small pieces that live long: they stand one after the other in slabs of 1 MiB. A buffer of its own costs
 * each of them 300 bytes, and what the short-lived ones between them leave in the heap of malloc is never given back.
 *
 * Who leaves tells so, and what it had lies waste. When too much does, those who are left in the emptiest slab move to
 * another. Who still reads the old place does not mind: a slab stays as it is while somebody has it.
 */
export class SlabMemory {
  #current = new Slab();
  /** Full ones. */
  readonly #slabs = new Set<Slab>();
  #live = 0;

  /** Bytes that tenants have here. */
  get live(): number {
    return this.#live;
  }

  /** Bytes of the slabs that are not theirs. */
  get waste(): number {
    return (this.#slabs.size + 1) * slabBytes - this.#live;
  }

  /** Moves its bytes in. Those that are too large get memory of their own, if what they have is part of a larger buffer. */
  hold(tenant: Tenant): void {
    const { size } = tenant;
    if (size > largestPiece) {
      if (tenant.bytes.buffer.byteLength > size) tenant.moveTo({ memory: ownCopy(tenant.bytes) }, 0, -1);
      return;
    }
    this.#take(tenant);
    this.#live += size;
  }

  /** The tenant that is the `index`th of `home` leaves: its bytes stay readable, but are nobody's. */
  release(home: Memory, index: number): void {
    if (!(home instanceof Slab)) return;
    const tenant = home.tenants[index];
    if (!tenant) return;
    home.tenants[index] = undefined;
    home.live -= tenant.size;
    this.#live -= tenant.size;
    if (home.live === 0) this.#slabs.delete(home);
  }

  /** To be called after releases: moves tenants together where too much lies waste. */
  tidy(): void {
    while (this.#slabs.size > 0 && this.waste > Math.max(wasteBytes, this.#live / 8)) this.#empty(this.#emptiest());
  }

  #take(tenant: Tenant): void {
    if (this.#current.used + tenant.size > slabBytes) {
      if (this.#current.live > 0) this.#slabs.add(this.#current);
      this.#current = new Slab();
    }
    this.#current.take(tenant);
  }

  #emptiest(): Slab {
    let emptiest: Slab | undefined;
    for (const slab of this.#slabs) if (!emptiest || slab.live < emptiest.live) emptiest = slab;
    return emptiest!;
  }

  #empty(slab: Slab): void {
    this.#slabs.delete(slab);
    // Who reads an old place keeps the slab, but not those who have moved.
    for (const tenant of slab.tenants.splice(0)) if (tenant) this.#take(tenant);
  }
}

function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
