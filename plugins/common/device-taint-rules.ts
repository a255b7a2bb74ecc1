/** DeviceTaintRules: taints that an administrator adds to devices. Upstream: dynamic-resource-allocation/resourceslice/tracker. */
import type { Device, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';

/** Place of a device. */
export interface DevicePlace {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
}

/** True if the rule taints the device. A rule without a selector taints none. */
export function matchesDevice({ spec }: DeviceTaintRule, { driver, pool, device }: DevicePlace): boolean {
  const selector = spec?.deviceSelector;
  if (!selector) return false;
  const isEqual = (wanted: string | undefined, present: string | undefined): boolean => wanted === undefined || wanted === present;
  return isEqual(selector.driver, driver) && isEqual(selector.pool, pool) && isEqual(selector.device, device);
}

/** Returns the slice with the taints of the rules; the slice itself if no rule matches. */
export function withRuleTaints(slice: ResourceSlice, rules: readonly DeviceTaintRule[]): ResourceSlice {
  const { driver, pool, devices = [] } = slice.spec ?? {};
  const tainted = devices.map((device): Device => {
    const place = { ...(driver && { driver }), ...(pool?.name && { pool: pool.name }), ...(device.name && { device: device.name }) };
    const taints = rules.flatMap((rule) => (matchesDevice(rule, place) && rule.spec?.taint ? [rule.spec.taint] : []));
    return taints.length === 0 ? device : { ...device, taints: [...(device.taints ?? []), ...taints] };
  });
  return tainted.every((device, at) => device === devices[at]) ? slice : { ...slice, spec: { ...slice.spec, devices: tainted } };
}
