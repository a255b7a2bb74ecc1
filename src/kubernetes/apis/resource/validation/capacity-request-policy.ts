/** Validation of a capacity's request policy. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, forbidden, invalid, type Path, required } from '#apimachinery/validation/field';
import { compareAmounts, quantityOf } from '#kubernetes/apis/core/validation/checks';
import type { CapacityRequestPolicy, CapacityRequestPolicyRange } from '#kubernetes/schema/resource_v1.gen';
import { validateDistinctItems } from './device-names.ts';

const maxValues = 10;

/** Validates the policy; `capacity` is the available amount. */
export function validateRequestPolicy(errors: FieldError[], policy: CapacityRequestPolicy, capacity: string, path: Path): void {
  const { default: usual, validValues = [], validRange } = policy;
  if (validValues.length > 0 && validRange) {
    errors.push(forbidden(path, 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'));
    return;
  }
  const field = validValues.length > 0 ? 'validValues' : 'validRange';
  if (validValues.length === 0 && !validRange) return;
  if (usual === undefined) errors.push(required(path.child('default'), `required when ${field} is defined`));
  else if (validRange) validateRange(errors, validRange, usual, capacity, path.child(field));
  else validateValues(errors, validValues, usual, capacity, path.child(field));
}

function validateValues(errors: FieldError[], values: readonly string[], usual: string, capacity: string, path: Path): void {
  for (const [i, value] of values.entries()) {
    const before = values[i - 1];
    if (before !== undefined && compareAmounts(before, value) > 0)
      errors.push(invalid(path.index(i), value, 'values must be sorted in ascending order'));
  }
  validateDistinctItems(
    errors,
    values,
    maxValues,
    path,
    (value) => String(quantityOf(value).value()),
    (_, value, at) => {
      if (compareAmounts(value, capacity) > 0) errors.push(invalid(at, value, `option is larger than capacity value: ${capacity}`));
    },
  );
  if (values.length > maxValues || !values.some((value) => compareAmounts(value, usual) === 0))
    errors.push(invalid(path, usual, 'default value is not valid according to the requestPolicy'));
}

function validateRange(errors: FieldError[], range: CapacityRequestPolicyRange, usual: string, capacity: string, path: Path): void {
  const { min, max, step } = range;
  if (min === undefined) {
    errors.push(required(path.child('min'), 'required when validRange is defined'));
    return;
  }
  const refuse = (field: string, value: string, detail: string) => errors.push(invalid(path.child(field), value, detail));
  const isMore = (a: string, b: string) => compareAmounts(a, b) > 0;
  if (isMore(min, capacity)) refuse('min', min, `min is larger than capacity value: ${capacity}`);
  if (isMore(min, usual)) refuse('min', usual, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (isMore(min, max)) refuse('max', min, `min is larger than max: ${max}`);
    if (isMore(max, capacity)) refuse('max', max, `max is larger than capacity value: ${capacity}`);
    if (isMore(usual, max)) refuse('max', usual, `default is more than max: ${max}`);
  }
  if (step === undefined) return;
  const once = quantityOf(min).add(quantityOf(step)).toString();
  if (isMore(once, capacity)) refuse('step', step, `one step ${once} is larger than capacity value: ${capacity}`);
  for (const value of [usual, ...(max === undefined ? [] : [max])])
    if (!isMultiple(value, min, step)) refuse('step', value, `value is not a multiple of a given step (${step}) from (${min})`);
}

/** True if the value is a multiple of the step; never for a step of zero. */
function isMultiple(value: string, min: string, step: string): boolean {
  const size = quantityOf(step).value();
  return size !== 0n && (quantityOf(value).value() - quantityOf(min).value()) % size === 0n;
}
