/** Validation of pod security policies. Upstream until 1.25: pkg/apis/policy/validation/validation.go. */
import { quote } from '#apimachinery/runtime/quote';
import {
  addError,
  duplicate,
  type FieldError,
  fieldPath,
  forbidden,
  invalid,
  notSupported,
  type Path,
  required,
} from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { check } from '#kubernetes/apis/core/validation/checks';
import { appArmorProfileError, validateSeccompAnnotation } from '#kubernetes/apis/core/validation/pod-annotations';
import { isSysctlSegment, sysctlMaxLength } from '#kubernetes/apis/core/validation/security-context';
import { validateCsiDriverName } from '#kubernetes/apis/core/validation/volume-sources';
import { sysctlOverlaps } from './sysctl-overlaps.ts';
import type { IDRange, PodSecurityPolicy, PodSecurityPolicySpec, RuntimeClassStrategyOptions } from '#kubernetes/schema/policy_v1beta1.gen';

interface Strategy {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
}

const annotationsPath = fieldPath('metadata', 'annotations');
const specPath = fieldPath('spec');
const appArmorDefault = 'apparmor.security.beta.kubernetes.io/defaultProfileName';
const appArmorAllowed = 'apparmor.security.beta.kubernetes.io/allowedProfileNames';
const seccompDefault = 'seccomp.security.alpha.kubernetes.io/defaultProfileName';
const seccompAllowed = 'seccomp.security.alpha.kubernetes.io/allowedProfileNames';
const groupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
const volumeTypes = [
  '*',
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephFS',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];
const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';

export function validatePodSecurityPolicy({ metadata, spec = {} }: PodSecurityPolicy): FieldError[] {
  const errors: FieldError[] = [];
  if (metadata.annotations) validateAnnotations(errors, metadata.annotations);
  validateRule(errors, spec.runAsUser, ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'], specPath.child('runAsUser'));
  if (spec.runAsGroup) validateRunAsGroup(errors, spec.runAsGroup, specPath.child('runAsGroup'));
  validateRule(errors, spec.seLinux, ['MustRunAs', 'RunAsAny'], specPath.child('seLinux'));
  validateRule(errors, spec.supplementalGroups, groupRules, specPath.child('supplementalGroups'));
  validateRule(errors, spec.fsGroup, groupRules, specPath.child('fsGroup'));
  for (const volume of spec.volumes ?? [])
    if (!volumeTypes.includes(volume)) errors.push(notSupported(specPath.child('volumes'), volume, volumeTypes));
  validateCapabilities(errors, spec);
  if (spec.defaultAllowPrivilegeEscalation && !spec.allowPrivilegeEscalation) {
    const needsBoth = 'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
    errors.push(invalid(specPath.child('defaultAllowPrivilegeEscalation'), true, needsBoth));
  }
  for (const [i, type] of (spec.allowedProcMountTypes ?? []).entries()) {
    if (type !== 'Default' && type !== 'Unmasked')
      errors.push(notSupported(specPath.child('allowedProcMountTypes').index(i), type, ['Default', 'Unmasked']));
  }
  validateAllowedHostPaths(errors, spec, specPath.child('allowedHostPaths'));
  // As upstream, the path does not name the field `driver`.
  for (const [i, { driver }] of (spec.allowedFlexVolumes ?? []).entries()) {
    const at = specPath.child('allowedFlexVolumes', 'allowedFlexVolumes').index(i).child('driver');
    if (!driver) errors.push(required(at, 'must specify a driver'));
  }
  for (const [i, { name }] of (spec.allowedCSIDrivers ?? []).entries())
    validateCsiDriverName(errors, name, specPath.child('allowedCSIDrivers', 'allowedCSIDriver').index(i).child('name'));
  validateSysctls(errors, spec.allowedUnsafeSysctls ?? [], specPath.child('allowedUnsafeSysctls'));
  validateSysctls(errors, spec.forbiddenSysctls ?? [], specPath.child('forbiddenSysctls'));
  validateSysctlsDoNotOverlap(errors, spec);
  if (spec.runtimeClass) validateRuntimeClassStrategy(errors, spec.runtimeClass, specPath.child('runtimeClass'));
  return errors;
}

function validateAnnotations(errors: FieldError[], annotations: Readonly<Record<string, string>>): void {
  const appArmor = (key: string, profiles: readonly string[]): void => {
    for (const profile of profiles) {
      const wrong = appArmorProfileError(profile);
      if (wrong !== undefined) errors.push(invalid(annotationsPath.key(key), annotations[key], wrong));
    }
  };
  if (annotations[appArmorDefault]) appArmor(appArmorDefault, [annotations[appArmorDefault]]);
  if (annotations[appArmorAllowed]) appArmor(appArmorAllowed, annotations[appArmorAllowed].split(','));
  if (annotations[seccompDefault]) validateSeccompAnnotation(errors, annotations[seccompDefault], annotationsPath.key(seccompDefault));
  for (const profile of annotations[seccompAllowed] ? annotations[seccompAllowed].split(',') : [])
    if (profile !== '*') validateSeccompAnnotation(errors, profile, annotationsPath.key(seccompAllowed));
}

function validateRule(errors: FieldError[], { rule = '', ranges = [] }: Strategy = {}, supported: readonly string[], path: Path): void {
  if (!supported.includes(rule)) errors.push(notSupported(path.child('rule'), rule, supported));
  validateRanges(errors, ranges, path);
}

function validateRunAsGroup(errors: FieldError[], { rule = '', ranges = [] }: Strategy, path: Path): void {
  if (rule === 'RunAsAny') {
    if (ranges.length > 0) errors.push(invalid(path.child('ranges'), ranges, 'Ranges must be empty'));
  } else if (!groupRules.includes(rule)) {
    errors.push(notSupported(path.child('rule'), rule, ['MustRunAs', 'RunAsAny', 'MayRunAs']));
  } else {
    if (ranges.length === 0) errors.push(invalid(path.child('ranges'), ranges, 'must provide at least one range'));
    validateRanges(errors, ranges, path);
  }
}

function validateRanges(errors: FieldError[], ranges: readonly IDRange[], path: Path): void {
  for (const [i, { min = 0, max = 0 }] of ranges.entries()) {
    const at = path.child('ranges').index(i);
    if (min < 0) errors.push(invalid(at.child('min'), min, 'min cannot be negative'));
    if (max < 0) errors.push(invalid(at.child('max'), max, 'max cannot be negative'));
    if (min > max) errors.push(invalid(at.child('min'), min, 'min cannot be greater than max'));
  }
}

function validateCapabilities(errors: FieldError[], spec: PodSecurityPolicySpec): void {
  const { requiredDropCapabilities: drops = [], allowedCapabilities: allowed = [], defaultAddCapabilities: added = [] } = spec;
  if (drops.length > 0 && allowed.includes('*'))
    errors.push(invalid(fieldPath('requiredDropCapabilities'), drops, 'must be empty when all capabilities are allowed by a wildcard'));
  for (const [field, capabilities] of Object.entries({ defaultAddCapabilities: added, allowedCapabilities: allowed })) {
    for (const capability of capabilities) {
      if (drops.includes(capability))
        errors.push(invalid(fieldPath(field), capability, `capability is listed in ${field} and requiredDropCapabilities`));
    }
  }
}

function validateAllowedHostPaths(errors: FieldError[], { allowedHostPaths = [] }: PodSecurityPolicySpec, path: Path): void {
  for (const [i, { pathPrefix }] of allowedHostPaths.entries()) {
    if (!pathPrefix) {
      errors.push(required(path.index(i), 'is required'));
      return;
    }
    if (pathPrefix.split('/').includes('..')) errors.push(invalid(path.index(i), pathPrefix, "must not contain '..'"));
  }
}

function validateSysctls(errors: FieldError[], sysctls: readonly string[], path: Path): void {
  for (const [i, sysctl] of sysctls.entries()) {
    if (sysctl === '') errors.push(invalid(path.index(i), sysctl, 'empty sysctl not allowed'));
    else if (!isValidSysctlPattern(sysctl))
      errors.push(invalid(path.index(i), sysctl, `must have at most ${sysctlMaxLength} characters and match regex ${sysctlPattern}`));
  }
  if (sysctls.length > 1 && sysctls.includes('*'))
    errors.push(forbidden(path.child('items'), "if '*' is present, must not specify other sysctls"));
}

/** True for a sysctl name, the last segment of which may end with `*`. */
function isValidSysctlPattern(pattern: string): boolean {
  const segments = pattern.split('.');
  const last = segments.pop() ?? '';
  const isLastValid = last === '*' || isSysctlSegment(last) || /^[a-z0-9][-_a-z0-9]*\*$/.test(last);
  return pattern.length <= sysctlMaxLength && isLastValid && segments.every(isSysctlSegment);
}

/** Reports each pair of patterns of which one contains the other, at the narrower one. */
function validateSysctlsDoNotOverlap(
  errors: FieldError[],
  { allowedUnsafeSysctls = [], forbiddenSysctls = [] }: PodSecurityPolicySpec,
): void {
  for (const { allowed, denied, narrower } of sysctlOverlaps(allowedUnsafeSysctls, forbiddenSysctls)) {
    const [one, other] = [allowedUnsafeSysctls[allowed]!, forbiddenSysctls[denied]!];
    addError(
      errors,
      narrower === 'allowed'
        ? invalid(specPath.child('allowedUnsafeSysctls').index(allowed), one, `sysctl overlaps with ${other}`)
        : invalid(specPath.child('forbiddenSysctls').index(denied), other, `sysctl overlaps with ${one}`),
    );
  }
}

function validateRuntimeClassStrategy(errors: FieldError[], strategy: RuntimeClassStrategyOptions, path: Path): void {
  const { allowedRuntimeClassNames: names = [], defaultRuntimeClassName: preset } = strategy;
  const allowed = new Set<string>();
  const at = path.child('allowedRuntimeClassNames');
  for (const [i, name] of names.entries()) {
    if (name !== '*') check(errors, nameIsDNSSubdomain(name, false), name, at.index(i));
    if (allowed.has(name)) errors.push(duplicate(at.index(i), name));
    allowed.add(name);
  }
  if (preset !== undefined) {
    check(errors, nameIsDNSSubdomain(preset, false), preset, path, 'defaultRuntimeClassName');
    if (!allowed.has(preset) && !allowed.has('*')) errors.push(required(at, `default ${quote(preset)} must be allowed`));
  }
  if (allowed.has('*') && names.length > 1) errors.push(invalid(at, names, "if '*' is present, must not specify other RuntimeClass names"));
}
