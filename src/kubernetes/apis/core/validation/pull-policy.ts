import type { FieldError, Path } from '#apimachinery/validation/field';
import { validateRequiredEnum } from './checks.ts';

export function validatePullPolicy(errors: FieldError[], policy: string | undefined, path: Path, field: string): void {
  validateRequiredEnum(errors, policy, ['Always', 'IfNotPresent', 'Never'], path, field);
}
