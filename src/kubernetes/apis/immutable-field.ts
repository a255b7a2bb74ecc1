import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, type Path, invalid } from '#apimachinery/validation/field';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';

/**
 * A field of `path` that must be as it was, where an absent one and an empty one are the same. `show` makes what the message
 * prints of the new value where that is not its JSON. Upstream: ValidateImmutableField in apimachinery/pkg/api/validation.
 */
export function validateImmutable<T>(
  errors: FieldError[],
  value: T,
  old: T,
  path: Path,
  field: string,
  show?: (value: NonNullable<T>) => unknown,
): void {
  if (semanticDeepEqual(value, old)) return;
  errors.push(invalid(path.child(field), value !== undefined && value !== null && show ? show(value) : value, fieldImmutableError));
}
