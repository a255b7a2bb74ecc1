/** Validation of scheduling policies. Upstream: pkg/apis/scheduling/v1alpha2/zz_generated.validations.go. */
import { type FieldError, invalid, type Path, required } from '#apimachinery/validation/field';
import type { PodGroupSchedulingPolicy } from '#kubernetes/schema/scheduling_v1alpha2.gen';

/** Requires exactly one of the two policies. */
export function validateSchedulingPolicy(errors: FieldError[], policy: PodGroupSchedulingPolicy = {}, path: Path): void {
  const { basic, gang } = policy;
  if (basic === undefined && gang === undefined) errors.push(invalid(path, '', 'must specify one of: `basic`, `gang`'));
  if (basic !== undefined && gang !== undefined)
    errors.push(invalid(path, '{`basic`, `gang`}', 'must specify exactly one of: `basic`, `gang`'));
  if (!gang) return;
  const { minCount = 0 } = gang;
  if (minCount === 0) errors.push(required(path.child('gang', 'minCount')));
  else if (minCount < 1) errors.push(invalid(path.child('gang', 'minCount'), minCount, 'must be greater than or equal to 1'));
}
