/** Validation of volume attributes classes. Upstream: pkg/apis/storage/validation/validation.go. */
import { deepEqual } from '#apimachinery/runtime/equality';
import { addErrors, type FieldError, fieldPath, forbidden, required } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import type { VolumeAttributesClass } from '#kubernetes/schema/storage_v1.gen';
import { validateParameters, validateProvisioner } from './parameters.ts';

export function validateVolumeAttributesClass({ driverName, parameters = {} }: VolumeAttributesClass): FieldError[] {
  const errors: FieldError[] = [];
  validateProvisioner(errors, driverName, fieldPath('driverName'));
  validateParameters(errors, parameters, fieldPath('parameters'));
  if (Object.keys(parameters).length === 0) errors.push(required(fieldPath('parameters'), 'must contain at least one key/value pair'));
  return errors;
}

export function validateVolumeAttributesClassUpdate(volumeClass: VolumeAttributesClass, old: VolumeAttributesClass): FieldError[] {
  const errors: FieldError[] = [];
  if (volumeClass.driverName !== old.driverName) errors.push(forbidden(fieldPath('driverName'), 'updates to driverName are forbidden.'));
  if (!deepEqual(volumeClass.parameters, old.parameters))
    errors.push(forbidden(fieldPath('parameters'), 'updates to parameters are forbidden.'));
  validateMetaAgain(errors, volumeClass.metadata, nameIsDNSSubdomain, false);
  addErrors(errors, validateVolumeAttributesClass(volumeClass));
  return errors;
}
