/** Validation of device taints. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, invalid, notSupported, type Path, required } from '#apimachinery/validation/field';
import { isQualifiedName, isValidLabelValue } from '#apimachinery/validation/names';
import { check } from '#kubernetes/apis/core/validation/checks';
import type { DeviceTaint, DeviceToleration } from '#kubernetes/schema/resource_v1.gen';

const effects = ['NoExecute', 'NoSchedule', 'None'];
const operators = ['Equal', 'Exists'];

/** Validates a taint; `old` is its previous effect, which stays valid. */
export function validateDeviceTaint(
  errors: FieldError[],
  { key = '', value = '', effect = '' }: DeviceTaint,
  path: Path,
  old?: string,
): void {
  check(errors, isQualifiedName(key), key, path, 'key');
  if (value !== '') check(errors, isValidLabelValue(value), value, path, 'value');
  if (effect === old) return;
  if (effect === '') errors.push(required(path.child('effect')));
  else if (!effects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, effects));
}

export function validateDeviceToleration(errors: FieldError[], toleration: DeviceToleration, path: Path): void {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (key !== '') check(errors, isQualifiedName(key), key, path, 'key');
  if (operator === '') errors.push(required(path.child('operator')));
  else if (!operators.includes(operator)) errors.push(notSupported(path.child('operator'), operator, operators));
  else if (operator === 'Equal') check(errors, isValidLabelValue(value), value, path, 'value');
  else if (value !== '') errors.push(invalid(path.child('value'), value, 'must be empty for operator `Exists`'));
  if (effect !== '' && !effects.includes(effect)) errors.push(notSupported(path.child('effect'), effect, effects));
}
