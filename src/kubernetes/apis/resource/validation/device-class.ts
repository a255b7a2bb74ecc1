/** Validation of device classes. Upstream: pkg/apis/resource/validation/validation.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { longName } from '#apimachinery/validation/names';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { isExtendedResourceName } from '#kubernetes/apis/core/validation/resources';
import type { DeviceClass, DeviceClassSpec } from '#kubernetes/schema/resource_v1.gen';
import { validateDeviceConfiguration } from './device-configuration.ts';
import { validateItems } from './device-names.ts';
import { validateDeviceSelectors } from './device-selectors.ts';

const path = fieldPath('spec');
const maxConfigurations = 32;

export function validateDeviceClass(deviceClass: DeviceClass): FieldError[] {
  return validateSpec(deviceClass, undefined);
}

export function validateDeviceClassUpdate(deviceClass: DeviceClass, old: DeviceClass): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, deviceClass.metadata, (name, prefix) => (prefix ? [] : longName(name, false)), false);
  return [...errors, ...validateSpec(deviceClass, old.spec ?? {})];
}

function validateSpec({ spec = {} }: DeviceClass, old: DeviceClassSpec | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const isStored = (field: 'selectors' | 'config') => old !== undefined && semanticDeepEqual(spec[field], old[field]);
  validateDeviceSelectors(errors, spec.selectors, path.child('selectors'), isStored('selectors'));
  const isConfigStored = isStored('config');
  validateItems(errors, spec.config, maxConfigurations, path.child('config'), (_, config, place) =>
    validateDeviceConfiguration(errors, config, place, isConfigStored),
  );
  const { extendedResourceName: name } = spec;
  if (name !== undefined && !isExtendedResourceName(name))
    errors.push(invalid(path.child('extendedResourceName'), name, 'must be a valid extended resource name'));
  return errors;
}
