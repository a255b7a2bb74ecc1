import type { DeviceClass, DeviceRequest, DeviceSelector, DeviceToleration, ResourceClaim } from 'kubenest/types/resource_v1';
import { keyOf } from '../framework/pod-info.ts';
import { AllocationError } from './allocation-error.ts';

/** Maximum number of devices of a claim. Upstream: AllocationResultsMaxSize. */
export const maxDevices = 32;

/** A request for devices of one class: a request of a claim, or an alternative of one. */
export interface DeviceWish {
  /** Name in the allocation: `request` or `request/alternative`. */
  readonly name: string;
  /** Name in messages, without that of the request that an alternative belongs to. */
  readonly ownName: string;
  readonly deviceClass: DeviceClass;
  readonly selectors: readonly DeviceSelector[];
  /** Number of devices; undefined for all that match. */
  readonly count: number | undefined;
  readonly isAdmin: boolean;
  readonly tolerations: readonly DeviceToleration[];
  readonly capacity: Readonly<Record<string, string>>;
}

export type ClassLookup = (name: string) => DeviceClass | undefined;

/** Returns the alternatives of a request, the preferred one first. */
export function wishesOf(claim: ResourceClaim, request: DeviceRequest, classes: ClassLookup): DeviceWish[] {
  const { name = '', exactly, firstAvailable = [] } = request;
  const make = (own: string, full: string, from: NonNullable<typeof exactly>): DeviceWish => {
    const { deviceClassName = '', selectors = [], allocationMode = 'ExactCount', count = 1, adminAccess = false, tolerations = [] } = from;
    const place = `claim ${keyOf(claim)}, request ${own}`;
    const deviceClass = classes(deviceClassName);
    if (!deviceClass) {
      const missing = `deviceclass.resource.k8s.io ${JSON.stringify(deviceClassName)} not found`;
      throw new AllocationError(`${place}: could not retrieve device class ${deviceClassName}: ${missing}`);
    }
    if (allocationMode !== 'ExactCount' && allocationMode !== 'All')
      throw new AllocationError(`${place}: unsupported count mode ${allocationMode}`);
    return {
      name: full,
      ownName: own,
      deviceClass,
      selectors,
      count: allocationMode === 'All' ? undefined : count,
      isAdmin: adminAccess,
      tolerations,
      capacity: from.capacity?.requests ?? {},
    };
  };
  if (exactly) return [make(name, name, exactly)];
  return firstAvailable.map((alternative) => make(alternative.name ?? '', `${name}/${alternative.name}`, alternative));
}
