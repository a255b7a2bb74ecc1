/** Validation of replication controllers. Upstream: pkg/apis/core/validation. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import { type FieldError, type Path, fieldPath, forbidden, invalid, notSupported, required } from '#apimachinery/validation/field';
import type { PodTemplateSpec, ReplicationController, ReplicationControllerStatus } from '#kubernetes/schema/core_v1.gen';
import { validateNonnegative } from './checks.ts';
import type { PodOptions } from './pod-options.ts';
import { templateOptions } from './pod-options.ts';
import { validatePodTemplateSpec } from './pod-spec.ts';

type Labels = Readonly<Record<string, string>>;
const specPath = fieldPath('spec');

/** Validates a new controller or an update; upstream's rules are the same for both. */
export function validateReplicationController(
  { spec = {} }: ReplicationController,
  old: ReplicationController | undefined,
  server: ServerTraits,
): FieldError[] {
  const errors: FieldError[] = [];
  validateNonnegative(errors, spec.minReadySeconds, specPath, 'minReadySeconds');
  if (Object.keys(spec.selector ?? {}).length === 0) errors.push(required(specPath.child('selector')));
  if (spec.replicas === undefined) errors.push(required(specPath.child('replicas')));
  else validateNonnegative(errors, spec.replicas, specPath, 'replicas');
  validateTemplate(errors, spec.template, spec.selector ?? {}, specPath.child('template'), templateOptions(old?.spec?.template, server));
  return errors;
}

function validateTemplate(
  errors: FieldError[],
  template: PodTemplateSpec | undefined,
  selector: Labels,
  path: Path,
  options: PodOptions,
): void {
  if (!template) {
    errors.push(required(path));
    return;
  }
  const labels: Labels = template.metadata?.labels ?? {};
  if (Object.entries(selector).some(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value)) {
    const sorted = template.metadata?.labels && Object.fromEntries(Object.entries(labels).sort(([a], [b]) => compareUtf8(a, b)));
    errors.push(invalid(path.child('metadata', 'labels'), sorted ?? null, '`selector` does not match template `labels`'));
  }
  validatePodTemplateSpec(errors, template, path, options);
  if (template.spec?.restartPolicy !== 'Always')
    errors.push(notSupported(path.child('spec', 'restartPolicy'), template.spec?.restartPolicy ?? '', ['Always']));
  if (template.spec?.activeDeadlineSeconds !== undefined) {
    errors.push(forbidden(path.child('spec', 'activeDeadlineSeconds'), 'activeDeadlineSeconds in ReplicationController is not Supported'));
  }
}

export function validateReplicationControllerStatusUpdate({ status = {} }: ReplicationController): FieldError[] {
  const errors: FieldError[] = [];
  validateReplicaCounts(errors, status, fieldPath('status'));
  return errors;
}

function validateReplicaCounts(errors: FieldError[], status: ReplicationControllerStatus, path: Path): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const field of ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'] as const)
    validateNonnegative(errors, status[field], path, field);
  for (const field of ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const) {
    if ((status[field] ?? 0) > replicas) errors.push(invalid(path.child(field), status[field], 'cannot be greater than status.replicas'));
  }
  if (availableReplicas > readyReplicas)
    errors.push(invalid(path.child('availableReplicas'), availableReplicas, 'cannot be greater than readyReplicas'));
}
