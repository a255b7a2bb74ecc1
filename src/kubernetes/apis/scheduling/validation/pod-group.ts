/**
 * Validation of pod groups. Upstream: pkg/apis/scheduling/validation/validation.go,
 * pkg/apis/scheduling/v1alpha2/zz_generated.validations.go.
 */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, invalid, type Path, required } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import { fieldImmutableError, validateConditions } from '#apimachinery/validation/object-meta';
import { check } from '#kubernetes/apis/core/validation/checks';
import type { PodGroup, PodGroupTemplateReference } from '#kubernetes/schema/scheduling_v1alpha2.gen';
import { validateSchedulingPolicy } from './scheduling-policy.ts';

const specPath = fieldPath('spec');

export function validatePodGroup({ spec }: PodGroup): FieldError[] {
  const errors: FieldError[] = [];
  if (spec?.podGroupTemplateRef) validateTemplateReference(errors, spec.podGroupTemplateRef, specPath.child('podGroupTemplateRef'));
  validateSchedulingPolicy(errors, spec?.schedulingPolicy, specPath.child('schedulingPolicy'));
  return errors;
}

function validateTemplateReference(errors: FieldError[], { workload }: PodGroupTemplateReference, path: Path): void {
  if (!workload) {
    errors.push(invalid(path, '', 'must specify one of: `workload`'));
    return;
  }
  const { workloadName, podGroupTemplateName } = workload;
  const place = path.child('workload');
  if (!workloadName) errors.push(required(place.child('workloadName')));
  else check(errors, isDNS1123Subdomain(workloadName), workloadName, place, 'workloadName');
  if (!podGroupTemplateName) errors.push(required(place.child('podGroupTemplateName')));
  else check(errors, isDNS1123Label(podGroupTemplateName), podGroupTemplateName, place, 'podGroupTemplateName');
}

export function validatePodGroupUpdate({ spec }: PodGroup, { spec: old }: PodGroup): FieldError[] {
  return (['podGroupTemplateRef', 'schedulingPolicy'] as const).flatMap((field) =>
    semanticDeepEqual(spec?.[field], old?.[field]) ? [] : invalid(specPath.child(field), undefined, fieldImmutableError),
  );
}

export function validatePodGroupStatusUpdate({ status }: PodGroup): FieldError[] {
  return validateConditions(status?.conditions ?? [], fieldPath('status', 'conditions'));
}
