/** Validation of counts that may be percentages (`1`, `'25%'`); absent is 0. Upstream: pkg/apis/apps/validation/validation.go. */
import { type FieldError, type Path, invalid } from '#apimachinery/validation/field';
import { isValidPercent } from '#apimachinery/validation/names';
import { isNegative } from '#kubernetes/apis/core/validation/checks';

type IntOrString = number | string;

function percentOf(value: IntOrString): number | undefined {
  return typeof value === 'string' && isValidPercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined;
}

export function validatePositiveIntOrPercent(errors: FieldError[], value: IntOrString = 0, path: Path, field: string): void {
  if (typeof value === 'number') {
    if (value < 0) errors.push(invalid(path.child(field), value, isNegative));
    return;
  }
  for (const message of isValidPercent(value)) errors.push(invalid(path.child(field), value, message));
}

export function validateNotMoreThan100Percent(errors: FieldError[], value: IntOrString = 0, path: Path, field: string): void {
  if ((percentOf(value) ?? 0) > 100) errors.push(invalid(path.child(field), value, 'must not be greater than 100%'));
}

/** Returns the number, with or without a percent sign; 0 for any other text. */
export function intOrPercentValue(value: IntOrString = 0): number {
  if (typeof value === 'number') return value;
  return percentOf(value) ?? (/^[+-]?\d+$/.test(value) ? Number(value) : 0);
}
