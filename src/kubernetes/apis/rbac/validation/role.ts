/** Validation of roles. Upstream: pkg/apis/rbac/validation/validation.go. */
import { type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { isValidPathSegmentName } from '#apimachinery/validation/names';
import { labelSelectorHasInvalidLabelValue } from '#apimachinery/validation/object-meta';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { selects, validateSelector } from '#kubernetes/apis/pod-template';
import type { ClusterRole, PolicyRule, Role } from '#kubernetes/schema/rbac_v1.gen';

export function validateRole({ rules }: Role): FieldError[] {
  const errors: FieldError[] = [];
  if (rules) validateRules(errors, rules, true);
  return errors;
}

export function validateRoleUpdate(role: Role): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, role.metadata, isValidPathSegmentName);
  if (role.rules) validateRules(errors, role.rules, true);
  return errors;
}

export function validateClusterRole(role: ClusterRole): FieldError[] {
  const errors: FieldError[] = [];
  if (role.rules) validateRules(errors, role.rules, false);
  validateAggregationRule(errors, role, false);
  return errors;
}

export function validateClusterRoleUpdate(role: ClusterRole, old: ClusterRole): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, role.metadata, isValidPathSegmentName, false);
  if (role.rules) validateRules(errors, role.rules, false);
  const hadInvalidValue =
    old.aggregationRule?.clusterRoleSelectors?.some((selector) =>
      labelSelectorHasInvalidLabelValue(selector as Parameters<typeof labelSelectorHasInvalidLabelValue>[0]),
    ) ?? false;
  validateAggregationRule(errors, role, hadInvalidValue);
  return errors;
}

function validateRules(errors: FieldError[], rules: readonly PolicyRule[], isNamespaced: boolean): void {
  for (let i = 0; i < rules.length; i++) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rules[i]!;
    const at = (field: string) => fieldPath('rules').index(i).child(field);
    if (!verbs?.length) errors.push(required(at('verbs'), 'verbs must contain at least one value'));
    if (nonResourceURLs?.length) {
      if (isNamespaced) errors.push(invalid(at('nonResourceURLs'), nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
      if (apiGroups?.length || resources?.length || resourceNames?.length) {
        errors.push(invalid(at('nonResourceURLs'), nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'));
      }
      continue;
    }
    if (!apiGroups?.length) errors.push(required(at('apiGroups'), 'resource rules must supply at least one api group'));
    if (!resources?.length) errors.push(required(at('resources'), 'resource rules must supply at least one resource'));
  }
}

function validateAggregationRule(errors: FieldError[], { aggregationRule }: ClusterRole, allowInvalidLabelValue: boolean): void {
  if (!aggregationRule) return;
  const path = fieldPath('aggregationRule', 'clusterRoleSelectors');
  const { clusterRoleSelectors: selectors = [] } = aggregationRule;
  if (selectors.length === 0) errors.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  for (const [i, selector] of selectors.entries()) {
    validateSelector(errors, selector, path.index(i), allowInvalidLabelValue);
    // Upstream prints the selector that failed to parse, which is nil.
    if (selects(selector, undefined) === undefined) errors.push(invalid(path.index(i), undefined, 'invalid label selector.'));
  }
}
