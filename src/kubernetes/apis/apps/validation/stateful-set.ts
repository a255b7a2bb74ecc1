import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { addErrors, type FieldError, forbidden, invalid, notSupported, required, named } from '#apimachinery/validation/field';
import { validateAnnotations, validateLabels } from '#apimachinery/validation/object-meta';
import { validateDNS1123Label } from '#kubernetes/apis/core/validation/checks';
import { validatePersistentVolumeClaimSpec, warnClaimSpec } from '#kubernetes/apis/core/validation/persistent-volume-claim';
import { validatePodSpecificAnnotations } from '#kubernetes/apis/core/validation/pod-annotations';
import { type PodOptions, templateOptions } from '#kubernetes/apis/core/validation/pod-options';
import { validatePodTemplateSpec } from '#kubernetes/apis/core/validation/pod-spec';
import { equalAs } from '#kubernetes/apis/equal-as';
import { intOrPercentValue, validateNotMoreThan100Percent, validatePositiveIntOrPercent } from '#kubernetes/apis/int-or-percent';
import { selects, selectorValue, templateLabelsError } from '#kubernetes/apis/pod-template';
import { structValue } from '#kubernetes/apis/struct-value';
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '#kubernetes/schema/apps_v1.gen';
import type { PodSpec, PodTemplateSpec } from '#kubernetes/schema/core_v1.gen';
import {
  noTemplate,
  specPath,
  validateAvailable,
  validateCollisionCount,
  validateCount,
  validateCounts,
  validateNotAboveReplicas,
  validateRequiredSelector,
  validateRunsForever,
} from './workload.ts';

/** Parts that are not validated, because the stored object has them and they are immutable, or because they were never valid. */
interface Skipped {
  readonly immutable: boolean;
  readonly template: boolean;
}

const noSpec: StatefulSetSpec = {};
const mutableFields = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const satisfies (keyof StatefulSetSpec)[];

export function validateStatefulSet({ spec = noSpec }: StatefulSet, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, templateOptions(undefined, server), { immutable: false, template: false });
  return errors;
}

export function validateStatefulSetUpdate(
  { spec = noSpec }: StatefulSet,
  { spec: old = noSpec }: StatefulSet,
  server: ServerTraits,
): FieldError[] {
  const errors: FieldError[] = [];
  const options = templateOptions(old.template, server);
  validateSpec(errors, spec, options, { immutable: true, template: false });
  if (errors.length > 0 && isInvalid(old, options)) {
    errors.length = 0;
    validateSpec(errors, spec, options, { immutable: true, template: true });
  }
  const changed = { ...spec, ...Object.fromEntries(mutableFields.map((field) => [field, old[field]])) };
  if (!equalAs('apps_v1.StatefulSetSpec', changed, old)) {
    errors.push(
      forbidden(
        specPath,
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    );
  }
  return errors;
}

function isInvalid(spec: StatefulSetSpec, options: PodOptions): boolean {
  const errors: FieldError[] = [];
  validateSpec(errors, spec, options, { immutable: true, template: false });
  return errors.length > 0;
}

function validateSpec(errors: FieldError[], spec: StatefulSetSpec, options: PodOptions, skipped: Skipped): void {
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: retention, selector, template = noTemplate } = spec;
  if (!policy) errors.push(required(specPath.child('podManagementPolicy')));
  else if (policy !== 'OrderedReady' && policy !== 'Parallel')
    errors.push(invalid(specPath.child('podManagementPolicy'), named(policy), "must be 'OrderedReady' or 'Parallel'"));
  validateUpdateStrategy(errors, spec.updateStrategy ?? {});
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    const value = retention?.[field] ?? '';
    if (!retention || value === 'Retain' || value === 'Delete') continue;
    errors.push(notSupported(specPath.child('persistentVolumeClaimRetentionPolicy', field), value, ['Retain', 'Delete']));
  }
  if (!skipped.immutable) {
    for (const [i, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
      validatePersistentVolumeClaimSpec(errors, claim.spec ?? {}, specPath.child('volumeClaimTemplates').index(i).child('spec'));
    }
  }
  validateCount(errors, spec.replicas, specPath, 'replicas');
  validateCount(errors, spec.minReadySeconds, specPath, 'minReadySeconds');
  validateCount(errors, spec.ordinals?.start, specPath, 'ordinals.start');
  if (!skipped.immutable && spec.serviceName) validateDNS1123Label(errors, spec.serviceName, specPath, 'serviceName');
  validateRequiredSelector(errors, selector, 'statefulset');
  const matches = selects(selector, template.metadata?.labels);
  if (matches === undefined) errors.push(invalid(specPath.child('selector'), selectorValue(selector), ''));
  else {
    if (!matches) errors.push(templateLabelsError(template, specPath.child('template')));
    validateTemplate(errors, spec, options, skipped);
  }
  validateRunsForever(errors, template, 'StatefulSet');
}

function validateTemplate(errors: FieldError[], spec: StatefulSetSpec, options: PodOptions, skipped: Skipped): void {
  const { template = noTemplate } = spec;
  const path = specPath.child('template');
  if (!skipped.template) validatePodTemplateSpec(errors, asRun(template, spec), path, options);
  const { labels, annotations } = template.metadata ?? {};
  if (labels) addErrors(errors, validateLabels(labels, path.child('labels')));
  if (!annotations) return;
  addErrors(errors, validateAnnotations(annotations, path.child('annotations')));
  validatePodSpecificAnnotations(errors, annotations, template.spec ?? {}, path.child('annotations'), options);
}

/**
 * Returns the template as the controller uses it: without hostname and subdomain of the client, and with the volumes of the claim
 * templates.
 */
function asRun(template: PodTemplateSpec, { volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  const { spec } = template;
  if (!spec || (!spec.subdomain && !spec.hostname && volumeClaimTemplates.length === 0)) return template;
  const { subdomain: _, hostname: __, ...rest } = spec;
  const result: PodSpec = rest;
  if (volumeClaimTemplates.length > 0) {
    const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ''));
    const own = (spec.volumes ?? []).filter(({ name = '' }) => !names.has(name));
    result.volumes = [...[...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })), ...own];
  }
  return { ...template, spec: result };
}

function rollingUpdateValue({ partition = 0, maxUnavailable }: RollingUpdateStatefulSetStrategy): Record<string, unknown> {
  return { Partition: partition, MaxUnavailable: maxUnavailable };
}

function validateUpdateStrategy(errors: FieldError[], { type = '', rollingUpdate }: StatefulSetUpdateStrategy): void {
  const path = () => specPath.child('updateStrategy');
  switch (type) {
    case '':
      errors.push(required(path()));
      break;
    case 'OnDelete':
      if (rollingUpdate)
        errors.push(
          invalid(
            path().child('rollingUpdate'),
            structValue(rollingUpdateValue(rollingUpdate)),
            "only allowed for updateStrategy 'RollingUpdate'",
          ),
        );
      break;
    case 'RollingUpdate':
      if (rollingUpdate) validateRollingUpdate(errors, rollingUpdate);
      break;
    default:
      errors.push(
        invalid(
          path(),
          structValue({ Type: type, RollingUpdate: rollingUpdate && rollingUpdateValue(rollingUpdate) }),
          "must be 'RollingUpdate' or 'OnDelete'",
        ),
      );
  }
}

function validateRollingUpdate(errors: FieldError[], { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy): void {
  const path = specPath.child('updateStrategy', 'rollingUpdate');
  validateCount(errors, partition, path, 'partition');
  if (maxUnavailable === undefined) return;
  validatePositiveIntOrPercent(errors, maxUnavailable, path, 'maxUnavailable');
  if (intOrPercentValue(maxUnavailable) === 0) errors.push(invalid(path.child('maxUnavailable'), maxUnavailable, 'cannot be 0'));
  validateNotMoreThan100Percent(errors, maxUnavailable, path, 'maxUnavailable');
}

export function validateStatefulSetStatusUpdate({ status = {} }: StatefulSet, old: StatefulSet): FieldError[] {
  const errors: FieldError[] = [];
  validateCounts(
    errors,
    status,
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  );
  validateNotAboveReplicas(errors, status, 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas');
  validateAvailable(errors, status, 'status.readyReplicas');
  validateCollisionCount(errors, status, old.status);
  return errors;
}

/**
 * Warnings of the stateful set without those of its template. `claimField` is upstream's path element for the spec of a claim, on updates
 * only.
 */
export function statefulSetWarnings({ spec = noSpec }: StatefulSet, claimField?: string): string[] {
  const warnings: string[] = [];
  for (const [i, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
    const path = specPath.child('volumeClaimTemplates').index(i);
    warnClaimSpec(warnings, claim.spec ?? {}, claimField === undefined ? path : path.child(claimField));
  }
  if ((spec.revisionHistoryLimit ?? 0) < 0) {
    warnings.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended');
  }
  return warnings;
}
