/**
 * Validation of resource pool status requests. Upstream: pkg/apis/resource/validation/validation.go,
 * pkg/apis/resource/v1alpha3/zz_generated.validations.go.
 */
import { encode } from '#apimachinery/runtime/encode';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import {
  duplicate,
  type FieldError,
  fieldPath,
  invalid,
  JsonText,
  type Path,
  required,
  tooLong,
  tooMany,
} from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isDNS1123SubdomainCaseless } from '#apimachinery/validation/names';
import { type Condition, fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { byteLength, check } from '#kubernetes/apis/core/validation/checks';
import type { PoolStatus, ResourcePoolStatusRequest, ResourcePoolStatusRequestStatus } from '#kubernetes/schema/resource_v1alpha3.gen';
import { schema } from '#kubernetes/schema/schema';
import { validateItems } from './device-names.ts';
import { goValue } from './go-value.ts';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const conditionsPath = statusPath.child('conditions');
const limits = { min: 1, max: 1000 };
const maxPools = 1000;
const maxConditions = 10;
const maxErrorBytes = 256;
const maxPoolName = 253;

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

/** Validates an update of the status, which is immutable once it is set, and validated even then. */
export function validateResourcePoolStatusRequestStatusUpdate(
  { status }: ResourcePoolStatusRequest,
  { status: old }: ResourcePoolStatusRequest,
): FieldError[] {
  // An absent status differs from an empty one.
  if (status && old && semanticDeepEqual(status, old)) return [];
  if (!status && !old) return [];
  const errors = old
    ? [
        invalid(
          statusPath,
          status && goValue(schema.struct('resource_v1alpha3.ResourcePoolStatusRequestStatus'), status),
          fieldImmutableError,
        ),
      ]
    : validateConditions(status?.conditions ?? [], conditionsPath);
  if (status) validateStatus(errors, status, old);
  return errors;
}

/** Validates the changed parts. */
function validateStatus(
  errors: FieldError[],
  { poolCount, pools, conditions = [] }: ResourcePoolStatusRequestStatus,
  old: ResourcePoolStatusRequestStatus | undefined,
): void {
  if (poolCount === undefined) errors.push(required(statusPath.child('poolCount')));
  else if (poolCount !== old?.poolCount) atLeast(errors, poolCount, 0, statusPath, 'poolCount');
  if (!semanticDeepEqual(pools, old?.pools)) validateItems(errors, pools, maxPools, statusPath.child('pools'), validatePool);
  if (semanticDeepEqual(conditions, old?.conditions)) return;
  if (conditions.length > maxConditions) errors.push(tooMany(conditionsPath, conditions.length, maxConditions));
  else distinctConditions(errors, conditions);
}

function distinctConditions(errors: FieldError[], conditions: readonly Condition[]): void {
  const types = new Set<string | undefined>();
  for (const [i, condition] of conditions.entries()) {
    if (types.has(condition.type))
      errors.push(duplicate(conditionsPath.index(i), new JsonText(encode(schema.struct('meta_v1.Condition'), condition))));
    types.add(condition.type);
  }
}

function validatePool(errors: FieldError[], pool: PoolStatus, path: Path): void {
  validateDriver(errors, pool.driver, path);
  if (pool.poolName) validatePoolName(errors, pool.poolName, path.child('poolName'));
  else errors.push(required(path.child('poolName')));
  if (!pool.generation) errors.push(required(path.child('generation')));
  else atLeast(errors, pool.generation, 0, path, 'generation');
  atLeast(errors, pool.resourceSliceCount, 1, path, 'resourceSliceCount');
  for (const field of ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'] as const)
    atLeast(errors, pool[field], 0, path, field);
  if (pool.nodeName !== undefined) check(errors, isDNS1123Subdomain(pool.nodeName), pool.nodeName, path, 'nodeName');
  if (byteLength(pool.validationError ?? '') > maxErrorBytes) errors.push(tooLong(path.child('validationError'), '', maxErrorBytes));
}

/** Requires a domain, without the length limit of CSI drivers. */
function validateDriver(errors: FieldError[], driver: string | undefined, path: Path): void {
  if (!driver) errors.push(required(path.child('driver')));
  else check(errors, isDNS1123SubdomainCaseless(driver), driver, path, 'driver');
}

/** Requires domains separated by slashes; unlike in other kinds of the group, the message names the invalid one. */
function validatePoolName(errors: FieldError[], name: string, path: Path): void {
  if (byteLength(name) > maxPoolName) errors.push(tooLong(path, '', maxPoolName));
  for (const [i, part] of name.split('/').entries()) {
    const problems = part === '' ? ['must not be empty'] : isDNS1123Subdomain(part);
    for (const problem of problems) errors.push(invalid(path, part === '' ? name : part, `segment ${i}: ${problem}`));
  }
}

function atLeast(errors: FieldError[], value: number | undefined, min: number, path: Path, field: string): void {
  if (value !== undefined && value < min) errors.push(invalid(path.child(field), value, `must be greater than or equal to ${min}`));
}
