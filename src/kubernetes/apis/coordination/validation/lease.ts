/** Validation of leases. Upstream: pkg/apis/coordination/validation/validation.go. */
import { type FieldError, fieldPath, forbidden, invalid, notSupported } from '#apimachinery/validation/field';
import { isQualifiedName } from '#apimachinery/validation/names';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';

const specPath = fieldPath('spec');

export function validateLease({ spec }: Lease): FieldError[] {
  const errors: FieldError[] = [];
  if (!spec) return errors;
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = spec;
  if (duration !== undefined && duration <= 0)
    errors.push(invalid(specPath.child('leaseDurationSeconds'), duration, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid(specPath.child('leaseTransitions'), transitions, 'must be greater than or equal to 0'));
  if (strategy !== undefined) validateStrategy(errors, strategy);
  if (preferredHolder && !strategy)
    errors.push(forbidden(specPath.child('preferredHolder'), 'may only be specified if `strategy` is defined'));
  return errors;
}

/** Validates a strategy name: a predefined one, or one with a domain. The path is upstream's. */
export function validateStrategy(errors: FieldError[], strategy: string): void {
  const path = specPath.child('strategy', 'strategy');
  if (strategy.includes('/')) for (const message of isQualifiedName(strategy)) errors.push(invalid(path, strategy, message));
  else if (strategy !== 'OldestEmulationVersion') errors.push(notSupported(path, strategy, ['OldestEmulationVersion']));
}
