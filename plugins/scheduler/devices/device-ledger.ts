import { Quantity } from 'kubenest/sdk';
import type { AllocationResult } from 'kubenest/types/resource_v1';
import type { Capacities } from './consumable-capacity.ts';

/** A device of an allocation. Shares consume capacity; other allocations take the whole device. */
interface Entry {
  readonly id: string;
  readonly isShare: boolean;
  readonly capacity: readonly (readonly [string, Quantity])[];
}

interface Shares {
  count: number;
  readonly capacity: Map<string, Quantity>;
}

/**
 * Devices that claims have got. Devices allocated for admin access remain available and are not counted. Upstream:
 * pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go.
 */
export class DeviceLedger {
  readonly #claims = new Map<string, readonly Entry[]>();
  readonly #whole = new Map<string, number>();
  readonly #shares = new Map<string, Shares>();
  #version = 0;

  /** A number that changes whenever an allocation does. */
  get version(): number {
    return this.#version;
  }

  /** Replaces the allocation of a claim. */
  set(claim: string, allocation: AllocationResult | undefined): void {
    for (const entry of this.#claims.get(claim) ?? []) this.#change(entry, -1);
    if (this.#claims.delete(claim)) this.#version += 1;
    if (!allocation) return;
    this.#version += 1;
    const entries = entriesOf(allocation);
    for (const entry of entries) this.#change(entry, 1);
    this.#claims.set(claim, entries);
  }

  /** True if a claim has the device for itself. */
  isTaken(id: string): boolean {
    return this.#whole.has(id);
  }

  /** Returns the capacity that shares of the device consume; undefined if it is not shared. */
  shared(id: string): Capacities | undefined {
    return this.#shares.get(id)?.capacity;
  }

  #change({ id, isShare, capacity }: Entry, by: 1 | -1): void {
    if (!isShare) return changeCount(this.#whole, id, by);
    const shares = this.#shares.get(id) ?? { count: 0, capacity: new Map<string, Quantity>() };
    shares.count += by;
    for (const [name, amount] of capacity) {
      const before = shares.capacity.get(name) ?? Quantity.parse('0');
      shares.capacity.set(name, by === 1 ? before.add(amount) : before.sub(amount));
    }
    if (shares.count === 0) this.#shares.delete(id);
    else this.#shares.set(id, shares);
  }
}

function changeCount(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function entriesOf({ devices }: AllocationResult): Entry[] {
  return (devices?.results ?? [])
    .filter(({ adminAccess }) => !adminAccess)
    .map(({ driver, pool, device, shareID, consumedCapacity = {} }) => ({
      id: `${driver}/${pool}/${device}`,
      isShare: shareID !== undefined,
      capacity: Object.entries(consumedCapacity).map(([name, amount]) => [name, Quantity.parse(amount)] as const),
    }));
}
