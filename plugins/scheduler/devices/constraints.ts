import type { Device, DeviceAttribute, DeviceConstraint } from 'kubenest/types/resource_v1';

/** A condition on all devices of a claim together. Once a device does not fit, more devices do not change that. */
export interface Constraint {
  /** Adds a device for a request (`request` or `request/alternative`); false if the condition would not hold. */
  add(request: string, driver: string, device: Device): boolean;
  /** Reverts the last `add` that succeeded. */
  undo(): void;
}

/** Upstream: dynamic-resource-allocation/structured/internal/incubating (matchAttributeConstraint, distinctAttributeConstraint). */
export function newConstraint({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint): Constraint {
  const attribute = matchAttribute ?? distinctAttribute ?? '';
  const wantsEqual = matchAttribute !== undefined;
  /** Values of the devices so far; undefined for a device to which the constraint does not apply. */
  const values: (string | undefined)[] = [];
  return {
    add(request, driver, device) {
      const applies = requests.length === 0 || requests.includes(request) || requests.includes(request.split('/')[0] as string);
      const value = applies ? valueOf(attribute, driver, device) : undefined;
      if (applies) {
        const present = values.filter((one) => one !== undefined);
        if (value === undefined || !(wantsEqual ? present.every((one) => one === value) : !present.includes(value))) return false;
      }
      values.push(value);
      return true;
    },
    undo: () => void values.pop(),
  };
}

/** Returns the value of an attribute with its type. The driver's own attributes may have no domain. */
function valueOf(name: string, driver: string, { attributes = {} }: Device): string | undefined {
  const own = name.startsWith(`${driver}/`) ? name.slice(driver.length + 1) : undefined;
  let attribute: DeviceAttribute | undefined;
  if (Object.hasOwn(attributes, name)) attribute = attributes[name];
  else if (own !== undefined && Object.hasOwn(attributes, own)) attribute = attributes[own];
  if (!attribute) return undefined;
  const { string, int, bool, version } = attribute;
  return string === undefined && int === undefined && bool === undefined && version === undefined
    ? undefined
    : JSON.stringify({ string, int, bool, version });
}
