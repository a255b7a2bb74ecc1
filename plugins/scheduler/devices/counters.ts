import { Quantity } from 'kubenest/sdk';
import type { Device } from 'kubenest/types/resource_v1';
import type { Pool, PoolDevice } from './pools.ts';

type Amounts = Map<string, Quantity>;

const keyOf = (counterSet: string, counter: string): string => `${counterSet}/${counter}`;

function consumptionOf({ consumesCounters = [] }: Device): [string, Quantity][] {
  return consumesCounters.flatMap(({ counterSet = '', counters = {} }) =>
    Object.entries(counters).map(([name, { value = '0' }]): [string, Quantity] => [keyOf(counterSet, name), Quantity.parse(value)]),
  );
}

/**
 * Counters that the devices of pools share, less the used amounts, so that overlapping partitions of one device are not allocated together.
 * Upstream: dynamic-resource-allocation/structured/internal/incubating (checkAvailableCounters).
 */
export class CounterBudget {
  readonly #left = new Map<string, Amounts>();

  /** `isAllocated` is true for devices that claims have got already. */
  constructor(private readonly isAllocated: (device: PoolDevice) => boolean) {}

  /** Takes the counters of a device. Returns false, and takes nothing, if one of the pool does not suffice. */
  take(device: PoolDevice): boolean {
    this.#change(device, -1);
    // A counter of the pool that is overdrawn for another reason rules the device out as well.
    const suffices = [...this.#of(device.pool).values()].every((amount) => amount.compare(zero) >= 0);
    if (!suffices) this.#change(device, 1);
    return suffices;
  }

  give(device: PoolDevice): void {
    this.#change(device, 1);
  }

  #change({ pool, device }: PoolDevice, sign: 1 | -1): void {
    const left = this.#of(pool);
    for (const [key, amount] of consumptionOf(device)) left.set(key, change(left.get(key) ?? zero, amount, sign));
  }

  #of(pool: Pool): Amounts {
    let left = this.#left.get(pool.id);
    if (left) return left;
    left = new Map();
    this.#left.set(pool.id, left);
    for (const [set, { counters = {} }] of pool.counterSets)
      for (const [name, { value = '0' }] of Object.entries(counters)) left.set(keyOf(set, name), Quantity.parse(value));
    for (const device of [...pool.devices, ...pool.otherDevices]) if (this.isAllocated(device)) this.#change(device, -1);
    return left;
  }
}

const zero = Quantity.parse('0');
const change = (from: Quantity, by: Quantity, sign: 1 | -1): Quantity => (sign === 1 ? from.add(by) : from.sub(by));
