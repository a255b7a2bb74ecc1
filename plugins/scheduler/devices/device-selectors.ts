import type { Device, DeviceSelector } from 'kubenest/types/resource_v1';
import { type CompiledSelector, compileDeviceSelector, deviceMatches, type DeviceValue, deviceValue } from '#sdk/internal';
import { AllocationTimeout } from './allocation-error.ts';
import { answered, takeTime } from './evaluation-time.ts';

const compiled = new Map<string, CompiledSelector | string>();
const maxCompiled = 100;
/** Devices are immutable, since a new version of a slice has new ones. */
const values = new WeakMap<Device, DeviceValue | string>();
const results = new WeakMap<CompiledSelector, WeakMap<Device, boolean | string>>();

/** Maximum number of evaluations for one pod: some seconds. */
const maxEvaluations = 100_000;

/**
 * The results of selectors for the devices that one pod may get. They are kept until the pod has been scheduled, whatever else is compiled
 * in the meantime, so an attempt that continues in another turn evaluates nothing twice.
 */
export class SelectorResults {
  readonly #results = new Map<string, Map<Device, boolean | string>>();
  #count = 0;

  /**
   * True if all selectors match a device of the driver; else false, or the text of an error with the index of the selector. Throws
   * AllocationTimeout, and MoreTimeNeeded within `pausing`.
   */
  match(selectors: readonly DeviceSelector[], driver: string, device: Device): boolean | string {
    for (const [i, { cel }] of selectors.entries()) {
      const result = this.#resultOf(cel?.expression ?? '', driver, device);
      if (typeof result === 'string') return `selector #${i}: ${result}`;
      if (!result) return false;
    }
    return true;
  }

  #resultOf(text: string, driver: string, device: Device): boolean | string {
    const known = this.#results.get(text) ?? new Map<Device, boolean | string>();
    this.#results.set(text, known);
    let result = known.get(device);
    if (result === undefined) {
      if (this.#count >= maxEvaluations) throw new AllocationTimeout();
      result = evaluate(text, driver, device);
      this.#count += 1;
      known.set(device, result);
    }
    return result;
  }
}

function evaluate(text: string, driver: string, device: Device): boolean | string {
  const selector = compile(text);
  if (typeof selector === 'string') return `CEL compile error: ${selector}`;
  const result = resultOf(selector, driver, device);
  return typeof result === 'string' ? `CEL runtime error: ${result}` : result;
}

function resultOf(selector: CompiledSelector, driver: string, device: Device): boolean | string {
  const ofSelector = results.get(selector) ?? new WeakMap<Device, boolean | string>();
  results.set(selector, ofSelector);
  const known = ofSelector.get(device);
  if (known !== undefined) return known;
  takeTime();
  const value = valueOf(driver, device);
  const keep = (result: boolean | string): void => void ofSelector.set(device, result);
  const result = typeof value === 'string' ? value : answered<boolean | string>(() => deviceMatches(selector, value), keep);
  keep(result);
  return result;
}

function compile(text: string): CompiledSelector | string {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  takeTime();
  const keep = (selector: CompiledSelector | string): void => {
    if (compiled.size >= maxCompiled) compiled.clear();
    compiled.set(text, selector);
  };
  const selector = answered<CompiledSelector | string>(() => compileDeviceSelector(text, true), keep);
  keep(selector);
  return selector;
}

function valueOf(driver: string, device: Device): DeviceValue | string {
  let value = values.get(device);
  if (value !== undefined) return value;
  value = deviceValue({ driver, ...device });
  values.set(device, value);
  return value;
}
