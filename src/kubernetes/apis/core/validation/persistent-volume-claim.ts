/** Validation of persistent volume claims. Upstream: pkg/apis/core/validation. */
import {
  addErrors,
  type FieldError,
  type Path,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isQualifiedName, nameIsDNSSubdomain, validateNamespaceName } from '#apimachinery/validation/names';
import { validateAnnotations, validateLabelSelector, validateLabels } from '#apimachinery/validation/object-meta';
import { isNativeResource } from '#kubernetes/apis/core/resource-list';
import { betaStorageClass } from '#kubernetes/apis/core/volumes';
import { equalAs } from '#kubernetes/apis/equal-as';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedObjectReference,
} from '#kubernetes/schema/core_v1.gen';
import { check, fieldIsImmutable, isNotPositive, quantityOf, validateOptionalEnum, validateRequired } from './checks.ts';
import { internalDiff } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';
import { validateBasicResource, validateResourceQuantityValue, warnFractionalBytes } from './resources.ts';
import { validateAccessModes, volumeModes } from './volume-sources.ts';

const specPath = fieldPath('spec');
const noSpec: PersistentVolumeClaimSpec = {};
const none: Readonly<Record<string, string>> = {};

type Selector = Parameters<typeof validateLabelSelector>[0];

interface ClaimOptions {
  readonly allowInvalidLabelValueInSelector: boolean;
  readonly allowInvalidApiGroup: boolean;
}
const newClaim: ClaimOptions = { allowInvalidLabelValueInSelector: false, allowInvalidApiGroup: false };

function updateOptions({ spec = noSpec }: PersistentVolumeClaim): ClaimOptions {
  return {
    allowInvalidLabelValueInSelector: validateLabelSelector(spec.selector as Selector, {}, specPath).length > 0,
    allowInvalidApiGroup: spec.dataSource?.apiGroup !== undefined || spec.dataSourceRef?.apiGroup !== undefined,
  };
}

export function validatePersistentVolumeClaim({ spec = noSpec }: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  validatePersistentVolumeClaimSpec(errors, spec, specPath, newClaim);
  return errors;
}

/** Validates the template of a claim that is created with its pod. Its metadata has only labels and annotations. */
export function validatePersistentVolumeClaimTemplate(
  errors: FieldError[],
  { metadata = {}, spec = noSpec }: PersistentVolumeClaimTemplate,
  path: Path,
): void {
  validateTemplateMeta(errors, metadata, path.child('metadata'));
  validatePersistentVolumeClaimSpec(errors, spec, path.child('spec'), newClaim);
}

type TemplateMeta = NonNullable<PersistentVolumeClaimTemplate['metadata']>;

/** The metadata of a template may have labels and annotations. Upstream: ValidateTemplateObjectMeta in pkg/apis/core/validation. */
export function validateTemplateMeta(errors: FieldError[], metadata: TemplateMeta, path: Path): void {
  if (metadata.annotations) addErrors(errors, validateAnnotations(metadata.annotations, path.child('annotations')));
  if (metadata.labels) addErrors(errors, validateLabels(metadata.labels, path.child('labels')));
  for (const field of notInTemplates)
    if (metadata[field] !== undefined) errors.push(forbidden(path.child(field === 'uid' ? 'uID' : field), 'cannot be set'));
}

const notInTemplates = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

export function validatePersistentVolumeClaimSpec(
  errors: FieldError[],
  spec: PersistentVolumeClaimSpec,
  path: Path,
  options: ClaimOptions = newClaim,
): void {
  const { dataSource, dataSourceRef, storageClassName, volumeAttributesClassName } = spec;
  if (!spec.accessModes?.length) errors.push(required(path.child('accessModes'), 'at least 1 access mode is required'));
  if (spec.selector) {
    const { allowInvalidLabelValueInSelector } = options;
    addErrors(errors, validateLabelSelector(spec.selector as Selector, { allowInvalidLabelValueInSelector }, path.child('selector')));
  }
  validateAccessModes(errors, spec.accessModes, path);
  const storage = spec.resources?.requests?.['storage'];
  const storagePath = (): Path => path.child('resources').key('storage');
  if (storage === undefined) errors.push(required(storagePath()));
  else if (quantityOf(storage).sign <= 0) errors.push(invalid(storagePath(), quantityOf(storage).toString(), isNotPositive));
  else validateResourceQuantityValue(errors, 'storage', storage, storagePath);
  if (storageClassName) check(errors, nameIsDNSSubdomain(storageClassName, false), storageClassName, path, 'storageClassName');
  validateOptionalEnum(errors, spec.volumeMode, volumeModes, path, 'volumeMode');
  if (dataSource) validateDataSource(errors, dataSource, path.child('dataSource'), options);
  if (dataSourceRef) validateDataSource(errors, dataSourceRef, path.child('dataSourceRef'), options);
  if (dataSource && dataSourceRef) {
    const same =
      dataSource.apiGroup === dataSourceRef.apiGroup && dataSource.kind === dataSourceRef.kind && dataSource.name === dataSourceRef.name;
    // As upstream, the value is the path, which has no JSON fields.
    if (dataSourceRef.namespace) errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'));
    else if (!same) errors.push(invalid(path, {}, 'must match dataSourceRef'));
  }
  if (volumeAttributesClassName)
    check(errors, nameIsDNSSubdomain(volumeAttributesClassName, false), volumeAttributesClassName, path, 'volumeAttributesClassName');
}

/** Validates `dataSourceRef`, or the older `dataSource`, which has no namespace. */
function validateDataSource(errors: FieldError[], source: TypedObjectReference, path: Path, options: ClaimOptions): void {
  const { apiGroup = '', kind = '', namespace } = source;
  validateRequired(errors, source.name, path, 'name');
  validateRequired(errors, kind, path, 'kind');
  if (apiGroup === '' && kind !== 'PersistentVolumeClaim')
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  if (apiGroup !== '' && !options.allowInvalidApiGroup) check(errors, isDNS1123Subdomain(apiGroup), apiGroup, path, 'apiGroup');
  if (namespace) check(errors, validateNamespaceName(namespace, false), namespace, path, 'namespace');
}

const immutableSpec = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

export function validatePersistentVolumeClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  const spec = claim.spec ?? noSpec;
  const before = old.spec ?? noSpec;
  const { annotations } = claim.metadata;
  const oldAnnotation = old.metadata.annotations?.[betaStorageClass];
  validateMetaAgain(errors, claim.metadata, nameIsDNSSubdomain);
  validatePersistentVolumeClaimSpec(errors, spec, specPath, updateOptions(old));

  const munged: PersistentVolumeClaimSpec = { ...spec };
  const compared: PersistentVolumeClaimSpec = { ...before };
  if (!before.volumeName) copyField(compared, spec, 'volumeName');
  const fromAnnotation =
    oldAnnotation !== undefined &&
    before.storageClassName === undefined &&
    spec.storageClassName === oldAnnotation &&
    (annotations?.[betaStorageClass] ?? oldAnnotation) === oldAnnotation;
  if (fromAnnotation) {
    delete munged.storageClassName;
  } else {
    const annotation = annotations?.[betaStorageClass] ?? '';
    if (annotation !== (oldAnnotation ?? ''))
      errors.push(invalid(fieldPath('metadata', 'annotations', betaStorageClass), annotation, fieldIsImmutable));
    const fromNil =
      spec.storageClassName !== undefined &&
      before.storageClassName === undefined &&
      (oldAnnotation === undefined || spec.storageClassName === oldAnnotation);
    if (fromNil) copyField(munged, compared, 'storageClassName');
  }
  if (claim.status?.phase === 'Bound') {
    if (munged.resources?.requests) {
      munged.resources = {
        ...munged.resources,
        requests: { ...munged.resources.requests, storage: before.resources?.requests?.['storage'] ?? '0' },
      };
    }
    copyField(munged, compared, 'volumeAttributesClassName');
  }
  if (!equalAs('core_v1.PersistentVolumeClaimSpec', munged, compared)) {
    errors.push(forbidden(specPath, `${immutableSpec}\n${internalDiff('PersistentVolumeClaimSpec', compared, munged)}`));
  }

  const size = quantityOf(spec.resources?.requests?.['storage'] ?? '0');
  if (
    size.compare(quantityOf(before.resources?.requests?.['storage'] ?? '0')) < 0 &&
    size.compare(quantityOf(old.status?.capacity?.['storage'] ?? '0')) <= 0
  ) {
    errors.push(forbidden(specPath.child('resources', 'requests', 'storage'), 'field can not be less than status.capacity'));
  }
  if (spec.volumeMode !== before.volumeMode) errors.push(invalid(fieldPath('volumeMode'), named(spec.volumeMode), fieldIsImmutable));
  if (
    spec.volumeAttributesClassName !== before.volumeAttributesClassName &&
    old.status?.currentVolumeAttributesClassName !== undefined &&
    !spec.volumeAttributesClassName
  ) {
    const what = spec.volumeAttributesClassName === undefined ? 'nil' : 'empty string';
    errors.push(
      forbidden(
        specPath.child('volumeAttributesClassName'),
        `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`,
      ),
    );
  }
  return errors;
}

function copyField<K extends keyof PersistentVolumeClaimSpec>(
  to: PersistentVolumeClaimSpec,
  from: PersistentVolumeClaimSpec,
  field: K,
): void {
  if (from[field] === undefined) delete to[field];
  else to[field] = from[field];
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

export function validatePersistentVolumeClaimStatusUpdate({ spec, status }: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  const path = fieldPath('status');
  if (!spec?.accessModes?.length) errors.push(required(fieldPath('Spec', 'accessModes')));
  for (const [name, amount] of Object.entries(status?.capacity ?? none))
    validateBasicResource(errors, amount, () => path.child('capacity').key(name));
  for (const [name, value] of Object.entries(status?.allocatedResourceStatuses ?? none)) {
    validateClaimResource(errors, name, path.child('allocatedResourceStatuses'));
    if (!resizeStatuses.includes(value)) errors.push(notSupported(path.child('allocatedResourceStatuses'), name, resizeStatuses));
  }
  for (const [name, amount] of Object.entries(status?.allocatedResources ?? none)) {
    const at = path.child('allocatedResources');
    if (!validateClaimResource(errors, name, at)) continue;
    if (validateBasicResource(errors, amount, () => at.key(name)))
      validateResourceQuantityValue(errors, 'storage', amount, () => at.key(name));
  }
  return errors;
}

function validateClaimResource(errors: FieldError[], name: string, path: Path): boolean {
  const wrong = isQualifiedName(name);
  check(errors, wrong, name, path);
  if (wrong.length > 0) return false;
  if (!isNativeResource(name) || name === 'storage') return true;
  errors.push(notSupported(path, name, ['storage']));
  return false;
}

/** Warnings about a persistent volume claim. Upstream: pkg/api/persistentvolumeclaim/util.go. */
export function persistentVolumeClaimWarnings({ metadata, spec = noSpec }: PersistentVolumeClaim): string[] {
  const warnings: string[] = [];
  if (metadata.annotations?.[betaStorageClass] !== undefined) {
    warnings.push(`metadata.annotations[${betaStorageClass}]: deprecated since v1.8; use "storageClassName" attribute instead`);
  }
  warnClaimSpec(warnings, spec, specPath);
  return warnings;
}

export function warnClaimSpec(warnings: string[], { resources }: PersistentVolumeClaimSpec, path: Path): void {
  warnFractionalBytes(warnings, resources?.requests, 'storage', () => path.child('resources', 'requests'));
  warnFractionalBytes(warnings, resources?.limits, 'storage', () => path.child('resources', 'limits'));
}
