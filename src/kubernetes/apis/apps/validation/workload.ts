/** Validation that the workload controllers share. Upstream: pkg/apis/apps/validation/validation.go. */
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import { type FieldError, type Path, fieldPath, forbidden, invalid, notSupported, required } from '#apimachinery/validation/field';
import type { PodOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validatePodTemplateSpec } from '#kubernetes/apis/core/validation/pod-spec';
import { isEmptySelector, selects, selectorValue, templateLabelsError, validateSelector } from '#kubernetes/apis/pod-template';
import type { PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';

export const specPath = fieldPath('spec');
export const statusPath = fieldPath('status');
export const noTemplate: PodTemplateSpec = {};

/** Validates that a selector is present and not empty. Messages call the object `kind`. */
export function validateRequiredSelector(errors: FieldError[], selector: LabelSelector | undefined, kind: string): void {
  if (!selector) {
    errors.push(required(specPath.child('selector')));
    return;
  }
  validateSelector(errors, selector, specPath.child('selector'));
  if (isEmptySelector(selector))
    errors.push(invalid(specPath.child('selector'), selectorValue(selector), `empty selector is invalid for ${kind}`));
}

/** Validates that the template has the restart policy Always and no active deadline. */
export function validateRunsForever(errors: FieldError[], { spec = {} }: PodTemplateSpec, kind: string): void {
  if (spec.restartPolicy !== 'Always')
    errors.push(notSupported(specPath.child('template', 'spec', 'restartPolicy'), spec.restartPolicy ?? '', ['Always']));
  if (spec.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbidden(specPath.child('template', 'spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`),
    );
  }
}

/**
 * Validates the selector and the template of deployments and replica sets. As upstream, some messages name the kind deployment and others
 * ReplicaSet.
 */
export function validateSelectorAndTemplate(
  errors: FieldError[],
  selector: LabelSelector | undefined,
  template: PodTemplateSpec = noTemplate,
  options: PodOptions,
): void {
  validateRequiredSelector(errors, selector, 'deployment');
  const matches = selects(selector, template.metadata?.labels);
  if (matches === undefined) {
    errors.push(invalid(specPath.child('selector'), selectorValue(selector), 'invalid label selector'));
    return;
  }
  const path = specPath.child('template');
  if (!matches) errors.push(templateLabelsError(template, path));
  validatePodTemplateSpec(errors, template, path, options);
  validateRunsForever(errors, template, 'ReplicaSet');
}

interface Counts {
  replicas?: number;
  collisionCount?: number;
}

/** Validates that these counts of a status are not above `replicas`. */
export function validateNotAboveReplicas<T extends Counts>(errors: FieldError[], status: T, ...fields: (keyof T & string)[]): void {
  const { replicas = 0 } = status;
  for (const field of fields) {
    const value = (status[field] ?? 0) as number;
    if (value > replicas) errors.push(invalid(statusPath.child(field), value, 'cannot be greater than status.replicas'));
  }
}

export function validateAvailable(
  errors: FieldError[],
  { availableReplicas = 0, readyReplicas = 0 }: { availableReplicas?: number; readyReplicas?: number },
  ready = 'readyReplicas',
): void {
  if (availableReplicas > readyReplicas)
    errors.push(invalid(statusPath.child('availableReplicas'), availableReplicas, `cannot be greater than ${ready}`));
}

/** Validates that the count of hash collisions does not decrease. */
export function validateCollisionCount(errors: FieldError[], { collisionCount }: Counts = {}, old: Counts = {}): void {
  if (old.collisionCount !== undefined && (collisionCount ?? 0) < old.collisionCount) {
    errors.push(invalid(statusPath.child('collisionCount'), collisionCount ?? 0, 'cannot be decremented'));
  }
}

export function validateCount(errors: FieldError[], value: number | undefined, path: Path, field: string): void {
  if (value !== undefined && value < 0) errors.push(invalid(path.child(field), value, 'must be greater than or equal to 0'));
}

export function validateCounts<T extends object>(errors: FieldError[], status: T, ...fields: (keyof T & string)[]): void {
  for (const field of fields) validateCount(errors, status[field] as number | undefined, statusPath, field);
}
