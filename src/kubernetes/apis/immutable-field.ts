import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, type Path, invalid } from '#apimachinery/validation/field';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';

/**
 * Validates that a field is unchanged; an absent and an empty value are equal, unless it is a struct, which Go has a pointer to. `show`
 * formats the new value for the message if it is not shown as JSON. Upstream: ValidateImmutableField in apimachinery/pkg/api/validation.
 */
export function validateImmutable<T>(
  errors: FieldError[],
  value: T,
  old: T,
  path: Path,
  field: string,
  show?: (value: NonNullable<T>) => unknown,
): void {
  if (isStruct(value) === isStruct(old) && semanticDeepEqual(value, old)) return;
  errors.push(invalid(path.child(field), value !== undefined && value !== null && show ? show(value) : value, fieldImmutableError));
}

const isStruct = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
