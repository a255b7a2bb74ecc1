/** Validation of pod volumes. Upstream: pkg/apis/core/validation, ValidateVolumes. */
import { quote } from '#apimachinery/runtime/quote';
import {
  addErrors,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupportedText,
  type Path,
  required,
} from '#apimachinery/validation/field';
import { checkEach } from '#apimachinery/validation/pausing';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateLabelSelector } from '#apimachinery/validation/object-meta';
import type { ObjectMeta } from '#apimachinery/meta/types';
import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  Volume,
  VolumeProjection,
} from '#kubernetes/schema/core_v1.gen';
import { quantityOf, validateDNS1123Label, validateRequired } from './checks.ts';
import { validateContainerResourceFieldSelector, validateObjectFieldSelector } from './env.ts';
import { internalValue, labelSelectorValue } from './internal.ts';
import { validateLocalDescendingPath, validateLocalNonReservedPath, validateMode } from './paths.ts';
import { validatePersistentVolumeClaimTemplate } from './persistent-volume-claim.ts';
import type { PodOptions } from './pod-options.ts';
import { clusterTrustBundleNameErrors, isKubernetesSignerName, validateSignerName } from './signer-names.ts';
import { validatePullPolicy } from './pull-policy.ts';
import * as sources from './volume-sources.ts';
import { validateUserAnnotations } from './user-annotations.ts';

/** The valid volumes of a pod by name, to which mounts may refer. */
export type ValidVolumes = ReadonlyMap<string, Volume>;

/** Validates the volumes of a pod; `meta` is undefined for templates. */
export function validateVolumes(
  errors: FieldError[],
  volumes: readonly Volume[],
  meta: ObjectMeta | undefined,
  path: Path,
  options: PodOptions,
): ValidVolumes {
  const createdClaims = new Set<string>();
  if (meta?.name) for (const { name, ephemeral } of volumes) if (ephemeral) createdClaims.add(`${meta.name}-${name ?? ''}`);
  const newNames = () => new Map<string, Volume>();
  const checked = checkEach(volumes, path, volumes, newNames, (found, volume, i, valid) => {
    const { name = '' } = volume;
    const at = path.index(i);
    const before = found.length;
    validateVolumeSource(found, volume, at, meta, options);
    if (name === '') found.push(required(at.child('name')));
    else validateDNS1123Label(found, name, at, 'name');
    if (valid.has(name)) found.push(duplicate(at.child('name'), name));
    const claimName = volume.persistentVolumeClaim?.claimName;
    const isValid = found.length === before;
    if (claimName && createdClaims.has(claimName)) {
      found.push(
        invalid(
          at.child('persistentVolumeClaim', 'claimName'),
          claimName,
          'must not reference a PVC that gets created for an ephemeral volume',
        ),
      );
    }
    if (isValid) valid.set(name, volume);
  });
  addErrors(errors, checked.errors);
  return checked.state;
}

interface SourceContext {
  readonly volume: Volume;
  readonly meta: ObjectMeta | undefined;
  readonly options: PodOptions;
  /** Path of the volume. */
  readonly path: Path;
}

interface SourceRule {
  readonly field: keyof Volume;
  /** The field's name in messages, if it differs. */
  readonly path?: string;
  /** The name in the message about a second source. */
  readonly forbiddenPath?: string;
  validate(errors: FieldError[], source: never, path: Path, context: SourceContext): void;
}

/** Rules of all sources except emptyDir, in upstream's order. */
const sourceRules: readonly SourceRule[] = [
  { field: 'hostPath', validate: sources.validateHostPath },
  { field: 'gitRepo', validate: validateGitRepo },
  { field: 'gcePersistentDisk', path: 'persistentDisk', validate: sources.validateGcePersistentDisk },
  { field: 'awsElasticBlockStore', validate: sources.validateAwsElasticBlockStore },
  { field: 'secret', validate: validateSecret },
  { field: 'nfs', validate: sources.validateNfs },
  { field: 'iscsi', validate: sources.validateIscsi },
  { field: 'glusterfs', validate: sources.validateGlusterfs },
  { field: 'flocker', validate: sources.validateFlocker },
  {
    field: 'persistentVolumeClaim',
    validate: (errors, { claimName }: NonNullable<Volume['persistentVolumeClaim']>, path) =>
      void validateRequired(errors, claimName, path, 'claimName'),
  },
  { field: 'rbd', validate: sources.validateRbd },
  {
    field: 'cinder',
    validate: (errors, cinder: NonNullable<Volume['cinder']>, path) => sources.validateCinder(errors, cinder, false, path),
  },
  { field: 'cephfs', forbiddenPath: 'cephFS', validate: sources.validateCephFs },
  { field: 'quobyte', validate: sources.validateQuobyte },
  { field: 'downwardAPI', forbiddenPath: 'downwarAPI', validate: validateDownwardApi },
  { field: 'fc', validate: sources.validateFc },
  { field: 'flexVolume', validate: sources.validateFlexVolume },
  { field: 'configMap', validate: validateConfigMap },
  { field: 'azureFile', validate: sources.validateAzureFile },
  { field: 'vsphereVolume', validate: sources.validateVsphereVolume },
  { field: 'photonPersistentDisk', validate: sources.validatePhotonPersistentDisk },
  { field: 'portworxVolume', validate: sources.validatePortworxVolume },
  { field: 'azureDisk', validate: sources.validateAzureDisk },
  {
    field: 'storageos',
    validate: (errors, storageos: NonNullable<Volume['storageos']>, path) => sources.validateStorageOS(errors, storageos, false, path),
  },
  { field: 'projected', validate: validateProjected },
  { field: 'scaleIO', validate: sources.validateScaleIO },
  { field: 'csi', validate: sources.validateCsi },
  { field: 'ephemeral', validate: validateEphemeral },
  { field: 'image', validate: validateImage },
];

const ruleOf: ReadonlyMap<string, SourceRule> = new Map(sourceRules.map((rule) => [rule.field, rule]));

/** Returns the rule of a volume that has a name and one source, the common case; undefined if all sources have to be checked in order. */
function onlySource(volume: Volume): SourceRule | undefined {
  let found: SourceRule | undefined;
  for (const field in volume) {
    if (field === 'name') continue;
    if (found !== undefined) return undefined;
    found = ruleOf.get(field);
    if (found === undefined) return undefined;
  }
  return found;
}

export const moreThanOneVolumeType = 'may not specify more than 1 volume type';

function validateVolumeSource(errors: FieldError[], volume: Volume, path: Path, meta: ObjectMeta | undefined, options: PodOptions): void {
  let count = 0;
  const { emptyDir } = volume;
  if (emptyDir) {
    count++;
    if (emptyDir.sizeLimit !== undefined && quantityOf(emptyDir.sizeLimit).sign < 0) {
      errors.push(forbidden(path.child('emptyDir', 'sizeLimit'), 'SizeLimit field must be a valid resource quantity'));
    }
  }
  const present = onlySource(volume);
  for (const rule of present === undefined ? sourceRules : [present]) {
    const source = volume[rule.field];
    if (source === undefined) continue;
    if (count > 0) {
      errors.push(forbidden(path.child(rule.forbiddenPath ?? rule.field), moreThanOneVolumeType));
    } else {
      count++;
      rule.validate(errors, source as never, path.child(rule.path ?? rule.field), { volume, meta, options, path });
    }
    if (rule.field === 'iscsi') sources.validateIscsiVolumeName(errors, volume.iscsi!, volume.name ?? '', path);
  }
  if (count === 0) errors.push(required(path, 'must specify a volume type'));
}

function validateGitRepo(errors: FieldError[], { repository, directory = '' }: NonNullable<Volume['gitRepo']>, path: Path): void {
  validateRequired(errors, repository, path, 'repository');
  validateLocalDescendingPath(errors, directory, path, 'directory');
}

function validateSecret(errors: FieldError[], { secretName, defaultMode, items }: NonNullable<Volume['secret']>, path: Path): void {
  validateRequired(errors, secretName, path, 'secretName');
  validateMode(errors, defaultMode, path, 'defaultMode');
  validateItems(errors, items, path);
}

function validateConfigMap(errors: FieldError[], { name, defaultMode, items }: NonNullable<Volume['configMap']>, path: Path): void {
  validateRequired(errors, name, path, 'name');
  validateMode(errors, defaultMode, path, 'defaultMode');
  validateItems(errors, items, path);
}

function validateItems(errors: FieldError[], items: readonly KeyToPath[] | undefined, path: Path): void {
  if (!items) return;
  const at = path.child('items');
  for (let i = 0; i < items.length; i++) validateKeyToPath(errors, items[i]!, at.index(i));
}

function validateKeyToPath(errors: FieldError[], item: KeyToPath, path: Path): void {
  validateRequired(errors, item.key, path, 'key');
  validateRequired(errors, item.path, path, 'path');
  validateLocalNonReservedPath(errors, item.path ?? '', path, 'path');
  validateMode(errors, item.mode, path, 'mode');
}

function validateDownwardApi(errors: FieldError[], { defaultMode, items }: NonNullable<Volume['downwardAPI']>, path: Path): void {
  validateMode(errors, defaultMode, path, 'defaultMode');
  for (const file of items ?? []) validateDownwardFile(errors, file, path);
}

const fileFields: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]);

/** Validates a file. As upstream, `path` is that of the volume, without the index of the file. */
function validateDownwardFile(errors: FieldError[], file: DownwardAPIVolumeFile, path: Path): void {
  validateRequired(errors, file.path, path, 'path');
  validateLocalNonReservedPath(errors, file.path ?? '', path, 'path');
  if (file.fieldRef) {
    validateObjectFieldSelector(errors, file.fieldRef, fileFields, path.child('fieldRef'));
    if (file.resourceFieldRef) errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (file.resourceFieldRef) {
    validateContainerResourceFieldSelector(errors, file.resourceFieldRef, path.child('resourceFieldRef'), true);
  } else {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  validateMode(errors, file.mode, path, 'mode');
}

/** Collects the paths of all files of a projected volume. */
class ProjectedPaths {
  readonly #paths = new Set<string>();

  constructor(readonly volumePath: Path) {}

  /** Adds a path. Messages name `owner` instead if the whole source is at fault. */
  add(errors: FieldError[], path: string, owner = path): void {
    if (this.#paths.has(path)) errors.push(invalid(this.volumePath, owner, 'conflicting duplicate paths'));
    else this.#paths.add(path);
  }
}

function validateProjected(errors: FieldError[], projected: ProjectedVolumeSource, path: Path, { options }: SourceContext): void {
  validateMode(errors, projected.defaultMode, path, 'defaultMode');
  const { sources: projections } = projected;
  if (!projections) return;
  const at = path.child('sources');
  const newPaths = (): ProjectedPaths => new ProjectedPaths(path);
  const checked = checkEach(projections, at, projections, newPaths, (found, projection, i, paths) =>
    validateProjection(found, projection, at.index(i), path, paths, options),
  );
  addErrors(errors, checked.errors);
}

const maxTokenSeconds = 2 ** 32;

function validateProjection(
  errors: FieldError[],
  projection: VolumeProjection,
  path: Path,
  volumePath: Path,
  paths: ProjectedPaths,
  options: PodOptions,
): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  let count = 0;
  for (const [field, source] of [
    ['secret', secret],
    ['configMap', configMap],
  ] as const) {
    if (!source) continue;
    count++;
    const at = path.child(field);
    validateRequired(errors, source.name, at, 'name');
    for (const [i, item] of (source.items ?? []).entries()) {
      validateKeyToPath(errors, item, at.child('items').index(i));
      if (item.path) paths.add(errors, item.path, source.name ?? '');
    }
  }
  if (downwardAPI) {
    count++;
    const at = path.child('downwardAPI');
    for (const file of downwardAPI.items ?? []) {
      validateDownwardFile(errors, file, at);
      if (file.path) paths.add(errors, file.path);
    }
  }
  if (serviceAccountToken) {
    count++;
    const { expirationSeconds = 0 } = serviceAccountToken;
    const at = path.child('serviceAccountToken');
    if (expirationSeconds < 600)
      errors.push(invalid(at.child('expirationSeconds'), expirationSeconds, 'may not specify a duration less than 10 minutes'));
    if (expirationSeconds > maxTokenSeconds)
      errors.push(invalid(at.child('expirationSeconds'), expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
    if (!serviceAccountToken.path) errors.push(required(volumePath.child('path')));
    else if (!options.allowNonLocalProjectedTokenPath) validateLocalNonReservedPath(errors, serviceAccountToken.path, volumePath, 'path');
  }
  if (clusterTrustBundle) {
    count++;
    validateClusterTrustBundle(errors, clusterTrustBundle, path.child('clusterTrustBundle'));
    paths.add(errors, clusterTrustBundle.path ?? '');
  }
  if (podCertificate) {
    count++;
    validatePodCertificate(errors, podCertificate, path.child('podCertificate'), paths);
  }
  if (count > 1) errors.push(forbidden(path, 'may not specify more than 1 volume type per source'));
}

function validateClusterTrustBundle(errors: FieldError[], bundle: ClusterTrustBundleProjection, path: Path): void {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined) {
    errors.push(invalid(path, internalValue('ClusterTrustBundleProjection', bundle), 'only one of name and signerName may be used'));
  } else if (name !== undefined) {
    if (name === '') errors.push(required(path.child('name'), 'must be a valid object name'));
    for (const message of clusterTrustBundleNameErrors(name))
      errors.push(invalid(path.child('name'), name, `not a valid clustertrustbundlename: ${message}`));
    if (labelSelector)
      errors.push(
        invalid(path.child('labelSelector'), labelSelectorValue(labelSelector), 'labelSelector must be unset if name is specified'),
      );
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(path.child('signerName'), 'must be a valid signer name'));
    validateSignerName(errors, signerName, path.child('signerName'));
    addErrors(errors, validateLabelSelector(labelSelector as Parameters<typeof validateLabelSelector>[0], {}, path.child('labelSelector')));
  } else {
    errors.push(required(path, 'either name or signerName must be specified'));
  }
  validateRequired(errors, bundle.path, path, 'path');
  validateLocalNonReservedPath(errors, bundle.path ?? '', path, 'path');
}

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const minCertificateSeconds = 3600;
/** Maximum lifetime: 91 days, and one day for signers of Kubernetes. */
const maxCertificateSeconds = { other: 91 * 86_400, kubernetes: 86_400 };

function validatePodCertificate(errors: FieldError[], certificate: PodCertificateProjection, path: Path, paths: ProjectedPaths): void {
  const { signerName, userAnnotations, keyType = '', maxExpirationSeconds } = certificate;
  validateSignerName(errors, signerName, path.child('signerName'));
  if (userAnnotations) validateUserAnnotations(errors, userAnnotations, path.child('userAnnotations'));
  if (!keyTypes.includes(keyType)) errors.push(notSupportedText(path.child('keyType'), keyType, keyTypes));
  if (maxExpirationSeconds !== undefined) {
    const at = path.child('maxExpirationSeconds');
    const most = maxCertificateSeconds[isKubernetesSignerName(signerName ?? '') ? 'kubernetes' : 'other'];
    if (maxExpirationSeconds < minCertificateSeconds)
      errors.push(invalid(at, maxExpirationSeconds, `if provided, maxExpirationSeconds must be >= ${minCertificateSeconds}`));
    if (maxExpirationSeconds > most) errors.push(invalid(at, maxExpirationSeconds, `if provided, maxExpirationSeconds must be <= ${most}`));
  }
  let count = 0;
  for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    const file = certificate[field];
    if (!file) continue;
    count++;
    validateLocalNonReservedPath(errors, file, path, field);
    paths.add(errors, file);
  }
  if (count === 0) errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'));
}

function validateEphemeral(
  errors: FieldError[],
  { volumeClaimTemplate }: NonNullable<Volume['ephemeral']>,
  path: Path,
  context: SourceContext,
): void {
  if (!volumeClaimTemplate) errors.push(required(path.child('volumeClaimTemplate')));
  else validatePersistentVolumeClaimTemplate(errors, volumeClaimTemplate, path.child('volumeClaimTemplate'));
  const podName = context.meta?.name;
  const { name } = context.volume;
  if (!podName || !name) return;
  const claimName = `${podName}-${name}`;
  for (const message of nameIsDNSSubdomain(claimName, false))
    errors.push(invalid(context.path.child('name'), name, `PVC name ${quote(claimName)}: ${message}`));
}

function validateImage(
  errors: FieldError[],
  { reference, pullPolicy }: NonNullable<Volume['image']>,
  path: Path,
  { options }: SourceContext,
): void {
  if (options.resourceIsPod) validateRequired(errors, reference, path, 'reference');
  validatePullPolicy(errors, pullPolicy, path, 'pullPolicy');
}
