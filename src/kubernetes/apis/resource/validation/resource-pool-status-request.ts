/** Upstream: pkg/apis/resource/validation/validation.go, pkg/apis/resource/v1alpha3/zz_generated.validations.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, invalid, type Path, required, tooLong, tooMany } from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isDNS1123SubdomainCaseless } from '#apimachinery/validation/names';
import { fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { byteLength, check } from '#kubernetes/apis/core/validation/checks';
import type { PoolStatus, ResourcePoolStatusRequest } from '#kubernetes/schema/resource_v1alpha3.gen';
import { validateItems, validatePoolName } from './device-names.ts';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const limits = { min: 1, max: 1000 };
const maxPools = 1000;
const maxConditions = 10;
const maxErrorBytes = 256;

export function validateResourcePoolStatusRequest({ spec }: ResourcePoolStatusRequest): FieldError[] {
  const errors: FieldError[] = [];
  const { driver, poolName, limit = limits.min } = spec ?? {};
  validateDriver(errors, driver, specPath);
  if (poolName !== undefined) validatePoolName(errors, poolName, specPath.child('poolName'));
  if (limit > limits.max) errors.push(invalid(specPath.child('limit'), limit, `must be less than or equal to ${limits.max}`));
  atLeast(errors, limit, limits.min, specPath, 'limit');
  return errors;
}

export function validateResourcePoolStatusRequestUpdate(request: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest): FieldError[] {
  return semanticDeepEqual(request.spec, old.spec) ? [] : [invalid(specPath, undefined, fieldImmutableError)];
}

/** What was answered once stays. */
export function validateResourcePoolStatusRequestStatusUpdate(
  { status }: ResourcePoolStatusRequest,
  { status: old }: ResourcePoolStatusRequest,
): FieldError[] {
  if (old) return semanticDeepEqual(status, old) ? [] : [invalid(statusPath, undefined, fieldImmutableError)];
  if (!status) return [];
  const errors: FieldError[] = [];
  if (status.poolCount === undefined) errors.push(required(statusPath.child('poolCount')));
  else atLeast(errors, status.poolCount, 0, statusPath, 'poolCount');
  validateItems(errors, status.pools, maxPools, statusPath.child('pools'), validatePool);
  const conditionsPath = statusPath.child('conditions');
  const conditions = status.conditions ?? [];
  if (conditions.length > maxConditions) errors.push(tooMany(conditionsPath, conditions.length, maxConditions));
  errors.push(...validateConditions(conditions, conditionsPath));
  return errors;
}

function validatePool(errors: FieldError[], pool: PoolStatus, path: Path): void {
  validateDriver(errors, pool.driver, path);
  validatePoolName(errors, pool.poolName, path.child('poolName'));
  if (!pool.generation) errors.push(required(path.child('generation')));
  else atLeast(errors, pool.generation, 0, path, 'generation');
  atLeast(errors, pool.resourceSliceCount, 1, path, 'resourceSliceCount');
  for (const field of ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const)
    atLeast(errors, pool[field], 0, path, field);
  if (pool.nodeName !== undefined) check(errors, isDNS1123Subdomain(pool.nodeName), pool.nodeName, path, 'nodeName');
  if (byteLength(pool.validationError ?? '') > maxErrorBytes) errors.push(tooLong(path.child('validationError'), '', maxErrorBytes));
}

/** Longer than elsewhere: a domain, without the limit of CSI drivers. */
function validateDriver(errors: FieldError[], driver: string | undefined, path: Path): void {
  if (!driver) errors.push(required(path.child('driver')));
  else check(errors, isDNS1123SubdomainCaseless(driver), driver, path, 'driver');
}

function atLeast(errors: FieldError[], value: number | undefined, min: number, path: Path, field: string): void {
  if (value !== undefined && value < min) errors.push(invalid(path.child(field), value, `must be greater than or equal to ${min}`));
}
