/** Validation of role bindings. Upstream: pkg/apis/rbac/validation/validation.go. */
import { type FieldError, fieldPath, invalid, notSupportedText, type Path, required } from '#apimachinery/validation/field';
import { isValidPathSegmentName, validateServiceAccountName } from '#apimachinery/validation/names';
import { check } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { structValue } from '#kubernetes/apis/struct-value';
import type { ClusterRoleBinding, RoleBinding, RoleRef, Subject } from '#kubernetes/schema/rbac_v1.gen';

const group = 'rbac.authorization.k8s.io';

export function validateRoleBinding(binding: RoleBinding): FieldError[] {
  return validateBinding([], binding, true);
}

export function validateRoleBindingUpdate(binding: RoleBinding, old: RoleBinding): FieldError[] {
  return validateUpdate(binding, old, true);
}

export function validateClusterRoleBinding(binding: ClusterRoleBinding): FieldError[] {
  return validateBinding([], binding, false);
}

export function validateClusterRoleBindingUpdate(binding: ClusterRoleBinding, old: ClusterRoleBinding): FieldError[] {
  return validateUpdate(binding, old, false);
}

function validateUpdate(binding: RoleBinding, old: RoleBinding, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, binding.metadata, isValidPathSegmentName, isNamespaced);
  validateBinding(errors, binding, isNamespaced);
  const { apiGroup = '', kind = '', name = '' } = binding.roleRef ?? {};
  const before: RoleRef = old.roleRef ?? {};
  if (apiGroup !== (before.apiGroup ?? '') || kind !== (before.kind ?? '') || name !== (before.name ?? '')) {
    errors.push(invalid(fieldPath('roleRef'), structValue({ APIGroup: apiGroup, Kind: kind, Name: name }), 'cannot change roleRef'));
  }
  return errors;
}

function validateBinding(errors: FieldError[], { roleRef = {}, subjects }: RoleBinding, isNamespaced: boolean): FieldError[] {
  const { apiGroup = '', kind = '', name } = roleRef;
  if (apiGroup !== group) errors.push(notSupportedText(fieldPath('roleRef', 'apiGroup'), apiGroup, [group]));
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(kind)) errors.push(notSupportedText(fieldPath('roleRef', 'kind'), kind, kinds));
  if (!name) errors.push(required(fieldPath('roleRef', 'name')));
  else for (const message of isValidPathSegmentName(name)) errors.push(invalid(fieldPath('roleRef', 'name'), name, message));
  for (const [i, subject] of (subjects ?? []).entries()) validateSubject(errors, subject, isNamespaced, fieldPath('subjects').index(i));
  return errors;
}

function validateSubject(
  errors: FieldError[],
  { kind = '', apiGroup = '', name, namespace }: Subject,
  isNamespaced: boolean,
  path: Path,
): void {
  if (!name) errors.push(required(path.child('name')));
  switch (kind) {
    case 'ServiceAccount':
      if (name) check(errors, validateServiceAccountName(name, false), name, path, 'name');
      if (apiGroup !== '') errors.push(notSupportedText(path.child('apiGroup'), apiGroup, ['']));
      if (!isNamespaced && !namespace) errors.push(required(path.child('namespace')));
      break;
    case 'User':
    case 'Group':
      if (apiGroup !== group) errors.push(notSupportedText(path.child('apiGroup'), apiGroup, [group]));
      break;
    default:
      errors.push(notSupportedText(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group']));
  }
}
