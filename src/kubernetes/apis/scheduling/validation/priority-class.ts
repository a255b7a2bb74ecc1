/** Validation of priority classes. Upstream: pkg/apis/scheduling/validation/validation.go. */
import { addErrors, type FieldError, fieldPath, forbidden, named } from '#apimachinery/validation/field';
import { validateImmutableField } from '#apimachinery/validation/object-meta';
import { validateRequiredEnum } from '#kubernetes/apis/core/validation/checks';
import type { PriorityClass } from '#kubernetes/schema/scheduling_v1.gen';

const highestUserDefinablePriority = 1_000_000_000;
/** Classes that the server creates. Upstream: SystemPriorityClasses in pkg/apis/scheduling/v1/helpers.go. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

/** Upstream: Delete of pkg/registry/scheduling/priorityclass/storage. */
export function refuseSystemClassDeletion(name: string): string | undefined {
  return systemClasses.has(name) ? 'this is a system priority class and cannot be deleted' : undefined;
}

export function validatePriorityClass({
  metadata: { name = '' },
  value = 0,
  globalDefault = false,
  preemptionPolicy,
}: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  if (name.startsWith('system-')) {
    const error = systemClassError(name, value, globalDefault);
    if (error !== undefined) {
      errors.push(
        forbidden(
          fieldPath('metadata', 'name'),
          `priority class names with 'system-' prefix are reserved for system use only. error: ${error}`,
        ),
      );
    }
  } else if (value > highestUserDefinablePriority) {
    errors.push(forbidden(fieldPath('value'), `maximum allowed value of a user defined priority is ${highestUserDefinablePriority}`));
  }
  if (preemptionPolicy !== undefined)
    validateRequiredEnum(errors, preemptionPolicy, ['PreemptLowerPriority', 'Never'], fieldPath('preemptionPolicy'));
  return errors;
}

function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const known = systemClasses.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export function validatePriorityClassUpdate({ value = 0, preemptionPolicy }: PriorityClass, old: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  if (value !== (old.value ?? 0)) errors.push(forbidden(fieldPath('value'), 'may not be changed in an update.'));
  addErrors(errors, validateImmutableField(preemptionPolicy, old.preemptionPolicy, fieldPath('preemptionPolicy'), named));
  return errors;
}
