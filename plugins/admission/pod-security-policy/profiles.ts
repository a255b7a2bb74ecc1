import { type FieldError, fieldPath, fieldForbidden, quote } from 'kubenest/sdk';
import type { Container, Pod } from '../../common/pod-walker.ts';
import type { Policy, SeccompProfile } from './policy.ts';

/** Annotations of policies and pods that preceded the profile fields. */
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
const appArmorDefault = 'apparmor.security.beta.kubernetes.io/defaultProfileName';
const appArmorAllowed = 'apparmor.security.beta.kubernetes.io/allowedProfileNames';
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const seccompDefault = 'seccomp.security.alpha.kubernetes.io/defaultProfileName';
const seccompAllowed = 'seccomp.security.alpha.kubernetes.io/allowedProfileNames';
const annotationsPath = fieldPath('pod', 'metadata', 'annotations');

/** Returns the annotation form of a field's profile, `localhost/x`; empty if there is none. */
function nameOf(profile: SeccompProfile | undefined): string {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return profile.localhostProfile === undefined ? '' : `localhost/${profile.localhostProfile}`;
    default:
      return '';
  }
}

function profileOf(name: string): SeccompProfile {
  if (name === 'unconfined') return { type: 'Unconfined' };
  if (name.startsWith('localhost/')) return { type: 'Localhost', localhostProfile: name.slice('localhost/'.length) };
  return { type: 'RuntimeDefault' };
}

/**
 * Sets the policy's seccomp profile in a pod without one, by annotation and by the field, which alone is effective since
 * 1.27.
 */
export function defaultSeccomp(pod: Pod, { metadata }: Policy): void {
  const { annotations = {} } = pod.metadata;
  const { seccompProfile } = pod.spec.securityContext ?? {};
  const name = annotations[seccompPod] || (seccompProfile ? nameOf(seccompProfile) : (metadata.annotations?.[seccompDefault] ?? ''));
  if (name === '') return;
  (pod.metadata.annotations ??= {})[seccompPod] = name;
  if (!seccompProfile) (pod.spec.securityContext ??= {}).seccompProfile = profileOf(name);
}

export function defaultAppArmor(pod: Pod, container: Container, { metadata }: Policy): void {
  const profile = metadata.annotations?.[appArmorDefault];
  if (profile && appArmorOf(pod, container) === '') (pod.metadata.annotations ??= {})[appArmorPrefix + container.name] = profile;
}

function appArmorOf(pod: Pod, { name, securityContext }: Container): string {
  const annotation = pod.metadata.annotations?.[appArmorPrefix + name];
  return annotation || nameOf(securityContext?.appArmorProfile ?? pod.spec.securityContext?.appArmorProfile);
}

export function validateAppArmor(pod: Pod, container: Container, { metadata }: Policy): FieldError[] {
  const allowed = metadata.annotations?.[appArmorAllowed];
  if (allowed === undefined) return [];
  const path = annotationsPath.key(appArmorPrefix + container.name);
  const profile = appArmorOf(pod, container);
  if (profile === '') return [fieldForbidden(path, 'AppArmor profile must be set')];
  if (allowed.split(',').includes(profile)) return [];
  return [fieldForbidden(path, `${profile} is not an allowed profile. Allowed values: ${quote(allowed)}`)];
}

export function validatePodSeccomp(pod: Pod, policy: Policy): FieldError[] {
  const profile = pod.metadata.annotations?.[seccompPod] || nameOf(pod.spec.securityContext?.seccompProfile);
  return seccompErrors(profile, seccompPod, policy);
}

export function validateContainerSeccomp(pod: Pod, { name, securityContext }: Container, policy: Policy): FieldError[] {
  const { annotations = {} } = pod.metadata;
  const ofPod = pod.spec.securityContext?.seccompProfile;
  const profile = securityContext?.seccompProfile
    ? nameOf(securityContext.seccompProfile)
    : (annotations[seccompPrefix + name] ?? (ofPod ? nameOf(ofPod) : (annotations[seccompPod] ?? '')));
  return seccompErrors(profile, seccompPrefix + name, policy);
}

function seccompErrors(profile: string, key: string, { metadata }: Policy): FieldError[] {
  const text = metadata.annotations?.[seccompAllowed];
  const allowed = new Set(text?.split(',') ?? []);
  if (allowed.has('*') || (allowed.size === 0 && profile === '')) return [];
  if (allowed.size === 0) return [fieldForbidden(annotationsPath.key(key), 'seccomp may not be set')];
  const isRuntimeDefault = profile === 'runtime/default' || profile === 'docker/default';
  if (allowed.has(profile) || (isRuntimeDefault && (allowed.has('runtime/default') || allowed.has('docker/default')))) return [];
  return [fieldForbidden(annotationsPath.key(key), `${profile} is not an allowed seccomp profile. Valid values are ${text ?? ''}`)];
}
