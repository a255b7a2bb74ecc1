import { Quantity } from 'kubenest/sdk';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity } from 'kubenest/types/resource_v1';

/** Amounts of capacities by name. */
export type Capacities = ReadonlyMap<string, Quantity>;

type Requests = Readonly<Record<string, string>>;

const parse = (text: string | undefined): Quantity => Quantity.parse(text ?? '0');

/**
 * Capacity that a request consumes of a device: the requested one, rounded up to a value that the device's policy allows; without a request
 * the policy's default or all. Upstream: dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go.
 */
export function consumedCapacity(requests: Requests, { capacity = {} }: Device): Capacities {
  return new Map(Object.entries(capacity).map(([name, offer]) => [name, consumedOf(requests[name], offer)]));
}

function consumedOf(request: string | undefined, { value, requestPolicy: policy }: DeviceCapacity): Quantity {
  if (request === undefined) return parse(policy?.default ?? value);
  const wanted = parse(request);
  if (policy?.validRange?.min !== undefined) return roundUp(wanted, policy.validRange);
  return policy?.validValues?.map(parse).find((valid) => wanted.compare(valid) <= 0) ?? wanted;
}

function roundUp(wanted: Quantity, { min, step }: CapacityRequestPolicyRange): Quantity {
  const least = parse(min);
  if (wanted.compare(least) < 0) return least;
  if (step === undefined) return wanted;
  const size = parse(step).value();
  const steps = (wanted.value() - least.value() + size - 1n) / size;
  return Quantity.fromInteger(least.value() + steps * size, 'BinarySI');
}

/** True if the device has all requested capacities, its policies allow the amounts, and they fit beside the used capacity. */
export function hasCapacity(requests: Requests, device: Device, inUse: readonly (Capacities | undefined)[]): boolean {
  const offers = device.capacity ?? {};
  if (Object.keys(requests).some((name) => !Object.hasOwn(offers, name))) return false;
  for (const [name, consumed] of consumedCapacity(requests, device)) {
    const { value, requestPolicy } = offers[name] as DeviceCapacity;
    if (violates(consumed, requestPolicy)) return false;
    const total = inUse.reduce((sum, used) => sum.add(used?.get(name) ?? none), consumed);
    if (total.compare(parse(value)) > 0) return false;
  }
  return true;
}

const none = parse('0');

function violates(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  if (!policy || (policy.default !== undefined && amount.equals(parse(policy.default)))) return false;
  const { validRange, validValues = [] } = policy;
  if (!validRange) return validValues.length > 0 && !validValues.some((valid) => amount.equals(parse(valid)));
  if (validRange.max !== undefined && amount.compare(parse(validRange.max)) > 0) return true;
  return validRange.step !== undefined && (amount.value() - parse(validRange.min).value()) % parse(validRange.step).value() !== 0n;
}
