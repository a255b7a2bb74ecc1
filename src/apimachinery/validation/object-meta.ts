/**
 * Validation of object metadata, label selectors and conditions. Upstream: apimachinery/pkg/api/validation/objectmeta.go and
 * pkg/apis/meta/v1/validation.
 */
import type { LabelSelectorRequirementSource, LabelSelectorSource } from '../labels/selector.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../meta/types.ts';
import { deepEqual } from '../runtime/equality.ts';
import { compareUtf8, encodeString } from '../runtime/json/json.ts';
import { formatRune, isPrint, quote } from '../runtime/quote.ts';
import { keysOf } from '../runtime/wide-objects.ts';
import {
  addError,
  addErrors,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  JsonText,
  notSupported,
  notSupportedText,
  type Path,
  required,
  tooLong,
  named,
} from './field.ts';
import { checkEach, errorsOfEach } from './pausing.ts';
import { type ValidateNameFunc, isQualifiedName, isValidLabelValue, regexError, validateNamespaceName } from './names.ts';

export const fieldImmutableError = 'field is immutable';
/** Maximum size of all annotations of an object, keys and values, in bytes. */
export const totalAnnotationSizeLimit = 256 * 1024;
/** Maximum length of a field manager's name, in bytes. */
export const fieldManagerMaxLength = 128;

const maxSubresourceNameLength = 256;
const orphanDependents = 'orphan';
const foregroundDeletion = 'foregroundDeletion';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly nameFn: ValidateNameFunc;
}

/** Validates the metadata of a new object after name generation. `path` is that of the metadata. */
export function validateObjectMeta(meta: ObjectMeta, { namespaced, nameFn }: ObjectMetaRules, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName) {
    for (const message of nameFn(meta.generateName, true)) errors.push(invalid(path.child('generateName'), meta.generateName, message));
  }
  if (!meta.name) {
    errors.push(required(path.child('name'), 'name or generateName is required'));
  } else {
    for (const message of nameFn(meta.name, false)) errors.push(invalid(path.child('name'), meta.name, message));
  }
  validateNamespace(errors, meta.namespace, namespaced, path.child('namespace'));
  if ((meta.generation ?? 0) < 0) errors.push(invalid(path.child('generation'), meta.generation, 'must be greater than or equal to 0'));
  if (meta.labels) addErrors(errors, validateLabels(meta.labels, path.child('labels')));
  if (meta.annotations) addErrors(errors, validateAnnotations(meta.annotations, path.child('annotations')));
  if (meta.ownerReferences) addErrors(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')));
  if (meta.finalizers) addErrors(errors, validateFinalizers(meta.finalizers, path.child('finalizers')));
  if (meta.managedFields) addErrors(errors, validateManagedFields(meta.managedFields, path.child('managedFields')));
  return errors;
}

function validateNamespace(errors: FieldError[], namespace: string | undefined, namespaced: boolean, path: Path): void {
  if (!namespaced) {
    if (namespace) errors.push(forbidden(path, 'not allowed on this type'));
  } else if (!namespace) {
    errors.push(required(path));
  } else {
    for (const message of validateNamespaceName(namespace, false)) errors.push(invalid(path, namespace, message));
  }
}

/** Validates the changes of the metadata by an update. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) addErrors(errors, validateNoNewFinalizers(meta.finalizers, old.finalizers, path.child('finalizers')));
  if (!meta.resourceVersion) errors.push(invalid(path.child('resourceVersion'), '', 'must be specified for an update'));
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'));
  }
  for (const [field, zero] of immutableFields) {
    const value = meta[field] ?? zero;
    if (value !== (old[field] ?? zero))
      errors.push(invalid(path.child(field), field === 'uid' ? named(value) : value, fieldImmutableError));
  }
  if (meta.labels) addErrors(errors, validateLabels(meta.labels, path.child('labels')));
  if (meta.annotations) addErrors(errors, validateAnnotations(meta.annotations, path.child('annotations')));
  if (meta.ownerReferences) addErrors(errors, validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')));
  if (meta.managedFields) addErrors(errors, validateManagedFields(meta.managedFields, path.child('managedFields')));
  return errors;
}

/** Immutable fields with the value that is printed if absent; null is a nil pointer (or the zero time). */
const immutableFields = [
  ['name', ''],
  ['namespace', ''],
  ['uid', ''],
  ['creationTimestamp', null],
  ['deletionTimestamp', null],
  ['deletionGracePeriodSeconds', null],
] as const;

/** Validates that a field is unchanged; undefined and null are equal. `show` returns the bad value of the message. */
export function validateImmutableField(
  value: unknown,
  old: unknown,
  path: Path,
  show: (value: unknown) => unknown = (shown) => shown,
): FieldError[] {
  return deepEqual(value ?? undefined, old ?? undefined) ? [] : [invalid(path, show(value), fieldImmutableError)];
}

export function validateLabelName(name: string, path: Path): FieldError[] {
  return isQualifiedName(name).map((message) => invalid(path, name, message));
}

export function validateLabels(labels: Readonly<Record<string, string>>, path: Path): FieldError[] {
  return errorsOfEach(labels, path, keysOf(labels), (errors, key) => {
    const value = labels[key];
    if (value === undefined) return;
    for (const message of isQualifiedName(key)) addError(errors, invalid(path, key, message));
    for (const message of isValidLabelValue(value)) addError(errors, invalid(path, value, message));
  });
}

const newTotal = () => ({ bytes: 0 });

/** Validates annotations: keys may have upper case in their prefix; the total size is limited. */
export function validateAnnotations(annotations: Readonly<Record<string, string>>, path: Path): FieldError[] {
  const { errors, state } = checkEach(annotations, path, keysOf(annotations), newTotal, (found, key, _, total) => {
    const value = annotations[key];
    if (value === undefined) return;
    for (const message of isQualifiedName(key.toLowerCase())) addError(found, invalid(path, key, message));
    total.bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  });
  return state.bytes > totalAnnotationSizeLimit ? [...errors, tooLong(path, '', totalAnnotationSizeLimit)] : errors;
}

/** Returns the JSON of an owner reference in the order of the Go struct. */
function ownerReferenceJson({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  const required = { apiVersion, kind, name, uid };
  const parts = Object.entries(required).map(([key, value]) => `"${key}":${encodeString(value ?? '')}`);
  if (controller !== undefined) parts.push(`"controller":${controller}`);
  if (blockOwnerDeletion !== undefined) parts.push(`"blockOwnerDeletion":${blockOwnerDeletion}`);
  return `{${parts.join(',')}}`;
}

function validateOwnerReference(reference: OwnerReference, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<OwnerReference>;
  // A version with two slashes is malformed.
  const parts = apiVersion.split('/');
  const version = parts.length > 2 ? '' : parts.at(-1)!;
  if (version === '') errors.push(invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(invalid(path.child('kind'), kind, 'must not be empty'));
  if (name === '') errors.push(invalid(path.child('name'), name, 'must not be empty'));
  if (uid === '') errors.push(invalid(path.child('uid'), uid, 'must not be empty'));
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.push(invalid(path, new JsonText(ownerReferenceJson(reference)), '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

/** Validates that each owner has all fields, and at most one is the controller. */
export function validateOwnerReferences(references: readonly OwnerReference[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references) {
    addErrors(errors, validateOwnerReference(reference, path));
    if (!reference.controller) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller !== '') {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(path, new JsonText(`[${references.map(ownerReferenceJson).join(',')}]`), detail));
    } else {
      controller = name;
    }
  }
  return errors;
}

export function validateFinalizerName(name: string, path: Path): FieldError[] {
  return isQualifiedName(name).map((message) => invalid(path, name, message));
}

export function validateFinalizers(finalizers: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  addErrors(
    errors,
    errorsOfEach(finalizers, path, finalizers, (found, finalizer) => addErrors(found, validateFinalizerName(finalizer, path))),
  );
  if (finalizers.includes(orphanDependents) && finalizers.includes(foregroundDeletion)) {
    errors.push(invalid(path, finalizers, `finalizer ${orphanDependents} and ${foregroundDeletion} cannot be both set`));
  }
  return errors;
}

const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', orphanDependents, foregroundDeletion]);

/**
 * Validates finalizers of built-in kinds: those without a domain must be the server's own. Upstream: pkg/apis/core/validation,
 * validateKubeFinalizerName.
 */
export function validateKubeFinalizerNames(finalizers: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, finalizer] of finalizers.entries()) {
    if (finalizer.includes('/') || standardFinalizers.has(finalizer)) continue;
    addError(errors, invalid(path.index(i), finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
  }
  return errors;
}

export function validateNoNewFinalizers(finalizers: readonly string[] = [], old: readonly string[] = [], path?: Path): FieldError[] {
  const before = new Set(old);
  const extra = [...new Set(finalizers)].filter((finalizer) => !before.has(finalizer)).sort(compareUtf8);
  if (extra.length === 0) return [];
  const list = `[]string{${extra.map(quote).join(', ')}}`;
  return [forbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`)];
}

/** Validates a field manager's name: short and printable. Positions are in bytes. */
export function validateFieldManager(fieldManager: string, path: Path): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(fieldManager) > fieldManagerMaxLength) errors.push(tooLong(path, '', fieldManagerMaxLength));
  let position = 0;
  for (const char of fieldManager) {
    if (!isPrint(char)) errors.push(invalid(path, fieldManager, `invalid character ${formatRune(char)} (at position ${position})`));
    position += Buffer.byteLength(char);
  }
  return errors;
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: Path): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, { operation = '', fieldsType = '', manager = '', subresource = '' }] of entries.entries()) {
    const at = path.index(i);
    if (operation !== 'Apply' && operation !== 'Update')
      errors.push(invalid(at.child('operation'), named(operation), 'must be `Apply` or `Update`'));
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'));
    addErrors(errors, validateFieldManager(manager, at.child('manager')));
    if (Buffer.byteLength(subresource) > maxSubresourceNameLength)
      errors.push(tooLong(at.child('subresource'), '', maxSubresourceNameLength));
  }
  return errors;
}

/** Validates the dryRun query parameter. */
export function validateDryRun(path: Path, dryRun: readonly string[]): FieldError[] {
  return dryRun.every((value) => value === 'All') ? [] : [notSupported(path, dryRun, ['All'])];
}

export function validateFieldValidation(path: Path, fieldValidation: string): FieldError[] {
  const allowed = ['', 'Ignore', 'Strict', 'Warn'];
  return allowed.includes(fieldValidation) ? [] : [notSupportedText(path, fieldValidation, allowed)];
}

export interface LabelSelectorRules {
  /** True for stored objects, which may have such values. */
  readonly allowInvalidLabelValueInSelector?: boolean | undefined;
  readonly allowUnknownOperatorInRequirement?: boolean | undefined;
}

/** Validates a metav1.LabelSelector; an absent one is valid. */
export function validateLabelSelector(
  selector: LabelSelectorSource | undefined | null,
  rules: LabelSelectorRules,
  path: Path,
): FieldError[] {
  if (!selector) return [];
  const errors = validateLabels(selector.matchLabels ?? {}, path.child('matchLabels'));
  for (const [i, requirement] of (selector.matchExpressions ?? []).entries()) {
    addErrors(errors, validateLabelSelectorRequirement(requirement, rules, path.child('matchExpressions').index(i)));
  }
  return errors;
}

export function validateLabelSelectorRequirement(
  requirement: LabelSelectorRequirementSource,
  rules: LabelSelectorRules,
  path: Path,
): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement as Partial<LabelSelectorRequirementSource>;
  const errors = validateSelectorOperator(operator, values, rules.allowUnknownOperatorInRequirement ?? false, path);
  addErrors(errors, validateLabelName(key, path.child('key')));
  if (!rules.allowInvalidLabelValueInSelector) {
    for (const [i, value] of values.entries()) {
      for (const message of isValidLabelValue(value)) errors.push(invalid(path.child('values').index(i), value, message));
    }
  }
  return errors;
}

/** Validates a metav1.FieldSelectorRequirement. */
export function validateFieldSelectorRequirement(
  requirement: LabelSelectorRequirementSource,
  rules: Pick<LabelSelectorRules, 'allowUnknownOperatorInRequirement'>,
  path: Path,
): FieldError[] {
  const { key = '', operator = '', values = [] } = requirement as Partial<LabelSelectorRequirementSource>;
  const errors = key === '' ? [required(path.child('key'), 'must be specified')] : [];
  return [...errors, ...validateSelectorOperator(operator, values, rules.allowUnknownOperatorInRequirement ?? false, path)];
}

function validateSelectorOperator(operator: string, values: readonly string[], allowUnknown: boolean, path: Path): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return allowUnknown ? [] : [invalid(path.child('operator'), named(operator), 'not a valid selector operator')];
  }
}

/** True if a selector has an invalid label value, which an update of such an object may keep. */
export function labelSelectorHasInvalidLabelValue(selector: LabelSelectorSource | undefined | null): boolean {
  return (selector?.matchExpressions ?? []).some(({ values }) => (values ?? []).some((value) => isValidLabelValue(value).length > 0));
}

/** metav1.Condition. */
export interface Condition {
  type?: string;
  status?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export function validateConditions(conditions: readonly Condition[], path: Path): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, i) => {
    const type = condition.type ?? '';
    const errors = seen.has(type) ? [duplicate(path.index(i).child('type'), type)] : [];
    seen.add(type);
    return [...errors, ...validateCondition(condition, path.index(i))];
  });
}

const conditionReason = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const conditionReasonRegex = new RegExp(`^(?:${conditionReason})$`);
const conditionReasonError =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";

export function validateCondition(condition: Condition, path: Path): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = condition;
  const errors = validateLabelName(type, path.child('type'));
  const statuses = ['False', 'True', 'Unknown'];
  if (!statuses.includes(status)) errors.push(notSupported(path.child('status'), status, statuses));
  if (observedGeneration < 0)
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'));
  if (!lastTransitionTime) errors.push(required(path.child('lastTransitionTime')));
  if (reason === '') {
    errors.push(required(path.child('reason')));
  } else {
    if (!conditionReasonRegex.test(reason)) {
      const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];
      errors.push(invalid(path.child('reason'), reason, regexError(conditionReasonError, conditionReason, ...examples)));
    }
    if (Buffer.byteLength(reason) > 1024) errors.push(tooLong(path.child('reason'), '', 1024));
  }
  if (Buffer.byteLength(message) > 32 * 1024) errors.push(tooLong(path.child('message'), '', 32 * 1024));
  return errors;
}
