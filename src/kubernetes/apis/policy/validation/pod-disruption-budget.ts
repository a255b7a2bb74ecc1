/**
 * Validation of pod disruption budgets. Upstream: pkg/apis/policy/validation/validation.go,
 * pkg/registry/policy/poddisruptionbudget/strategy.go.
 */
import { type FieldError, fieldPath, invalid, notSupported } from '#apimachinery/validation/field';
import { labelSelectorHasInvalidLabelValue, validateConditions } from '#apimachinery/validation/object-meta';
import { validateNonnegative } from '#kubernetes/apis/core/validation/checks';
import { validateNotMoreThan100Percent, validatePositiveIntOrPercent } from '#kubernetes/apis/int-or-percent';
import { selectorValue, validateSelector } from '#kubernetes/apis/pod-template';
import { structValue } from '#kubernetes/apis/struct-value';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from '#kubernetes/schema/policy_v1.gen';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];

export function validatePodDisruptionBudget({ spec = {} }: PodDisruptionBudget): FieldError[] {
  return validateSpec(spec, false);
}

export function validatePodDisruptionBudgetUpdate({ spec = {} }: PodDisruptionBudget, old: PodDisruptionBudget): FieldError[] {
  return validateSpec(
    spec,
    labelSelectorHasInvalidLabelValue(old.spec?.selector as Parameters<typeof labelSelectorHasInvalidLabelValue>[0]),
  );
}

function validateSpec(spec: PodDisruptionBudgetSpec, allowInvalidLabelValue: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const value = structValue({
      MinAvailable: minAvailable,
      Selector: selectorValue(selector),
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: policy,
    });
    errors.push(invalid(specPath, value, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    validatePositiveIntOrPercent(errors, spec[field], specPath, field);
    validateNotMoreThan100Percent(errors, spec[field], specPath, field);
  }
  validateSelector(errors, selector, specPath.child('selector'), allowInvalidLabelValue);
  if (policy !== undefined && !evictionPolicies.includes(policy))
    errors.push(notSupported(specPath.child('unhealthyPodEvictionPolicy'), policy, evictionPolicies));
  return errors;
}

export function validatePodDisruptionBudgetStatusUpdate({ status = {} }: PodDisruptionBudget): FieldError[] {
  const errors = status.conditions ? validateConditions(status.conditions, statusPath.child('conditions')) : [];
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const)
    validateNonnegative(errors, status[field], statusPath, field);
  return errors;
}
