/** Validation of device configurations. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, invalid, type Path, required, tooLong } from '#apimachinery/validation/field';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import type { DeviceClassConfiguration } from '#kubernetes/schema/resource_v1.gen';
import { validateDriverName } from './device-names.ts';

/** Limit for parameters and for device data of drivers, in bytes of JSON. */
const maxBytes = 10 * 1024;

/** Validates a configuration; a `stored` one may exceed the length limit. */
export function validateDeviceConfiguration(errors: FieldError[], { opaque }: DeviceClassConfiguration, path: Path, stored = false): void {
  if (!opaque) {
    errors.push(required(path.child('opaque')));
    return;
  }
  validateDriverName(errors, opaque.driver, path.child('opaque', 'driver'));
  validateRawObject(errors, opaque.parameters, path.child('opaque', 'parameters'), stored);
}

/** Requires a JSON object. */
export function validateRawObject(errors: FieldError[], value: unknown, path: Path, stored = false): void {
  if (value === undefined || value === null) errors.push(required(path));
  else if (!stored && byteLength(encodeRawJson(value)) > maxBytes) errors.push(tooLong(path, '', maxBytes));
  else if (typeof value !== 'object' || Array.isArray(value)) errors.push(invalid(path, '<value omitted>', 'must be a valid JSON object'));
}
