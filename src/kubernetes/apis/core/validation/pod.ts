/** Validation of pods: creation and all kinds of updates. Upstream: pkg/apis/core/validation and pkg/registry/core/pod/strategy.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { quote } from '#apimachinery/runtime/quote';
import { addError, addErrors, type FieldError, type Path, fieldPath, forbidden, invalid, required } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { errorsOfEach } from '#apimachinery/validation/pausing';
import { equalAs } from '#kubernetes/apis/equal-as';
import type {
  Affinity,
  Binding,
  Container,
  EphemeralContainer,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '#kubernetes/schema/core_v1.gen';
import { validateTolerations } from './affinity.ts';
import { validateEnum } from './checks.ts';
import { validateContainerOnlyForPod } from './containers.ts';
import { internalDiff, internalValue } from './internal.ts';
import { validateMetaAgain } from './object-meta.ts';
import {
  mirrorPod,
  validatePodSpecificAnnotationUpdates,
  validatePodSpecificAnnotations,
  validateProfilesMatchAnnotations,
} from './pod-annotations.ts';
import { newPodOptions, type PodOptions, UpdateOptions } from './pod-options.ts';
import { validatePodSpec } from './pod-spec.ts';

const metadataPath = fieldPath('metadata');
const annotationsPath = metadataPath.child('annotations');
const specPath = fieldPath('spec');
const containersPath = specPath.child('containers');
const initContainersPath = specPath.child('initContainers');
const noSpec: PodSpec = {};
const maxInt32 = 2 ** 31 - 1;

export function validatePodCreate(pod: Pod, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const spec = pod.spec ?? noSpec;
  validatePodMetadataAndSpec(errors, pod, spec, newPodOptions(server));
  if (spec.ephemeralContainers?.length) errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'));
  if (spec.nodeName && spec.schedulingGates?.length)
    errors.push(forbidden(specPath.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'));
  validateProfilesMatchAnnotations(errors, pod.metadata, spec, specPath);
  return errors;
}

/** Validates a pod without the common metadata, which the store has validated. */
export function validatePodMetadataAndSpec(errors: FieldError[], { metadata }: Pod, spec: PodSpec, options: PodOptions): void {
  if (metadata.annotations) validatePodSpecificAnnotations(errors, metadata.annotations, spec, annotationsPath, options);
  validatePodSpec(errors, spec, metadata, specPath, options);
  if (!spec.serviceAccountName) {
    for (const [i, { projected }] of (spec.volumes ?? []).entries()) {
      for (const [j, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
        if (!serviceAccountToken) continue;
        const at = specPath.child('volumes').index(i).child('projected', 'sources').index(j).child('serviceAccountToken');
        errors.push(forbidden(at, 'must not be specified when serviceAccountName is not set'));
      }
    }
  }
  for (const [path, containers] of [
    [containersPath, spec.containers],
    [initContainersPath, spec.initContainers],
  ] as const) {
    for (let i = 0; containers && i < containers.length; i++) {
      if (containers[i]!.image?.trim() !== containers[i]!.image) validateContainerOnlyForPod(errors, containers[i]!, path.index(i));
    }
  }
}

export function optionsFor(old: Pod, server: ServerTraits): PodOptions {
  return new UpdateOptions(true, old.spec ?? noSpec, old.metadata, server);
}

const updatableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function validatePodUpdate(pod: Pod, old: Pod, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const options = optionsFor(old, server);
  const spec = pod.spec ?? noSpec;
  const before = old.spec ?? noSpec;
  validateMetaAgain(errors, pod.metadata, nameIsDNSSubdomain);
  validatePodMetadataAndSpec(errors, pod, spec, options);
  validatePodSpecificAnnotationUpdates(errors, pod, old, annotationsPath, options);
  if (!validateContainerUpdates(errors, spec.containers, before.containers, containersPath)) return errors;
  if (!validateContainerUpdates(errors, spec.initContainers, before.initContainers, initContainersPath)) return errors;
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined) {
    if (deadline < 0 || deadline > maxInt32) {
      errors.push(invalid(specPath.child('activeDeadlineSeconds'), deadline, `must be between 0 and ${maxInt32}, inclusive`));
      return errors;
    }
    if (before.activeDeadlineSeconds !== undefined && before.activeDeadlineSeconds < deadline) {
      errors.push(invalid(specPath.child('activeDeadlineSeconds'), deadline, 'must be less than or equal to previous value'));
      return errors;
    }
  } else if (before.activeDeadlineSeconds !== undefined) {
    errors.push(invalid(specPath.child('activeDeadlineSeconds'), undefined, 'must not update from a positive integer to nil value'));
  }
  validateOnlyAddedTolerations(errors, spec.tolerations, before.tolerations, options);
  validateOnlyDeletedGates(errors, spec, before);
  if (equalAs('core_v1.PodSpec', spec, before)) return errors;
  const munged = withoutUpdatable(errors, spec, before);
  if (!equalAs('core_v1.PodSpec', munged, before)) {
    errors.push(
      forbidden(specPath, `pod updates may not change fields other than ${updatableFields}\n${internalDiff('PodSpec', before, munged)}`),
    );
  }
  return errors;
}

function validateContainerUpdates(
  errors: FieldError[],
  containers: readonly Container[] = [],
  old: readonly Container[] = [],
  path: Path,
): boolean {
  if (containers.length !== old.length) {
    errors.push(forbidden(path, 'pod updates may not add or remove containers'));
    return false;
  }
  for (const [i, { image = '' }] of containers.entries()) {
    if (image === '') errors.push(required(path.index(i).child('image')));
    if (image.trim() !== image) errors.push(invalid(path.index(i).child('image'), image, 'must not have leading or trailing whitespace'));
  }
  return true;
}

function validateOnlyAddedTolerations(
  errors: FieldError[],
  tolerations: readonly Toleration[] = [],
  old: readonly Toleration[] = [],
  options: PodOptions,
): void {
  const path = specPath.child('tolerations');
  const textOf = ({ key = '', operator = '', value = '', effect = '' }: Toleration) => JSON.stringify([key, operator, value, effect]);
  const present = new Set(tolerations.map(textOf));
  if (!old.every((before) => present.has(textOf(before))))
    errors.push(forbidden(path, 'existing toleration can not be modified except its tolerationSeconds'));
  else validateTolerations(errors, tolerations, path, options);
}

function validateOnlyDeletedGates(errors: FieldError[], { schedulingGates = [] }: PodSpec, before: PodSpec): void {
  const old = new Set(before.schedulingGates?.map(({ name = '' }) => name));
  // Upstream reports the last of several gates with one name.
  const last = new Map(schedulingGates.map(({ name = '' }, i) => [name, i]));
  for (const [name, i] of last) {
    if (old.has(name)) continue;
    errors.push(
      forbidden(
        specPath.child('schedulingGates').index(i).child('name'),
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    );
  }
}

/**
 * Returns the new spec with its mutable fields set to the old values. For gated pods these include node selectors and affinity, which may
 * only become narrower.
 */
function withoutUpdatable(errors: FieldError[], spec: PodSpec, before: PodSpec): PodSpec {
  const munged: PodSpec = { ...spec };
  for (const list of ['containers', 'initContainers'] as const) {
    if (spec[list]) munged[list] = spec[list].map((container, i) => restored(container, before[list]?.[i] ?? {}, 'image'));
  }
  restore(munged, before, 'activeDeadlineSeconds', 'schedulingGates', 'tolerations');
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1)
    restore(munged, before, 'terminationGracePeriodSeconds');
  if (!before.schedulingGates?.length) return munged;
  if (!semanticDeepEqual(munged.nodeSelector, before.nodeSelector)) {
    validateNodeSelectorMutation(errors, munged.nodeSelector, before.nodeSelector);
    restore(munged, before, 'nodeSelector');
  }
  const affinity = munged.affinity?.nodeAffinity;
  const oldAffinity = before.affinity?.nodeAffinity;
  if (!semanticDeepEqual(affinity, oldAffinity)) {
    validateNodeAffinityMutation(errors, affinity, oldAffinity);
    const isNew = !before.affinity && !munged.affinity?.podAffinity && !munged.affinity?.podAntiAffinity;
    if (isNew) delete munged.affinity;
    else munged.affinity = restored<Affinity>(munged.affinity ?? {}, before.affinity ?? {}, 'nodeAffinity');
  }
  return munged;
}

export function restore<T extends object>(object: T, before: T, ...fields: (keyof T)[]): void {
  for (const field of fields) {
    if (before[field] === undefined) delete object[field];
    else object[field] = before[field];
  }
}

function restored<T extends object>(object: T, before: T, ...fields: (keyof T)[]): T {
  const copy = { ...object };
  restore(copy, before, ...fields);
  return copy;
}

function validateNodeSelectorMutation(errors: FieldError[], selector: Record<string, string> = {}, old: Record<string, string> = {}): void {
  const onlyAdded = Object.keys(old).every((key) => Object.hasOwn(selector, key) && selector[key] === old[key]);
  if (!onlyAdded)
    errors.push(
      invalid(specPath.child('nodeSelector'), selector, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'),
    );
}

function validateNodeAffinityMutation(errors: FieldError[], affinity: NodeAffinity | undefined, old: NodeAffinity | undefined): void {
  const oldTerms = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!oldTerms) return;
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const path = specPath.child('affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    const shown = internalValue('[]NodeSelectorTerm', affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms);
    errors.push(invalid(path, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'));
    return;
  }
  for (const [i, term] of oldTerms.entries()) {
    if (hasOnlyAdditions(terms[i]!, term)) continue;
    errors.push(
      invalid(path.index(i), internalValue('NodeSelectorTerm', terms[i]), 'only additions are allowed (no mutations or deletions)'),
    );
  }
}

/** True if the new term only adds requirements. An empty term matches nothing, so that any addition would widen it. */
function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = old;
  if (matchExpressions.length === 0 && matchFields.length === 0) return !term.matchExpressions?.length && !term.matchFields?.length;
  return (
    semanticDeepEqual((term.matchExpressions ?? []).slice(0, matchExpressions.length), matchExpressions) &&
    semanticDeepEqual((term.matchFields ?? []).slice(0, matchFields.length), matchFields)
  );
}

export function validatePodEphemeralContainersUpdate(pod: Pod, old: Pod, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  const options = optionsFor(old, server);
  if (old.metadata.annotations?.[mirrorPod] !== undefined)
    return [forbidden(fieldPath(''), 'static pods do not support ephemeral containers')];
  validateMetaAgain(errors, pod.metadata, nameIsDNSSubdomain);
  validatePodMetadataAndSpec(errors, pod, pod.spec ?? noSpec, options);
  validatePodSpecificAnnotationUpdates(errors, pod, old, annotationsPath, options);
  const path = specPath.child('ephemeralContainers');
  const lastOf = new Map(pod.spec?.ephemeralContainers?.map((container) => [container.name, container]));
  const existing = old.spec?.ephemeralContainers ?? [];
  const visit = (found: FieldError[], before: EphemeralContainer): void => {
    const now = lastOf.get(before.name);
    const name = quote(before.name ?? '');
    if (!now) addError(found, forbidden(path, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!equalAs('core_v1.EphemeralContainer', before, now)) {
      const diff = internalDiff('EphemeralContainer', before, now);
      addError(found, forbidden(path, `existing ephemeral containers ${name} may not be changed\n${diff}`));
    }
  };
  addErrors(errors, errorsOfEach(existing, path, existing, visit));
  return errors;
}

/** Validates the target of a binding that a scheduler sends. */
export function validatePodBinding({ target }: Binding): FieldError[] {
  const errors: FieldError[] = [];
  const path = fieldPath('target');
  if (target?.kind && target.kind !== 'Node') validateEnum(errors, target.kind, ['Node', '<empty>'], path, 'kind');
  if (!target?.name) errors.push(required(path.child('name')));
  return errors;
}
