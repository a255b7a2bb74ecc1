import { addErrors, type FieldError, type Path, tooLong } from '#apimachinery/validation/field';
import { isDomainPrefixedKey } from '#apimachinery/validation/names';
import { totalAnnotationSizeLimit } from '#apimachinery/validation/object-meta';
import { byteLength } from './checks.ts';

/**
 * Validates annotations for signers of pod certificates: keys with a domain, of any case. Upstream: pkg/apis/core/validation/validation.go.
 */
export function validateUserAnnotations(errors: FieldError[], annotations: Readonly<Record<string, string>>, path: Path): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    addErrors(errors, isDomainPrefixedKey(path, key.toLowerCase()));
    size += byteLength(key) + byteLength(value);
  }
  if (size > totalAnnotationSizeLimit) errors.push(tooLong(path, '', totalAnnotationSizeLimit));
}
