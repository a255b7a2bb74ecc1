import type { Device, DeviceSelector } from 'kubenest/types/resource_v1';
import { takeTime } from './evaluation-time.ts';
import { type CompiledSelector, compileDeviceSelector, deviceMatches, type DeviceValue, deviceValue } from '#sdk/internal';

const compiled = new Map<string, CompiledSelector | string>();
const maxCompiled = 100;
/** Devices are immutable, since a new version of a slice has new ones. */
const values = new WeakMap<Device, DeviceValue | string>();
const results = new WeakMap<CompiledSelector, WeakMap<Device, boolean | string>>();

/**
 * True if all selectors match a device of the driver; else false, or the text of an error with the index of the selector. Throws MoreTimeNeeded
 * within `pausing`.
 */
export function selectorsMatch(selectors: readonly DeviceSelector[], driver: string, device: Device): boolean | string {
  for (const [i, { cel }] of selectors.entries()) {
    const selector = compile(cel?.expression ?? '');
    if (typeof selector === 'string') return `selector #${i}: CEL compile error: ${selector}`;
    const result = resultOf(selector, driver, device);
    if (typeof result === 'string') return `selector #${i}: CEL runtime error: ${result}`;
    if (!result) return false;
  }
  return true;
}

function resultOf(selector: CompiledSelector, driver: string, device: Device): boolean | string {
  let ofSelector = results.get(selector);
  if (!ofSelector) results.set(selector, (ofSelector = new WeakMap()));
  let result = ofSelector.get(device);
  if (result === undefined) {
    takeTime();
    const value = valueOf(driver, device);
    result = typeof value === 'string' ? value : deviceMatches(selector, value);
    ofSelector.set(device, result);
  }
  return result;
}

function compile(text: string): CompiledSelector | string {
  let selector = compiled.get(text);
  if (selector !== undefined) return selector;
  if (compiled.size >= maxCompiled) compiled.clear();
  selector = compileDeviceSelector(text, true);
  compiled.set(text, selector);
  return selector;
}

function valueOf(driver: string, device: Device): DeviceValue | string {
  let value = values.get(device);
  if (value !== undefined) return value;
  value = deviceValue({ driver, ...device });
  values.set(device, value);
  return value;
}
