import { fieldElement } from '#apimachinery/managedfields/path-element';
import type { ReplicasPaths } from '#apimachinery/managedfields/scale-handler';
import { getOwn, isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { formatValue } from '#apimachinery/patch/format-value';
import { Float64, isInt64 } from '#apimachinery/runtime/numbers';
import { type FieldError, invalid, Path } from '#apimachinery/validation/field';
import type { ScaleBinding } from '#apiserver/registry/resource-definition';
import type { CustomResourceDefinitionSpec, CustomResourceSubresourceScale } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

const maxInt32 = 2_147_483_647;

/** Error for a field on a simple path that has an unexpected type. */
class AccessError extends Error {}

/** Returns the segments of `.spec.replicas`. */
function stepsOf(path: string): string[] {
  return path.replace(/^\./, '').split('.');
}

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return value instanceof Float64 ? 'float64' : 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return isInt64(value) ? 'int64' : 'float64';
    default:
      return typeof value;
  }
}

/** Returns the value at a path; undefined if a segment is missing. Throws AccessError if an ancestor is not an object. */
function nested(object: unknown, path: string): unknown {
  const steps = stepsOf(path);
  let value = object;
  for (const [i, step] of steps.entries()) {
    if (!isJsonObject(value)) {
      if (value === undefined || value === null) return undefined;
      const place = `.${steps.slice(0, i + 1).join('.')}`;
      throw new AccessError(
        `${place} accessor error: ${formatValue(value)} is of the type ${goType(value)}, expected map[string]interface{}`,
      );
    }
    value = getOwn(value, step);
  }
  return value;
}

function nestedOf(object: unknown, path: string, type: 'int64' | 'string'): unknown {
  const value = nested(object, path);
  if (value === undefined || goType(value) === type) return value;
  throw new AccessError(
    `.${stepsOf(path).join('.')} accessor error: ${formatValue(value)} is of the type ${goType(value)}, expected ${type}`,
  );
}

function int64At(object: unknown, path: string): number | bigint | undefined {
  return nestedOf(object, path, 'int64') as number | bigint | undefined;
}

/** Returns the replicas at a path; undefined if absent. Throws Error if they are not an integer. */
function replicasAt(object: unknown, path: string): number | undefined {
  const value = int64At(object, path);
  return value === undefined ? undefined : Number(value);
}

/** Returns the string at a path, '' if absent. Throws Error if it is not a string. */
function textAt(object: unknown, path: string): string {
  return (nestedOf(object, path, 'string') as string | undefined) ?? '';
}

/** Sets the value at a path, and creates missing objects on the way. */
function setAt(object: JsonObject, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop() as string;
  let at = object;
  for (const step of steps) {
    const next = getOwn(at, step);
    if (isJsonObject(next)) at = next;
    else {
      const made: JsonObject = {};
      setOwn(at, step, made);
      at = made;
    }
  }
  setOwn(at, last, value);
}

function validateReplicas(object: unknown, path: string): FieldError[] {
  const place = new Path(path);
  try {
    const replicas = int64At(object, path) ?? 0;
    if (replicas < 0) return [invalid(place, replicas, 'should be a non-negative integer')];
    return replicas > maxInt32 ? [invalid(place, replicas, `should be less than or equal to ${maxInt32}`)] : [];
  } catch (error) {
    if (error instanceof AccessError) return [invalid(place, 0, error.message)];
    throw error;
  }
}

/** Validates the replicas in the spec. Upstream: registry/customresource/validator.go (ValidateScaleSpec). */
export function validateScaleSpec(object: unknown, { specReplicasPath = '' }: CustomResourceSubresourceScale): FieldError[] {
  return validateReplicas(object, specReplicasPath);
}

/** Validates the replicas and the selector in the status. Upstream: registry/customresource/validator.go (ValidateScaleStatus). */
export function validateScaleStatus(object: unknown, scale: CustomResourceSubresourceScale): FieldError[] {
  const { statusReplicasPath = '', labelSelectorPath } = scale;
  const errors = validateReplicas(object, statusReplicasPath);
  if (labelSelectorPath === undefined) return errors;
  try {
    textAt(object, labelSelectorPath);
  } catch (error) {
    if (!(error instanceof AccessError)) throw error;
    errors.push(invalid(new Path(labelSelectorPath), '', error.message));
  }
  return errors;
}

/**
 * Returns the scale subresource of a custom resource. `paths` has the replicas path of each version. Upstream:
 * registry/customresource/etcd.go (ScaleREST).
 */
export function customScale(
  { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' }: CustomResourceSubresourceScale,
  replicasPaths: ReplicasPaths,
): ScaleBinding {
  return {
    requiredPath: specReplicasPath,
    specReplicas: (object) => replicasAt(object, specReplicasPath),
    statusReplicas: (object) => replicasAt(object, statusReplicasPath) ?? 0,
    selector: (object) => (labelSelectorPath === '' ? '' : textAt(object, labelSelectorPath)),
    setReplicas: (object, replicas) => setAt(object, specReplicasPath, replicas),
    replicasPaths,
  };
}

/** Returns the replicas paths of all versions; null for a version without a scale subresource. */
export function replicasPathsOf({ group, versions = [] }: CustomResourceDefinitionSpec): ReplicasPaths {
  return new Map(
    versions.map(({ name, subresources }) => {
      const path = subresources?.scale?.specReplicasPath;
      return [`${group}/${name}`, path === undefined ? null : stepsOf(path).map(fieldElement)];
    }),
  );
}
