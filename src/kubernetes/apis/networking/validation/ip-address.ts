/** Validation of IP addresses. Upstream: pkg/apis/networking/validation/validation.go. */
import { addErrors, type FieldError, fieldPath, required } from '#apimachinery/validation/field';
import { isValidIP } from '#apimachinery/validation/ip';
import { isDNS1123Subdomain, isValidPathSegmentName } from '#apimachinery/validation/names';
import { check } from '#kubernetes/apis/core/validation/checks';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { validateImmutable } from '#kubernetes/apis/immutable-field';
import { structValue } from '#kubernetes/apis/struct-value';
import type { IPAddress } from '#kubernetes/schema/networking_v1.gen';

const specPath = fieldPath('spec');

/** Validates the name, which is an address in canonical form. */
export function validateIPAddressName(name: string): string[] {
  return isValidIP(fieldPath('metadata', 'name'), name).map((error) => error.detail);
}

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

export function validateIPAddressUpdate(address: IPAddress, old: IPAddress): FieldError[] {
  const { metadata, spec } = address;
  const errors: FieldError[] = [];
  validateMetaAgain(errors, metadata, validateIPAddressName, false);
  addErrors(errors, validateIPAddress(address));
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
