/** Validation of pod annotations, most of which were replaced by fields. Upstream: pkg/apis/core/validation. */
import { keysOf } from '#apimachinery/runtime/wide-objects';
import type { ObjectMeta } from '#apimachinery/meta/types';
import { quote } from '#apimachinery/runtime/quote';
import { type FieldError, type Path, forbidden, invalid } from '#apimachinery/validation/field';
import type { AppArmorProfile, Container, Pod, PodSpec, SeccompProfile, Toleration } from '#kubernetes/schema/core_v1.gen';
import { validateTolerations } from './affinity.ts';
import { validateLocalDescendingPath } from './paths.ts';
import { podDeletionCost, podDeletionCostError } from './pod-deletion-cost.ts';
import { allContainers, type PodOptions } from './pod-options.ts';
import { eachContainer } from './visit-containers.ts';

type Annotations = Readonly<Record<string, string>>;

export const mirrorPod = 'kubernetes.io/config.mirror';
const tolerationsKey = 'scheduler.alpha.kubernetes.io/tolerations';
export const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

export function validatePodSpecificAnnotations(
  errors: FieldError[],
  annotations: Annotations | undefined,
  spec: PodSpec,
  path: Path,
  options: PodOptions,
): void {
  if (annotations === undefined) return;
  const mirror = annotations[mirrorPod];
  if (mirror !== undefined && !spec.nodeName)
    errors.push(invalid(path.key(mirrorPod), mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  if (annotations[tolerationsKey]) validateTolerationsAnnotation(errors, annotations[tolerationsKey], path, options);
  const cost = podDeletionCostError(annotations);
  if (cost !== undefined && !options.allowInvalidPodDeletionCost)
    errors.push(invalid(path.key(podDeletionCost), annotations[podDeletionCost], cost));
  const seccomp = annotations[seccompPod];
  if (seccomp !== undefined) validateSeccompAnnotation(errors, seccomp, path.child(seccompPod));
  let names: ReadonlySet<string> | undefined;
  for (const key in annotations) {
    if (!key.startsWith('container.')) continue;
    if (key.startsWith(seccompContainerPrefix)) validateSeccompAnnotation(errors, annotations[key]!, path.child(key));
    else if (key.startsWith(appArmorPrefix)) {
      names ??= new Set(allContainers(spec).map(({ name = '' }) => name));
      validateAppArmorAnnotation(errors, key, annotations[key]!, names, path);
    }
  }
}

function validateTolerationsAnnotation(errors: FieldError[], text: string, path: Path, options: PodOptions): void {
  let tolerations: unknown;
  try {
    tolerations = JSON.parse(text);
  } catch (error) {
    errors.push(invalid(path, tolerationsKey, (error as Error).message));
    return;
  }
  if (!Array.isArray(tolerations) || !tolerations.every((item) => typeof item === 'object' && item !== null)) {
    errors.push(invalid(path, tolerationsKey, 'json: cannot unmarshal value into Go value of type []core.Toleration'));
    return;
  }
  validateTolerations(errors, tolerations as Toleration[], path.child(tolerationsKey), options);
}

/** Returns the annotations of single containers, by the name of the container. A key for each container would be slower by far. */
export function containerAnnotations(annotations: ObjectMeta['annotations'], prefix: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const key of annotations ? keysOf(annotations) : []) {
    const value = key.startsWith(prefix) ? annotations?.[key] : undefined;
    if (value !== undefined) found.set(key.slice(prefix.length), value);
  }
  return found;
}

export function validateSeccompAnnotation(errors: FieldError[], profile: string, path: Path): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith('localhost/')) validateLocalDescendingPath(errors, profile.slice('localhost/'.length), path);
  else errors.push(invalid(path, profile, 'must be a valid seccomp profile'));
}

function validateAppArmorAnnotation(errors: FieldError[], key: string, profile: string, names: ReadonlySet<string>, path: Path): void {
  const container = key.slice(appArmorPrefix.length);
  if (!names.has(container)) errors.push(invalid(path.key(key), container, 'container not found'));
  const wrong = appArmorProfileError(profile);
  if (wrong !== undefined) errors.push(invalid(path.key(key), profile, wrong));
}

/** Returns the error of an AppArmor profile in an annotation. Upstream: ValidateAppArmorProfileFormat. */
export function appArmorProfileError(profile: string): string | undefined {
  const isValid = profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/');
  return isValid ? undefined : `invalid AppArmor profile name: ${quote(profile)}`;
}

/** Rejects changes of immutable annotations. */
export function validatePodSpecificAnnotationUpdates(errors: FieldError[], pod: Pod, old: Pod, path: Path, options: PodOptions): void {
  const { annotations } = pod.metadata;
  const before = old.metadata.annotations;
  for (const key in before) {
    if (annotations?.[key] === before[key]) continue;
    if (key.startsWith(appArmorPrefix)) errors.push(forbidden(path.key(key), 'may not remove or update AppArmor annotations'));
    if (key === mirrorPod) errors.push(forbidden(path.key(key), 'may not remove or update mirror pod annotation'));
  }
  for (const key in annotations) {
    if (before !== undefined && Object.hasOwn(before, key)) continue;
    if (key.startsWith(appArmorPrefix)) errors.push(forbidden(path.key(key), 'may not add AppArmor annotations'));
    if (key === mirrorPod) errors.push(forbidden(path.key(key), 'may not add mirror pod annotation'));
  }
  validatePodSpecificAnnotations(errors, annotations, pod.spec ?? {}, path, options);
}

/** Validates that profiles of annotations match those of the fields. `path` is the path of the spec. */
export function validateProfilesMatchAnnotations(errors: FieldError[], { annotations }: ObjectMeta, spec: PodSpec, path: Path): void {
  if (annotations === undefined) return;
  const podSeccomp = spec.securityContext?.seccompProfile;
  if (podSeccomp && annotations[seccompPod] !== undefined) {
    validateMatch(errors, seccompKind, annotations[seccompPod], podSeccomp, path.child('securityContext', 'seccompProfile'));
  }
  const seccomp = containerAnnotations(annotations, seccompContainerPrefix);
  eachContainer(spec, path, ({ name = '', securityContext }, at) => {
    const annotation = seccomp.get(name);
    if (annotation !== undefined && securityContext?.seccompProfile) {
      validateMatch(errors, seccompKind, annotation, securityContext.seccompProfile, at().child('securityContext', 'seccompProfile'));
    }
  });
  if (spec.os?.name === 'windows') return;
  const appArmor = containerAnnotations(annotations, appArmorPrefix);
  eachContainer(spec, path, ({ name = '', securityContext }: Container, at) => {
    const annotation = appArmor.get(name);
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    if (annotation !== undefined && profile)
      validateMatch(errors, appArmorKind, annotation, profile, at().child('securityContext', 'appArmorProfile'));
  });
}

interface ProfileKind {
  readonly name: string;
  readonly runtimeDefault: readonly string[];
}
const seccompKind: ProfileKind = { name: 'seccomp', runtimeDefault: ['runtime/default', 'docker/default'] };
const appArmorKind: ProfileKind = { name: 'apparmor', runtimeDefault: ['runtime/default'] };

function validateMatch(
  errors: FieldError[],
  { name, runtimeDefault }: ProfileKind,
  annotation: string,
  { type, localhostProfile }: SeccompProfile | AppArmorProfile,
  path: Path,
): void {
  const matches =
    type === 'Unconfined'
      ? annotation === 'unconfined'
      : type === 'RuntimeDefault'
        ? runtimeDefault.includes(annotation)
        : type === 'Localhost'
          ? annotation.startsWith('localhost/')
          : true;
  if (!matches) errors.push(forbidden(path.child('type'), `${name} type in annotation and field must match`));
  else if (type === 'Localhost' && annotation.slice('localhost/'.length) !== localhostProfile) {
    errors.push(forbidden(path.child('localhostProfile'), `${name} profile in annotation and field must match`));
  }
}
