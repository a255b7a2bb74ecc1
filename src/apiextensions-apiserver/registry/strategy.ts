import { nextGeneration } from '#apimachinery/meta/generation';
import type { KubeObject } from '#apimachinery/meta/types';
import { getOwn, setOwn } from '#apimachinery/patch/own-property';
import { deepCopy } from '#apimachinery/runtime/copy';
import { deepEqual } from '#apimachinery/runtime/equality';
import { quote } from '#apimachinery/runtime/quote';
import { validateListSetsAndMaps } from '#apimachinery/structural/list-types';
import { validateEmbeddedResources } from '#apimachinery/structural/object-meta';
import { addErrors, type FieldError, FieldError as Failure, fieldPath, invalid, type Path } from '#apimachinery/validation/field';
import { isQualifiedName } from '#apimachinery/validation/names';
import { validateObjectMeta } from '#apimachinery/validation/object-meta';
import type { Strategy, StrategyContext } from '#apiserver/registry/resource-definition';
import type { CustomResourceSubresources } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import type { CustomVersion } from './custom-version.ts';
import { validateScaleSpec, validateScaleStatus } from './scale.ts';

/** The CEL validation of a custom resource. */
export interface CustomResourceRules {
  /** Validates an object. `old` is undefined on create. `warn` is called for errors of unchanged values. */
  validate(object: KubeObject, old: KubeObject | undefined, warn: (text: string) => void): FieldError[];
}

/** Returns the strategy for objects of one version. Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go. */
export function customResourceStrategy(
  version: CustomVersion,
  subresources: CustomResourceSubresources | undefined,
  rules: () => CustomResourceRules | undefined,
): Strategy {
  const pruneApplied = pruningApplied(version);
  const hasStatus = subresources?.status !== undefined;
  const scale = subresources?.scale;
  const withRules = (errors: FieldError[], object: KubeObject, old: KubeObject | undefined, context: StrategyContext): FieldError[] => [
    ...errors,
    ...validateRules(rules(), errors, object, old, context),
  ];
  const scaleErrors = (object: KubeObject): FieldError[] =>
    scale ? [...validateScaleSpec(object, scale), ...validateScaleStatus(object, scale)] : [];
  return {
    anyFinalizers: true,
    allowUnconditionalUpdate: false,
    ...(hasStatus && { resetFields: [['status']] }),
    canonicalize: pruneApplied,
    prepareForCreate(object) {
      if (hasStatus) delete object['status'];
      object.metadata.generation = 1;
    },
    prepareForUpdate(object, old) {
      if (hasStatus) {
        keepFields(object, old, ['status']);
      }
      if (!deepEqual({ ...object, metadata: null }, { ...old, metadata: null }))
        object.metadata.generation = nextGeneration(old.metadata.generation);
    },
    validate(object, context) {
      const wrongKind = validateTypeMeta(version, object);
      if (wrongKind.length > 0) return wrongKind;
      const { structural } = version;
      const errors = [
        ...version.validator.validate(undefined, object),
        ...scaleErrors(object),
        ...validateEmbeddedResources(object, structural),
        ...validateListSetsAndMaps(undefined, structural, object),
      ];
      return withRules(errors, object, undefined, context);
    },
    validateUpdate(object, old, context) {
      const wrongKind = validateTypeMeta(version, object);
      if (wrongKind.length > 0) return wrongKind;
      const { structural } = version;
      const errors = [
        ...version.validator.validateUpdate(undefined, object, old),
        ...scaleErrors(object),
        ...validateEmbeddedResources(object, structural),
        ...newListErrors(version, object, old),
      ];
      return withRules(errors, object, old, context);
    },
    warningsOnCreate: (object) => finalizerWarnings(object.metadata.finalizers),
    warningsOnUpdate(object, old) {
      const before = new Set(old.metadata.finalizers);
      return finalizerWarnings(object.metadata.finalizers?.filter((finalizer) => !before.has(finalizer)));
    },
  };
}

/** Returns the strategy for the status subresource, which changes only the status. Upstream: status_strategy.go. */
export function customResourceStatusStrategy(
  version: CustomVersion,
  subresources: CustomResourceSubresources,
  rules: () => CustomResourceRules | undefined,
): Strategy {
  const { scale } = subresources;
  const pruneApplied = pruningApplied(version);
  return {
    anyFinalizers: true,
    allowUnconditionalUpdate: false,
    resetFields: [['metadata'], ['spec']],
    prepareForUpdate(object, old) {
      keepAllBut(object, old, ['status']);
    },
    canonicalize: pruneApplied,
    validateUpdate(object, old, context) {
      const wrongKind = validateTypeMeta(version, object);
      if (wrongKind.length > 0) return wrongKind;
      const errors: FieldError[] = [];
      if (Object.hasOwn(object, 'status'))
        addErrors(
          errors,
          version.validator.property('status')?.validateUpdate(fieldPath('status'), object['status'], getOwn(old, 'status')) ?? [],
        );
      if (scale) addErrors(errors, validateScaleStatus(object, scale));
      addErrors(errors, newListErrors(version, object, old));
      return [...errors, ...validateRules(rules(), errors, object, old, context)];
    },
  };
}

/**
 * Returns the step that prunes the result of an apply, which was not pruned on decoding. Undeclared fields and nulls are validated before
 * and count as a change.
 */
function pruningApplied(version: CustomVersion): NonNullable<Strategy['canonicalize']> {
  return (object, { isApply }) => {
    if (isApply) version.prune(object);
  };
}

/** Reverts an object to the old one, except for the given fields and the metadata that records the writer; in place. */
export function keepAllBut(object: KubeObject, old: KubeObject, fields: readonly string[]): void {
  const { managedFields, resourceVersion } = object.metadata;
  const sent = { ...object };
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, deepCopy(old));
  if (managedFields) object.metadata.managedFields = managedFields;
  else delete object.metadata.managedFields;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  keepFields(object, sent, fields);
}

/** Copies fields from another object, or deletes those that it lacks; in place. */
export function keepFields(object: KubeObject, from: KubeObject, fields: readonly string[]): void {
  for (const field of fields) {
    if (Object.hasOwn(from, field)) setOwn(object, field, from[field]);
    else delete object[field];
  }
}

/** Returns the errors of lists; a list that was already invalid stays valid. */
function newListErrors({ structural }: CustomVersion, object: KubeObject, old: KubeObject): FieldError[] {
  const errors = validateListSetsAndMaps(undefined, structural, object);
  return errors.length > 0 && validateListSetsAndMaps(undefined, structural, old).length > 0 ? [] : errors;
}

/** Validates apiVersion and kind of an object. */
export function validateTypeMeta({ kind, groupVersion }: CustomVersion, object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (object.kind !== kind.kind) errors.push(invalid(fieldPath('kind'), object.kind, `must be ${kind.kind}`));
  if (object.apiVersion !== groupVersion) errors.push(invalid(fieldPath('apiVersion'), object.apiVersion, `must be ${groupVersion}`));
  return errors;
}

/** Errors after which values may not have the types that rules expect. */
const blocking = new Set<FieldError['type']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** Accepts every name: an invalid name does not prevent the evaluation of rules, a missing one does. */
const anyName = (): readonly string[] => [];

function validateRules(
  rules: CustomResourceRules | undefined,
  errors: readonly FieldError[],
  object: KubeObject,
  old: KubeObject | undefined,
  { warn = () => {} }: StrategyContext,
): FieldError[] {
  if (!rules) return [];
  const ofMeta = validateObjectMeta(
    object.metadata,
    { namespaced: object.metadata.namespace !== undefined, nameFn: anyName },
    fieldPath('metadata'),
  );
  if ([...ofMeta, ...errors].some(({ type }) => blocking.has(type))) return [new Failure('FieldValueInvalid', '<nil>', null, unchecked)];
  return rules.validate(object, old, warn);
}

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Warns about finalizers that are not domain-qualified. Upstream: registry/customresource/validator.go (validateKubeFinalizerName). */
function finalizerWarnings(finalizers: readonly string[] | undefined): string[] {
  const path: Path = fieldPath('metadata', 'finalizers');
  return [...new Set(finalizers)].sort().flatMap((finalizer) => {
    const named = `${path.toString()}: ${quote(finalizer)}`;
    const warnings = isQualifiedName(finalizer).map((message) => `${named}: ${message}`);
    if (!finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      const what = finalizer.includes('.') ? 'including a path (/) ' : '';
      warnings.push(`${named}: prefer a domain-qualified finalizer name ${what}to avoid accidental conflicts with other finalizer writers`);
    }
    return warnings;
  });
}
