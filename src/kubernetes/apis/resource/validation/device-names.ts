/** Validation of the names of drivers, pools and devices, and of lists of them. Upstream: pkg/apis/resource/validation/validation.go. */
import { duplicate, type FieldError, invalid, type Path, required, tooLong, tooMany, named } from '#apimachinery/validation/field';
import { isCIdentifier, isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import { byteLength, check } from '#kubernetes/apis/core/validation/checks';

const maxDriverName = 63;
const maxPoolName = 253;
const maxIdentifier = 32;

/** Requires a domain, by the rules of CSI drivers. */
export function validateDriverName(errors: FieldError[], name: string | undefined, path: Path): void {
  if (!name) {
    errors.push(required(path));
    return;
  }
  if (byteLength(name) > maxDriverName) errors.push(tooLong(path, '', maxDriverName));
  check(errors, isDNS1123Subdomain(name.toLowerCase()), name, path);
}

/** Requires domains separated by slashes. */
export function validatePoolName(errors: FieldError[], name: string | undefined, path: Path): void {
  if (!name) {
    errors.push(required(path));
    return;
  }
  if (byteLength(name) > maxPoolName) errors.push(tooLong(path, '', maxPoolName));
  for (const part of name.split('/')) check(errors, isDNS1123Subdomain(part), part, path);
}

export function validateDeviceName(errors: FieldError[], name: string | undefined, path: Path): void {
  check(errors, isDNS1123Label(name ?? ''), name ?? '', path);
}

/** Validates `name`, or `domain/name`. As upstream, names with more than one slash are not validated. */
export function validateQualifiedName(errors: FieldError[], name: string, path: Path): void {
  const [first = '', second, ...more] = name.split('/');
  if (more.length > 0) return;
  if (second === undefined) {
    validateIdentifier(errors, first, path);
    return;
  }
  if (first === '') errors.push(invalid(path, '', 'the domain must not be empty'));
  else validateDriverName(errors, first, path);
  if (second === '') errors.push(invalid(path, '', 'the name must not be empty'));
  else validateIdentifier(errors, second, path);
}

export function validateFullyQualifiedName(errors: FieldError[], name: string, path: Path): void {
  validateQualifiedName(errors, name, path);
  if (!name.includes('/'))
    errors.push(invalid(path, named(name), 'a fully qualified name must be a domain and a name separated by a slash'));
}

function validateIdentifier(errors: FieldError[], name: string, path: Path): void {
  if (byteLength(name) > maxIdentifier) errors.push(tooLong(path, '', maxIdentifier));
  check(errors, isCIdentifier(name), name, path);
}

type ValidateItem<T> = (errors: FieldError[], item: T, path: Path) => void;

/** Validates the length of a list, and its items unless it is too long. */
export function validateItems<T>(
  errors: FieldError[],
  items: readonly T[] | undefined,
  max: number,
  path: Path,
  validateItem: ValidateItem<T>,
): void {
  const { length } = items ?? [];
  if (length > max) errors.push(tooMany(path, length, max));
  else for (const [i, item] of (items ?? []).entries()) validateItem(errors, item, path.index(i));
}

/** Like `validateItems`, for items with unique keys. `show` formats a key for the message. */
export function validateDistinctItems<T>(
  errors: FieldError[],
  items: readonly T[] | undefined,
  max: number,
  path: Path,
  keyOf: (item: T) => string,
  validateItem: ValidateItem<T>,
  show: (key: string) => unknown = (key) => key,
): void {
  validateItems(errors, items, max, path, validateItem);
  if ((items ?? []).length > max) return;
  const seen = new Set<string>();
  for (const [i, item] of (items ?? []).entries()) {
    const key = keyOf(item);
    if (seen.has(key)) errors.push(duplicate(path.index(i), show(key)));
    seen.add(key);
  }
}
