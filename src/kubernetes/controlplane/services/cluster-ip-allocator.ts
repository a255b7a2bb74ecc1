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

/** The service that an address is for. */
export interface AddressOwner {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Gives cluster IPs of the ServiceCIDRs to services. Who holds an address is an IPAddress object of its name, and creating
 * it is what takes the address: of several servers on one store only one can. Nothing else is remembered here.
 * Upstream: core/service/ipallocator/{cidrallocator,ipallocator}.go (MetaAllocator, Allocator).
 */
export class ClusterIPAllocator {
  /** What services were given, by range, for /metrics. */
  readonly counts = new Map<string, AllocationCounts>();
  /** Ranges by the object that they were read of; caches share objects until they change. */
  readonly #ranges = new WeakMap<object, readonly AddressRange[]>();
  #managedFields: readonly ManagedFieldsEntry[] | undefined;

  constructor(readonly client: LoopbackClient) {}

  /** Takes an address that was asked for. Rejects with AllocationError. */
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

  /** Takes any free address. Rejects with AllocationError `full`. */
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
        // Another server was faster.
        counts.failed.dynamic += 1;
      }
      counts.failed.dynamic += 1;
    }
    throw new AllocationError('full', 'range is full');
  }

  /** What a dry run says: nothing is looked up or taken. Throws AllocationError. */
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

  /** Gives an address back; one that is free is fine. */
  async release(ip: string): Promise<void> {
    const parsed = parseAddress(ip);
    if (parsed) await this.client.delete(ipAddresses, '', formatAddress(parsed.family, parsed.address));
  }

  /** Whether any ServiceCIDR of now has an address, ready or not. */
  coverage(): (ip: string) => boolean {
    const ranges = this.client.list(serviceCIDRs).flatMap((cidr) => this.#rangesOf(cidr as ServiceCIDR));
    return (ip) => {
      const parsed = parseAddress(ip);
      return parsed !== undefined && ranges.some((range) => range.contains(parsed.family, parsed.address));
    };
  }

  /** Of the ranges that something was asked of, how many of their addresses are taken now. */
  usage(): { readonly cidr: string; readonly allocated: number; readonly available: number }[] {
    const taken = this.client.list(ipAddresses).flatMap(({ metadata: { name = '' } }) => parseAddress(name) ?? []);
    const ranges = new Map(
      this.client.list(serviceCIDRs).flatMap((cidr) => this.#rangesOf(cidr as ServiceCIDR).map((one) => [one.cidr, one])),
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

  /** false if somebody has it. */
  async #take(family: IPFamily, ip: string, owner: AddressOwner): Promise<boolean> {
    try {
      await this.#create(newIPAddress(family, ip, owner));
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return false;
      throw error;
    }
  }

  /** All have the same fields, so all have the managedFields of the first, but for the time. */
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
    return this.client.list(serviceCIDRs).flatMap((cidr) => (isReady(cidr as ServiceCIDR) ? this.#rangesOf(cidr as ServiceCIDR) : []));
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

/** Whether this server's allocator made it. */
export function isManaged(address: IPAddress): boolean {
  return address.metadata.labels?.[managedByLabel] === controllerName;
}

/** The labels that the allocator gives. */
export function hasAllocatorLabels(address: IPAddress, family: IPFamily): boolean {
  return isManaged(address) && address.metadata.labels?.[familyLabel] === family;
}

/** A ServiceCIDR that nobody has judged yet is taken for ready. */
function isReady(cidr: ServiceCIDR): boolean {
  if (cidr.metadata.deletionTimestamp) return false;
  const condition = cidr.status?.conditions?.find(({ type }) => type === 'Ready');
  return condition === undefined || condition.status === 'True';
}

function newAllocated(): AllocationError {
  return new AllocationError('allocated', 'provided IP is already allocated');
}
