/** Validation of device taint rules. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, fieldPath, tooMany } from '#apimachinery/validation/field';
import { validateConditions } from '#apimachinery/validation/object-meta';
import type { DeviceTaintRule } from '#kubernetes/schema/resource_v1alpha3.gen';
import { validateDeviceName, validateDriverName, validatePoolName } from './device-names.ts';
import { validateDeviceTaint } from './taints.ts';

const specPath = fieldPath('spec');
const selectorPath = specPath.child('deviceSelector');
const conditionsPath = fieldPath('status', 'conditions');
const maxConditions = 8;

export function validateDeviceTaintRule(rule: DeviceTaintRule): FieldError[] {
  return validateRule(rule, undefined);
}

export function validateDeviceTaintRuleUpdate(rule: DeviceTaintRule, old: DeviceTaintRule): FieldError[] {
  return validateRule(rule, old.spec?.taint?.effect ?? '');
}

function validateRule({ spec }: DeviceTaintRule, oldEffect: string | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { driver, pool, device } = spec?.deviceSelector ?? {};
  if (driver !== undefined) validateDriverName(errors, driver, selectorPath.child('driver'));
  if (pool !== undefined) validatePoolName(errors, pool, selectorPath.child('pool'));
  if (device !== undefined) validateDeviceName(errors, device, selectorPath.child('device'));
  validateDeviceTaint(errors, spec?.taint ?? {}, specPath.child('taint'), oldEffect);
  return errors;
}

export function validateDeviceTaintRuleStatusUpdate({ status }: DeviceTaintRule): FieldError[] {
  const conditions = status?.conditions ?? [];
  const errors = validateConditions(conditions, conditionsPath);
  if (conditions.length > maxConditions) errors.push(tooMany(conditionsPath, conditions.length, maxConditions));
  return errors;
}
