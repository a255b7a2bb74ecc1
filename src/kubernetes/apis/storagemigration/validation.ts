/** Validation of storage version migrations. Upstream: pkg/apis/storagemigration/validation/validation.go. */
import { addErrors, type FieldError, fieldPath, invalid, required } from '#apimachinery/validation/field';
import { isDNS1035Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import { fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { equalAs } from '#kubernetes/apis/equal-as';
import { structValue } from '#kubernetes/apis/struct-value';
import type { StorageVersionMigration, StorageVersionMigrationStatus } from '#kubernetes/schema/storagemigration_v1beta1.gen';

const specPath = fieldPath('spec', 'resource');
const statusPath = fieldPath('status');

export function validateStorageVersionMigration({ spec }: StorageVersionMigration): FieldError[] {
  const errors: FieldError[] = [];
  const { group, resource } = spec?.resource ?? {};
  const label = resource ? isDNS1035Label(resource) : [];
  if (!resource) errors.push(required(specPath.child('resource'), 'resource is required to be set'));
  else if (label.length > 0) errors.push(invalid(specPath.child('resource'), resource, label.join(',')));
  const subdomain = group ? isDNS1123Subdomain(group) : [];
  if (subdomain.length > 0) errors.push(invalid(specPath.child('group'), group, subdomain.join(',')));
  return errors;
}

export function validateStorageVersionMigrationUpdate(migration: StorageVersionMigration, old: StorageVersionMigration): FieldError[] {
  const errors = validateStorageVersionMigration(migration);
  if (!equalAs('storagemigration_v1beta1.StorageVersionMigrationSpec', migration.spec, old.spec)) {
    const { group = '', resource = '' } = migration.spec?.resource ?? {};
    errors.push(invalid(fieldPath('spec'), structValue({ Resource: { group, resource } }), fieldImmutableError));
  }
  return errors;
}

/** Validates an update of the status: the final condition and the resource version are immutable once set. */
export function validateStorageVersionMigrationStatusUpdate(
  { status = {} }: StorageVersionMigration,
  { status: old = {} }: StorageVersionMigration,
): FieldError[] {
  const { conditions = [], resourceVersion = '' } = status;
  const conditionsPath = statusPath.child('conditions');
  const errors: FieldError[] = [];
  const refuse = (detail: string) => errors.push(invalid(conditionsPath, status.conditions, detail));
  if (resourceVersion !== '' && !/^[1-9]\d*$/.test(resourceVersion)) {
    const detail = `resource version is not well formed: ${resourceVersion}`;
    errors.push(invalid(statusPath.child('resourceVersion'), resourceVersion, detail));
  }
  addErrors(errors, validateConditions(conditions, conditionsPath));
  if (old.resourceVersion && old.resourceVersion !== resourceVersion)
    errors.push(invalid(statusPath.child('resourceVersion'), resourceVersion, 'field is immutable'));
  if (isTrue(status, 'Succeeded') && isTrue(status, 'Failed')) refuse('Both success and failed conditions cannot be true at the same time');
  if (isTrue(old, 'Succeeded') && !isTrue(status, 'Succeeded')) refuse('Success condition cannot be set to false once it is true');
  if (isTrue(old, 'Failed') && !isTrue(status, 'Failed')) refuse('Failed condition cannot be set to false once it is true');
  return errors;
}

function isTrue({ conditions = [] }: StorageVersionMigrationStatus, type: string): boolean {
  return conditions.find((condition) => condition.type === type)?.status === 'True';
}
