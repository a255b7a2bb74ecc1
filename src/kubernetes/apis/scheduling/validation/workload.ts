/** Validation of workloads. Upstream: pkg/apis/scheduling/v1alpha2/zz_generated.validations.go. */
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { duplicate, type FieldError, fieldPath, invalid, type Path, required, tooMany } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain, isValidPathSegmentName } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { check } from '#kubernetes/apis/core/validation/checks';
import type { PodGroupTemplate, TypedLocalObjectReference, Workload } from '#kubernetes/schema/scheduling_v1alpha2.gen';
import { validateSchedulingPolicy } from './scheduling-policy.ts';

const specPath = fieldPath('spec');
const templatesPath = specPath.child('podGroupTemplates');
const maxTemplates = 8;

export function validateWorkload({ spec }: Workload): FieldError[] {
  const errors: FieldError[] = [];
  if (spec?.controllerRef) validateController(errors, spec.controllerRef, specPath.child('controllerRef'));
  const templates = spec?.podGroupTemplates ?? [];
  if (templates.length === 0) errors.push(required(templatesPath));
  if (templates.length > maxTemplates) return [...errors, tooMany(templatesPath, templates.length, maxTemplates)];
  const names = new Set<string>();
  for (const [i, { name = '' }] of templates.entries()) {
    if (names.has(name)) errors.push(duplicate(templatesPath.index(i), name));
    names.add(name);
  }
  for (const [i, template] of templates.entries()) validateTemplate(errors, template, templatesPath.index(i));
  return errors;
}

function validateController(errors: FieldError[], { apiGroup = '', kind, name }: TypedLocalObjectReference, path: Path): void {
  if (apiGroup !== '') check(errors, isDNS1123Subdomain(apiGroup), apiGroup, path, 'apiGroup');
  for (const [field, value] of Object.entries({ kind, name })) {
    if (!value) errors.push(required(path.child(field)));
    else check(errors, isValidPathSegmentName(value), value, path, field);
  }
}

function validateTemplate(errors: FieldError[], { name, schedulingPolicy }: PodGroupTemplate, path: Path): void {
  if (!name) errors.push(required(path.child('name')));
  else check(errors, isDNS1123Label(name), name, path, 'name');
  validateSchedulingPolicy(errors, schedulingPolicy, path.child('schedulingPolicy'));
}

export function validateWorkloadUpdate({ spec }: Workload, { spec: old }: Workload): FieldError[] {
  return (['controllerRef', 'podGroupTemplates'] as const).flatMap((field) =>
    semanticDeepEqual(spec?.[field], old?.[field]) ? [] : invalid(specPath.child(field), undefined, fieldImmutableError),
  );
}
