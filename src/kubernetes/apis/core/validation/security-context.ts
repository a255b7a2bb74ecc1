/** Validation of security contexts of pods and containers. Upstream: pkg/apis/core/validation. */
import { addErrorsOfEach } from '#apimachinery/validation/pausing';
import { type FieldError, type Path, duplicate, forbidden, invalid, notSupported, required, tooLong } from '#apimachinery/validation/field';
import { isDNS1123Subdomain, isValidGroupID, isValidUserID } from '#apimachinery/validation/names';
import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '#kubernetes/schema/core_v1.gen';
import { byteLength, check, validateEnum, validateOptionalEnum } from './checks.ts';
import { internalValue } from './internal.ts';
import { validateLocalDescendingPath } from './paths.ts';
import { hostSysctlError } from './host-sysctls.ts';
import type { PodOptions } from './pod-options.ts';

/** Validates a container's security context. `hostUsers` is true if the pod has no user namespace of its own. */
export function validateSecurityContext(
  errors: FieldError[],
  context: SecurityContext | undefined,
  path: Path,
  { hostUsers, options }: { readonly hostUsers: boolean; readonly options: PodOptions },
): void {
  if (!context) return;
  const { runAsUser, runAsGroup, procMount, privileged } = context;
  if (privileged && !options.allowPrivileged) errors.push(forbidden(path.child('privileged'), 'disallowed by cluster policy'));
  if (runAsUser !== undefined) check(errors, isValidUserID(runAsUser), runAsUser, path, 'runAsUser');
  if (runAsGroup !== undefined) check(errors, isValidGroupID(runAsGroup), runAsGroup, path, 'runAsGroup');
  if (procMount !== undefined) {
    validateEnum(errors, procMount, ['Default', 'Unmasked'], path, 'procMount');
    if (hostUsers && procMount === 'Unmasked')
      errors.push(invalid(path.child('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`'));
  }
  validateSeccompProfile(errors, context.seccompProfile, path);
  if (context.allowPrivilegeEscalation === false) {
    if (privileged) {
      errors.push(
        invalid(path, internalValue('SecurityContext', context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
      );
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue;
      errors.push(
        invalid(
          path,
          internalValue('SecurityContext', context),
          'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
        ),
      );
    }
  }
  validateWindowsOptions(errors, context.windowsOptions, path);
  validateAppArmorProfile(errors, context.appArmorProfile, path);
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateSeccompProfile(errors: FieldError[], profile: SeccompProfile | undefined, parent: Path): void {
  if (!profile) return;
  const { type = '', localhostProfile } = profile;
  if (type === 'RuntimeDefault' && localhostProfile === undefined) return;
  const path = parent.child('seccompProfile');
  if (type === '') errors.push(required(path.child('type'), 'type is required when seccompProfile is set'));
  else validateEnum(errors, type, profileTypes, path, 'type');
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) {
      errors.push(
        invalid(path.child('localhostProfile'), internalValue('SeccompProfile', profile), 'can only be set when seccomp type is Localhost'),
      );
    }
  } else if (localhostProfile === undefined) {
    errors.push(required(path.child('localhostProfile'), 'must be set when seccomp type is Localhost'));
  } else {
    validateLocalDescendingPath(errors, localhostProfile, path, 'localhostProfile');
  }
}

const maxLocalhostProfile = 4095;

export function validateAppArmorProfile(errors: FieldError[], profile: AppArmorProfile | undefined, parent: Path): void {
  if (!profile) return;
  const path = parent.child('appArmorProfile');
  const { type = '', localhostProfile } = profile;
  const missing = (): void => {
    errors.push(required(path.child('localhostProfile'), 'must be set when AppArmor type is Localhost'));
  };
  if (type === 'Localhost') {
    if (localhostProfile === undefined) return missing();
    const trimmed = localhostProfile.trim();
    if (trimmed !== localhostProfile)
      errors.push(invalid(path.child('localhostProfile'), localhostProfile, 'must not be padded with whitespace'));
    else if (trimmed === '') missing();
    if (byteLength(localhostProfile) > maxLocalhostProfile) errors.push(tooLong(path.child('localhostProfile'), '', maxLocalhostProfile));
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (localhostProfile !== undefined)
      errors.push(invalid(path.child('localhostProfile'), localhostProfile, 'can only be set when AppArmor type is Localhost'));
  } else if (type === '') {
    errors.push(required(path.child('type'), 'type is required when appArmorProfile is set'));
  } else {
    errors.push(notSupported(path.child('type'), type, profileTypes));
  }
}

const maxCredentialSpec = 64 * 1024;
const controlCharacters = /\p{Cc}/u;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const domainLabel = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

function validateWindowsOptions(errors: FieldError[], options: WindowsSecurityContextOptions | undefined, parent: Path): void {
  if (!options) return;
  const path = parent.child('windowsOptions');
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined)
    check(errors, isDNS1123Subdomain(gmsaCredentialSpecName), gmsaCredentialSpecName, path, 'gmsaCredentialSpecName');
  if (gmsaCredentialSpec === '') errors.push(invalid(path.child('gmsaCredentialSpec'), '', 'gmsaCredentialSpec cannot be an empty string'));
  else if (gmsaCredentialSpec !== undefined && byteLength(gmsaCredentialSpec) > maxCredentialSpec) {
    errors.push(invalid(path.child('gmsaCredentialSpec'), gmsaCredentialSpec, 'gmsaCredentialSpec size must be under 64 KiB'));
  }
  if (runAsUserName !== undefined) check(errors, userNameErrors(runAsUserName), runAsUserName, path, 'runAsUserName');
}

/** Validates `DOMAIN\user` or `user`. */
function userNameErrors(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (controlCharacters.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const user = parts.at(-1)!;
  const wrong: string[] = [];
  if (domain !== undefined) {
    if (byteLength(domain) >= 256) wrong.push("runAsUserName's Domain length must be under 256 characters");
    if (!netBiosName.test(domain) && !domain.split('.').every((label) => domainLabel.test(label))) {
      wrong.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user === '') wrong.push("runAsUserName's User cannot be empty");
  else if (byteLength(user) > 104) wrong.push("runAsUserName's User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) wrong.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) wrong.push(`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return wrong;
}

const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlSegment = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
export const sysctlMaxLength = 253;

export function isSysctlSegment(text: string): boolean {
  return sysctlSegment.test(text);
}

function isValidSysctlName(name: string): boolean {
  return name.length <= sysctlMaxLength && name.split(/[./]/).every(isSysctlSegment);
}

function validateSysctls(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  const names = new Set<string>();
  for (const [i, { name = '' }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const at = path.index(i).child('name');
    if (name === '') errors.push(required(at));
    else if (!isValidSysctlName(name))
      errors.push(invalid(at, name, `must have at most ${sysctlMaxLength} characters and match regex ^${sysctlPattern}$`));
    else if (names.has(name)) errors.push(duplicate(at, name));
    const wrong = hostSysctlError(name, spec);
    if (wrong !== undefined && !options.allowNamespacedSysctls) errors.push(invalid(at, name, wrong));
    names.add(name);
  }
}

export function validatePodSecurityContext(errors: FieldError[], spec: PodSpec, path: Path, options: PodOptions): void {
  const { securityContext: context, shareProcessNamespace, hostPID } = spec;
  const at = path.child('securityContext');
  const { fsGroup, runAsUser, runAsGroup, supplementalGroups = [], sysctls } = context ?? {};
  if (fsGroup !== undefined) check(errors, isValidGroupID(fsGroup), fsGroup, at, 'fsGroup');
  if (runAsUser !== undefined) check(errors, isValidUserID(runAsUser), runAsUser, at, 'runAsUser');
  if (runAsGroup !== undefined) check(errors, isValidGroupID(runAsGroup), runAsGroup, at, 'runAsGroup');
  addErrorsOfEach(errors, supplementalGroups, at.child('supplementalGroups'), (found, group, place) =>
    check(found, isValidGroupID(group), group, place),
  );
  if (shareProcessNamespace && hostPID)
    errors.push(invalid(at.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled'));
  if (!context) return;
  if (sysctls) validateSysctls(errors, spec, at.child('sysctls'), options);
  validateOptionalEnum(errors, context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], at, 'fsGroupChangePolicy');
  validateSeccompProfile(errors, context.seccompProfile, at);
  validateWindowsOptions(errors, context.windowsOptions, at);
  validateAppArmorProfile(errors, context.appArmorProfile, at);
  validateOptionalEnum(errors, context.supplementalGroupsPolicy, ['Merge', 'Strict'], at, 'supplementalGroupsPolicy');
  const policies = options.allowOnlyRecursiveSELinuxChangePolicy ? ['Recursive'] : ['MountOption', 'Recursive'];
  validateOptionalEnum(errors, context.seLinuxChangePolicy, policies, at, 'seLinuxChangePolicy');
}

const podFieldsNotOnWindows = [
  'appArmorProfile',
  'seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'shareProcessNamespace',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const;
const ofThePod: ReadonlySet<string> = new Set(['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace']);
const containerFieldsNotOnWindows = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** Rejects fields that Windows pods do not support. */
export function validateWindowsPod(errors: FieldError[], spec: PodSpec, path: Path): void {
  for (const field of podFieldsNotOnWindows) {
    const isSet = ofThePod.has(field)
      ? isOnOrPointer(spec, field as keyof PodSpec)
      : spec.securityContext?.[field as keyof PodSecurityContext] !== undefined;
    if (isSet)
      errors.push(
        forbidden(ofThePod.has(field) ? path.child(field) : path.child('securityContext', field), 'cannot be set for a windows pod'),
      );
  }
}

/** True if the field is set; hostPID and hostIPC are plain booleans upstream, where false is unset. */
function isOnOrPointer(spec: PodSpec, field: keyof PodSpec): boolean {
  return field === 'hostPID' || field === 'hostIPC' ? spec[field] === true : spec[field] !== undefined;
}

export function validateWindowsContainer(errors: FieldError[], context: SecurityContext | undefined, path: Path): void {
  if (!context) return;
  for (const field of containerFieldsNotOnWindows) {
    if (context[field] !== undefined) errors.push(forbidden(path.child('securityContext', field), 'cannot be set for a windows pod'));
  }
}
