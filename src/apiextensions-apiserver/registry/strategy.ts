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

/** What rules in CEL say of a custom resource. */
export interface CustomResourceRules {
  /** `old` is undefined on create. `warn` is told of what does not hold but did not before either. */
  validate(object: KubeObject, old: KubeObject | undefined, warn: (text: string) => void): FieldError[];
}

/** How objects of one version are written. Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go. */
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

/** How the status of objects is written: nothing else of them changes. Upstream: status_strategy.go. */
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
 * Prunes what an apply merged: unlike other writes, it was not when it was decoded. Undeclared fields, and nulls, are validated
 * and count as a change before that.
 */
function pruningApplied(version: CustomVersion): NonNullable<Strategy['canonicalize']> {
  return (object, { isApply }) => {
    if (isApply) version.prune(object);
  };
}

/** Makes an object what it was, but for fields that it keeps, or lacks, and for what says who wrote it; in place. */
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

/** Gives an object the fields that another has, absence included; in place. */
export function keepFields(object: KubeObject, from: KubeObject, fields: readonly string[]): void {
  for (const field of fields) {
    if (Object.hasOwn(from, field)) setOwn(object, field, from[field]);
    else delete object[field];
  }
}

/** Lists that were wrong already may stay so. */
function newListErrors({ structural }: CustomVersion, object: KubeObject, old: KubeObject): FieldError[] {
  const errors = validateListSetsAndMaps(undefined, structural, object);
  return errors.length > 0 && validateListSetsAndMaps(undefined, structural, old).length > 0 ? [] : errors;
}

/** What is wrong with the kind that an object says it is of. */
export function validateTypeMeta({ kind, groupVersion }: CustomVersion, object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (object.kind !== kind.kind) errors.push(invalid(fieldPath('kind'), object.kind, `must be ${kind.kind}`));
  if (object.apiVersion !== groupVersion) errors.push(invalid(fieldPath('apiVersion'), object.apiVersion, `must be ${groupVersion}`));
  return errors;
}

/** Errors after which a value may not be of the type that rules take it for. */
const blocking = new Set<FieldError['type']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** A wrong name does not keep rules from being checked, as a missing one does. */
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

/** Upstream: registry/customresource/validator.go (validateKubeFinalizerName). */
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
