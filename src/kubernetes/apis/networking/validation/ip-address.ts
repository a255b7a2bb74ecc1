/** Upstream: pkg/apis/networking/validation/validation.go. */
import { type FieldError, fieldPath, required } from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isValidPathSegmentName } from '#apimachinery/validation/names';
import { check } from '#kubernetes/apis/core/validation/checks';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { structValue } from '#kubernetes/apis/struct-value';
import type { IPAddress } from '#kubernetes/schema/networking_v1.gen';

const specPath = fieldPath('spec');

export function validateIPAddress({ spec }: IPAddress): FieldError[] {
  const errors: FieldError[] = [];
  const path = specPath.child('parentRef');
  const parent = spec?.parentRef;
  if (!parent) return [required(path)];
  const { group, resource, name, namespace } = parent;
  if (group) check(errors, isDNS1123Subdomain(group), group, path, 'group');
  if (!resource) errors.push(required(path.child('resource')));
  else check(errors, isValidPathSegmentName(resource), resource, path, 'resource');
  if (!name) errors.push(required(path.child('name')));
  else check(errors, isValidPathSegmentName(name), name, path, 'name');
  if (namespace) check(errors, isValidPathSegmentName(namespace), namespace, path, 'namespace');
  return errors;
}

export function validateIPAddressUpdate({ spec }: IPAddress, old: IPAddress): FieldError[] {
  const errors: FieldError[] = [];
  validateImmutable(
    errors,
    spec?.parentRef,
    old.spec?.parentRef,
    specPath,
    'parentRef',
    ({ group = '', resource = '', namespace = '', name = '' }) =>
      structValue({ Group: group, Resource: resource, Namespace: namespace, Name: name }),
  );
  return errors;
}
