/** Validation of persistent volumes. Upstream: pkg/apis/core/validation and pkg/volume/validation. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { isOptedIn } from '#kubernetes/apis/core/capabilities';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, type Path, fieldPath, forbidden, invalid, notSupported, required, named } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { equalAs } from '#kubernetes/apis/equal-as';
import type { NodeSelectorRequirement, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from '#kubernetes/schema/core_v1.gen';
import { validateNodeSelector } from './affinity.ts';
import { check, fieldIsImmutable, isNotPositive, quantityOf, validateEnum, validateOptionalEnum } from './checks.ts';
import { internalDiff, internalValue } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';
import { warnNodeSelectorTerms } from './node-labels.ts';
import { UpdateOptions } from './pod-options.ts';
import { validateBasicResource } from './resources.ts';
import * as sources from './volume-sources.ts';
import { validateAccessModes, volumeModes } from './volume-sources.ts';
import { moreThanOneVolumeType } from './volumes.ts';

const specPath = fieldPath('spec');
const noSpec: PersistentVolumeSpec = {};
const mountOptions = 'volume.beta.kubernetes.io/mount-options';

type SourceField = keyof PersistentVolumeSpec;

interface SourceRule {
  readonly field: SourceField;
  readonly path?: string;
  readonly forbiddenPath?: string;
  validate(errors: FieldError[], source: never, path: Path, volumeName: string): void;
}

/** Rules of the sources, in upstream's order. */
const sourceRules: readonly SourceRule[] = [
  { field: 'hostPath', validate: sources.validateHostPath },
  { field: 'gcePersistentDisk', path: 'persistentDisk', validate: sources.validateGcePersistentDisk },
  { field: 'awsElasticBlockStore', validate: sources.validateAwsElasticBlockStore },
  { field: 'glusterfs', validate: sources.validateGlusterfs },
  { field: 'flocker', validate: sources.validateFlocker },
  { field: 'nfs', validate: sources.validateNfs },
  { field: 'rbd', validate: sources.validateRbd },
  { field: 'quobyte', validate: sources.validateQuobyte },
  { field: 'cephfs', forbiddenPath: 'cephFS', validate: sources.validateCephFs },
  {
    field: 'iscsi',
    validate: (errors, iscsi: NonNullable<PersistentVolumeSpec['iscsi']>, path, name) =>
      sources.validateIscsiPersistentVolume(errors, iscsi, name, path),
  },
  {
    field: 'cinder',
    validate: (errors, cinder: NonNullable<PersistentVolumeSpec['cinder']>, path) => sources.validateCinder(errors, cinder, true, path),
  },
  { field: 'fc', validate: sources.validateFc },
  { field: 'flexVolume', validate: sources.validateFlexVolume },
  { field: 'azureFile', validate: sources.validateAzureFile },
  { field: 'vsphereVolume', validate: sources.validateVsphereVolume },
  { field: 'photonPersistentDisk', validate: sources.validatePhotonPersistentDisk },
  { field: 'portworxVolume', validate: sources.validatePortworxVolume },
  { field: 'azureDisk', validate: sources.validateAzureDisk },
  { field: 'scaleIO', validate: sources.validateScaleIO },
  { field: 'local', validate: sources.validateLocal },
  {
    field: 'storageos',
    validate: (errors, storageos: NonNullable<PersistentVolumeSpec['storageos']>, path) =>
      sources.validateStorageOS(errors, storageos, true, path),
  },
  { field: 'csi', validate: sources.validateCsiPersistentVolume },
];

const inline = 'in the context of inline volumes';

/**
 * Validates the spec of a persistent volume. `isInline` is for the spec in a VolumeAttachment, which has no claim and no node. Upstream:
 * ValidatePersistentVolumeSpec.
 */
export function validatePersistentVolumeSpec(
  errors: FieldError[],
  spec: PersistentVolumeSpec,
  name: string,
  isInline: boolean,
  path: Path,
  allowInvalidLabelValue = () => false,
): void {
  if (isInline) {
    if (spec.claimRef) errors.push(forbidden(path.child('claimRef'), `may not be specified ${inline}`));
    if (spec.capacity) errors.push(forbidden(path.child('capacity'), `may not be specified ${inline}`));
    if (!spec.csi) errors.push(required(path.child('csi'), `has to be specified ${inline}`));
  }
  if (!spec.accessModes?.length) errors.push(required(path.child('accessModes')));
  validateAccessModes(errors, spec.accessModes, path);
  if (!isInline) validateCapacity(errors, spec.capacity, path.child('capacity'));
  const { persistentVolumeReclaimPolicy: policy } = spec;
  if (policy && isInline && policy !== 'Retain')
    errors.push(forbidden(path.child('persistentVolumeReclaimPolicy'), `may only be Retain ${inline}`));
  else if (policy && !isInline) validateEnum(errors, policy, ['Delete', 'Recycle', 'Retain'], path, 'persistentVolumeReclaimPolicy');
  if (spec.nodeAffinity && isInline) errors.push(forbidden(path.child('nodeAffinity'), `may not be specified ${inline}`));
  else if (spec.nodeAffinity?.required)
    validateNodeSelector(errors, spec.nodeAffinity.required, allowInvalidLabelValue, path.child('nodeAffinity', 'required'));
  else if (spec.nodeAffinity) errors.push(required(path.child('nodeAffinity', 'required'), 'must specify required node constraints'));
  validateSource(errors, spec, name, isInline, path);
  if (policy === 'Recycle' && spec.hostPath && isRootPath(spec.hostPath.path ?? '')) {
    errors.push(forbidden(path.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'"));
  }
  const { storageClassName, volumeMode, volumeAttributesClassName: attributesClass } = spec;
  if (storageClassName && isInline) errors.push(forbidden(path.child('storageClassName'), `may not be specified ${inline}`));
  else if (storageClassName) check(errors, nameIsDNSSubdomain(storageClassName, false), storageClassName, path, 'storageClassName');
  if (volumeMode !== undefined && isInline && volumeMode !== 'Filesystem') {
    errors.push(forbidden(path.child('volumeMode'), `may not specify volumeMode other than Filesystem ${inline}`));
  } else if (!isInline) {
    validateOptionalEnum(errors, volumeMode, volumeModes, path, 'volumeMode');
  }
  // Upstream validates inline volumes as with the feature off.
  if (attributesClass === undefined || isInline) return;
  if (attributesClass === '') errors.push(required(path.child('volumeAttributesClassName'), 'an empty string is disallowed'));
  else check(errors, nameIsDNSSubdomain(attributesClass, false), attributesClass, path, 'volumeAttributesClassName');
  if (!spec.csi) errors.push(required(path.child('csi'), 'has to be specified when using volumeAttributesClassName'));
}

function validateCapacity(errors: FieldError[], capacity: Readonly<Record<string, string>> | undefined, path: Path): void {
  const names = Object.keys(capacity ?? {});
  if (names.length === 0) errors.push(required(path));
  if (!names.includes('storage') || names.length > 1) errors.push(notSupported(path, capacity ?? null, ['storage']));
  for (const name of names) {
    const quantity = quantityOf(capacity![name]!);
    validateBasicResource(errors, capacity![name]!, () => path.key(name));
    if (quantity.sign <= 0) errors.push(invalid(path.key(name), quantity.toString(), isNotPositive));
  }
}

function validateSource(errors: FieldError[], spec: PersistentVolumeSpec, name: string, isInline: boolean, path: Path): void {
  let count = 0;
  for (const rule of sourceRules) {
    const source = spec[rule.field];
    if (source === undefined) continue;
    if (count > 0 && rule.field !== 'flexVolume') {
      errors.push(forbidden(path.child(rule.forbiddenPath ?? rule.field), moreThanOneVolumeType));
      continue;
    }
    count++;
    rule.validate(errors, source as never, path.child(rule.path ?? rule.field), name);
    if (rule.field === 'local' && (!spec.nodeAffinity || isInline))
      errors.push(required(path.child('nodeAffinity'), 'Local volume requires node affinity'));
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'));
}

/** True if the normalized path is `/`. */
function isRootPath(path: string): boolean {
  return path.startsWith('/') && path.split('/').every((part) => part === '' || part === '.' || part === '..');
}

const withMountOptions: readonly SourceField[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

function validateMountOptions(errors: FieldError[], { metadata, spec = noSpec }: PersistentVolume): void {
  if (metadata.annotations?.[mountOptions] === undefined || withMountOptions.some((field) => spec[field])) return;
  errors.push(forbidden(fieldPath('metadata', 'annotations', mountOptions), 'may not specify mount options for this volume type'));
}

export function validatePersistentVolume(volume: PersistentVolume): FieldError[] {
  const errors: FieldError[] = [];
  validatePersistentVolumeSpec(errors, volume.spec ?? noSpec, volume.metadata.name ?? '', false, specPath);
  validateMountOptions(errors, volume);
  return errors;
}

export function validatePersistentVolumeUpdate(volume: PersistentVolume, old: PersistentVolume, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const spec = volume.spec ?? noSpec;
  const before = old.spec ?? noSpec;
  const name = volume.metadata.name ?? '';
  const required = before.nodeAffinity?.required;
  const options = new UpdateOptions(
    false,
    required ? { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } : {},
    undefined,
    server,
  );
  const allow = () => options.allowInvalidLabelValueInRequiredNodeAffinity;
  // Upstream validates the volume twice: alone, and as part of the update.
  for (const isFirst of [true, false]) {
    validateMetaAgain(errors, volume.metadata, nameIsDNSSubdomain, false);
    validatePersistentVolumeSpec(errors, spec, name, false, specPath, allow);
    if (isFirst) validateMountOptions(errors, volume);
  }
  const source = sourceOf(spec, before);
  const oldSource = sourceOf(before);
  if (!equalAs('core_v1.PersistentVolumeSpec', source, oldSource)) {
    const diff = internalDiff('PersistentVolumeSource', oldSource, source);
    errors.push(forbidden(specPath.child('persistentvolumesource'), `spec.persistentvolumesource is immutable after creation\n${diff}`));
  }
  if (spec.volumeMode !== before.volumeMode) errors.push(invalid(fieldPath('volumeMode'), named(spec.volumeMode), fieldIsImmutable));
  const isMutable = isOptedIn(server, 'MutablePVNodeAffinity');
  if (before.nodeAffinity && !isMutable && !sameButForGaLabels(spec.nodeAffinity, before.nodeAffinity)) {
    const shown = internalValue('*VolumeNodeAffinity', spec.nodeAffinity);
    errors.push(invalid(fieldPath('nodeAffinity'), shown, `${fieldIsImmutable}, except for updating from beta label to GA`));
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    errors.push(forbidden(specPath.child('volumeAttributesClassName'), 'update from non-nil value to nil is forbidden'));
  }
  return errors;
}

/** Returns the source fields, which are immutable, except that an expansion secret may be added to a CSI source that has none. */
function sourceOf(spec: PersistentVolumeSpec, old?: PersistentVolumeSpec): PersistentVolumeSpec {
  const source = Object.fromEntries(
    sourceRules.flatMap(({ field }) => (spec[field] === undefined ? [] : [[field, spec[field]]])),
  ) as PersistentVolumeSpec;
  if (old?.csi && !old.csi.controllerExpandSecretRef && source.csi?.controllerExpandSecretRef) {
    const { controllerExpandSecretRef: _, ...csi } = source.csi;
    source.csi = csi;
  }
  return source;
}

const gaLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** True if the affinity changed only in labels that now have their GA names. */
function sameButForGaLabels(affinity: VolumeNodeAffinity | undefined, old: VolumeNodeAffinity): boolean {
  const terms = affinity?.required?.nodeSelectorTerms ?? [];
  const renamed = (requirements: readonly NodeSelectorRequirement[] | undefined, now: readonly NodeSelectorRequirement[] | undefined) =>
    requirements?.map((requirement, i) => {
      const key = requirement.key ?? '';
      // Upstream reads a table of Go, which has an empty text for a label without a GA name: such a key may change to it.
      const gaKey = Object.hasOwn(gaLabels, key) ? gaLabels[key]! : '';
      return (now?.[i]?.key ?? '') === gaKey ? { ...requirement, key: gaKey } : requirement;
    });
  const expected = old.required && {
    ...old.required,
    nodeSelectorTerms: (old.required.nodeSelectorTerms ?? []).map(({ matchExpressions, matchFields }, i) => ({
      matchExpressions: renamed(matchExpressions, terms[i]?.matchExpressions),
      matchFields: renamed(matchFields, terms[i]?.matchFields),
    })),
  };
  return semanticDeepEqual(affinity, expected ? { required: expected } : old);
}

const deprecatedSources = [
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

/** Warnings about a persistent volume. Upstream: pkg/api/persistentvolume/util.go. */
export function persistentVolumeWarnings({ metadata, spec = noSpec }: PersistentVolume): string[] {
  const warnings: string[] = [];
  for (const [annotation, field] of [
    ['volume.beta.kubernetes.io/storage-class', 'storageClassName'],
    [mountOptions, 'mountOptions'],
  ] as const) {
    if (metadata.annotations?.[annotation] === undefined) continue;
    warnings.push(
      `metadata.annotations[${annotation}]: ${annotation === mountOptions ? 'deprecated since v1.31' : 'deprecated since v1.8'}; use "${field}" attribute instead`,
    );
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  warnNodeSelectorTerms(warnings, spec.nodeAffinity?.required?.nodeSelectorTerms, () =>
    specPath.child('nodeAffinity', 'required', 'nodeSelectorTerms'),
  );
  for (const [field, text] of deprecatedSources)
    if (spec[field]) warnings.push(`spec.${field === 'storageos' ? 'storageOS' : field}: ${text}`);
  return warnings;
}
