/** Validation of device selectors. Upstream: pkg/apis/resource/validation/validation.go, dynamic-resource-allocation/cel/compile.go. */
import { compileDeviceSelector, deviceSizes, maxDeviceSelectorCost } from '#apiserver/cel/device-selector';
import { type FieldError, forbidden, invalid, type Path, required, tooLong } from '#apimachinery/validation/field';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import type { DeviceSelector } from '#kubernetes/schema/resource_v1.gen';
import { validateItems } from './device-names.ts';

const maxSelectors = 32;
const maxExpressionBytes = 10 * 1024;

/** Validates selectors; `stored` ones may use the expressions that newer servers support. */
export function validateDeviceSelectors(
  errors: FieldError[],
  selectors: readonly DeviceSelector[] | undefined,
  path: Path,
  stored = false,
): void {
  validateItems(errors, selectors, maxSelectors, path, (_, { cel }, place) => {
    if (cel) validateExpression(errors, cel.expression ?? '', place.child('cel', 'expression'), stored);
    else errors.push(required(place.child('cel')));
  });
}

function validateExpression(errors: FieldError[], text: string, path: Path, stored: boolean): void {
  if (byteLength(text) > maxExpressionBytes) {
    errors.push(tooLong(path, '', maxExpressionBytes));
    return;
  }
  const compiled = compileDeviceSelector(text, stored);
  if (typeof compiled === 'string') errors.push(invalid(path, text, compiled));
  else if (compiled.expression.estimateCost(deviceSizes).max > maxDeviceSelectorCost)
    errors.push(forbidden(path, 'too complex, exceeds cost limit'));
}
