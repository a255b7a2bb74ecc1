import { isAlreadyExists } from '#apimachinery/api/errors';
import type { ManagedFieldsEntry } from '#apimachinery/meta/types';
import { now } from '#apimachinery/runtime/time';
import type { LoopbackClient, LoopbackTarget } from '#apiserver/server/loopback-client';
import type { IPAddress, ServiceCIDR } from '#kubernetes/schema/networking_v1.gen';
import { AddressRange, formatAddress, type IPFamily, parseAddress } from './address-range.ts';
import { AllocationCounts } from './allocation-counts.ts';
import { AllocationError } from './allocation-error.ts';

export const ipAddresses: LoopbackTarget = { group: 'networking.k8s.io', version: 'v1', resource: 'ipaddresses' };
export const serviceCIDRs: LoopbackTarget = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };

const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
const familyLabel = 'ipaddress.kubernetes.io/ip-family';
const controllerName = 'ipallocator.k8s.io';

/** The service to which an address is allocated. */
export interface AddressOwner {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Allocates cluster IPs of the ServiceCIDRs. Creating the IPAddress object with the address as its name allocates it, which succeeds on
 * only one of several servers with a common store. There is no other state. Upstream:
 * core/service/ipallocator/{cidrallocator,ipallocator}.go (MetaAllocator, Allocator).
 */
export class ClusterIPAllocator {
  /** Allocation counts by range, for /metrics. */
  readonly counts = new Map<string, AllocationCounts>();
  /** Cache of ranges by the object that they were parsed from; object caches share objects until they change. */
  readonly #ranges = new WeakMap<object, readonly AddressRange[]>();
  #managedFields: readonly ManagedFieldsEntry[] | undefined;

  constructor(readonly client: LoopbackClient) {}

  /** Allocates the given address. Rejects with AllocationError. */
  async allocate(ip: string, owner: AddressOwner): Promise<void> {
    const parsed = parseAddress(ip);
    const range = parsed && this.#readyRanges().find((one) => one.contains(parsed.family, parsed.address));
    if (!range) {
      throw new AllocationError('mismatchedNetwork', 'the provided network does not match the current range');
    }
    await this.#countsOf(range).count('static', async () => {
      if (!(await this.#take(parsed.family, formatAddress(parsed.family, parsed.address), owner))) throw newAllocated();
    });
  }

  /** Allocates any free address. Rejects with AllocationError `full`. */
  async allocateNext(family: IPFamily, owner: AddressOwner): Promise<string> {
    for (const range of this.#readyRanges()) {
      if (range.family !== family) continue;
      const counts = this.#countsOf(range);
      const began = performance.now();
      for (const address of range.candidates()) {
        const ip = range.format(address);
        if (this.client.peek(ipAddresses, '', ip)) continue;
        if (await this.#take(family, ip, owner)) {
          counts.took('dynamic', performance.now() - began);
          return ip;
        }
        // Another server allocated it first.
        counts.failed.dynamic += 1;
      }
      counts.failed.dynamic += 1;
    }
    throw new AllocationError('full', 'range is full');
  }

  /** Returns the address of a dry run without any lookup or allocation. Throws AllocationError. */
  dryRun(family: IPFamily, ip: string): string {
    const ranges = this.#readyRanges().filter((one) => one.family === family);
    const [range] = ranges;
    if (!range) throw new AllocationError('notReady', 'allocator not ready');
    if (ip === '') return range.format(range.network);
    const parsed = parseAddress(ip);
    if (!parsed || !ranges.some((one) => one.contains(parsed.family, parsed.address))) {
      throw new AllocationError('notInRange', `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${range.cidr}`);
    }
    return ip;
  }

  /** Releases an address; does nothing if it is free. */
  async release(ip: string): Promise<void> {
    const parsed = parseAddress(ip);
    if (parsed) await this.client.delete(ipAddresses, '', formatAddress(parsed.family, parsed.address));
  }

  /** Returns a function that reports whether any current ServiceCIDR, ready or not, contains an address. */
  coverage(): (ip: string) => boolean {
    const ranges = this.client.peekAll(serviceCIDRs).flatMap((cidr) => this.#rangesOf(cidr as ServiceCIDR));
    return (ip) => {
      const parsed = parseAddress(ip);
      return parsed !== undefined && ranges.some((range) => range.contains(parsed.family, parsed.address));
    };
  }

  /** Returns the number of allocated and available addresses of the ranges that have been used. */
  usage(): { readonly cidr: string; readonly allocated: number; readonly available: number }[] {
    const taken = this.client.peekAll(ipAddresses).flatMap(({ metadata: { name = '' } }) => parseAddress(name) ?? []);
    const ranges = new Map(
      this.client.peekAll(serviceCIDRs).flatMap((cidr) => this.#rangesOf(cidr as ServiceCIDR).map((one) => [one.cidr, one])),
    );
    return [...this.counts.keys()].flatMap((cidr) => {
      const range = ranges.get(cidr);
      if (!range) return [];
      const allocated = taken.filter(({ family, address }) => range.contains(family, address)).length;
      return [{ cidr, allocated, available: Math.max(0, Number(range.last - range.first) + 1 - allocated) }];
    });
  }

  #countsOf({ cidr }: AddressRange): AllocationCounts {
    let counts = this.counts.get(cidr);
    if (!counts) this.counts.set(cidr, (counts = new AllocationCounts()));
    return counts;
  }

  /** Resolves with false if the address is allocated already. */
  async #take(family: IPFamily, ip: string, owner: AddressOwner): Promise<boolean> {
    try {
      await this.#create(newIPAddress(family, ip, owner));
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }

  /** Creates the object. All have the same fields, so managedFields are computed once, except for the time. */
  async #create(address: IPAddress): Promise<void> {
    if (!this.#managedFields) {
      this.#managedFields = (await this.client.create(ipAddresses, address)).metadata.managedFields;
      return;
    }
    const time = now();
    address.metadata.managedFields = this.#managedFields.map((entry) => ({ ...entry, time }));
    await this.client.createPrepared(ipAddresses, address);
  }

  #readyRanges(): AddressRange[] {
    return this.client.peekAll(serviceCIDRs).flatMap((cidr) => (isReady(cidr as ServiceCIDR) ? this.#rangesOf(cidr as ServiceCIDR) : []));
  }

  #rangesOf(cidr: ServiceCIDR): readonly AddressRange[] {
    let ranges = this.#ranges.get(cidr);
    if (!ranges) {
      ranges = (cidr.spec?.cidrs ?? []).flatMap((text) => AddressRange.parse(text) ?? []);
      this.#ranges.set(cidr, ranges);
    }
    return ranges;
  }
}

export function newIPAddress(family: IPFamily, ip: string, { namespace, name }: AddressOwner): IPAddress {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name: ip, labels: { [familyLabel]: family, [managedByLabel]: controllerName } },
    spec: { parentRef: { resource: 'services', namespace, name } },
  };
}

/** True if the allocator of an API server created the object. */
export function isManaged(address: IPAddress): boolean {
  return address.metadata.labels?.[managedByLabel] === controllerName;
}

/** True if the object has the labels that the allocator sets. */
export function hasAllocatorLabels(address: IPAddress, family: IPFamily): boolean {
  return isManaged(address) && address.metadata.labels?.[familyLabel] === family;
}

/** True if the range is ready. A ServiceCIDR without a condition counts as ready. */
function isReady(cidr: ServiceCIDR): boolean {
  if (cidr.metadata.deletionTimestamp) return false;
  const condition = cidr.status?.conditions?.find(({ type }) => type === 'Ready');
  return condition === undefined || condition.status === 'True';
}

function newAllocated(): AllocationError {
  return new AllocationError('allocated', 'provided IP is already allocated');
}
