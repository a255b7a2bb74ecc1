import { type FieldError, type Path, invalid, required, tooLong } from '#apimachinery/validation/field';
import { isQualifiedName } from '#apimachinery/validation/names';
import { byteLength } from '#kubernetes/apis/core/validation/checks';

const maxSize = 256 * 1024;
const maxCount = 512;

/** Returns the number of bytes of all keys and values. */
export function mapSize(map: Readonly<Record<string, string>>): number {
  let size = 0;
  for (const [key, value] of Object.entries(map)) size += byteLength(key) + byteLength(value);
  return size;
}

/** Validates the parameters of a storage class for its provisioner. Upstream: validateParameters in pkg/apis/storage/validation. */
export function validateParameters(errors: FieldError[], parameters: Readonly<Record<string, string>> = {}, path: Path): void {
  if (Object.keys(parameters).length > maxCount) {
    errors.push(tooLong(path, '', maxCount));
    return;
  }
  if (Object.hasOwn(parameters, '')) errors.push(invalid(path, '', 'field can not be empty.'));
  if (mapSize(parameters) > maxSize) errors.push(tooLong(path, '', maxSize));
}

/** Validates the provisioner of a storage class or the driver of a volume attributes class. */
export function validateProvisioner(errors: FieldError[], provisioner: string | undefined, path: Path): void {
  if (!provisioner) {
    errors.push(required(path));
    return;
  }
  const name = provisioner.toLowerCase();
  for (const message of isQualifiedName(name)) errors.push(invalid(path, name, message));
}
