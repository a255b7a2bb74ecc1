/** Validation of resource claims and their templates. Upstream: pkg/apis/resource/validation/validation.go. */
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { fieldImmutableError, validateAnnotations, validateLabels } from '#apimachinery/validation/object-meta';
import { equalAs } from '#kubernetes/apis/equal-as';
import type { ResourceClaim, ResourceClaimTemplate } from '#kubernetes/schema/resource_v1.gen';
import { schema } from '#kubernetes/schema/schema';
import { validateResourceClaimSpec } from './device-claim.ts';
import { goValue } from './go-value.ts';

const path = fieldPath('spec');

export function validateResourceClaim({ spec }: ResourceClaim): FieldError[] {
  const errors: FieldError[] = [];
  validateResourceClaimSpec(errors, spec, path);
  return errors;
}

export function validateResourceClaimUpdate({ spec }: ResourceClaim, { spec: old }: ResourceClaim): FieldError[] {
  return immutableSpec('resource_v1.ResourceClaimSpec', spec, old);
}

export function validateResourceClaimTemplate({ spec }: ResourceClaimTemplate): FieldError[] {
  const { labels = {}, annotations = {} } = spec?.metadata ?? {};
  const metadata = path.child('metadata');
  const errors = [...validateAnnotations(annotations, metadata.child('annotations')), ...validateLabels(labels, metadata.child('labels'))];
  validateResourceClaimSpec(errors, spec?.spec, path.child('spec'));
  return errors;
}

export function validateResourceClaimTemplateUpdate(template: ResourceClaimTemplate, old: ResourceClaimTemplate): FieldError[] {
  return [...validateResourceClaimTemplate(template), ...immutableSpec('resource_v1.ResourceClaimTemplateSpec', template.spec, old.spec)];
}

function immutableSpec(type: string, spec: unknown, old: unknown): FieldError[] {
  return equalAs(type, spec, old) ? [] : [invalid(path, goValue(schema.struct(type), spec), fieldImmutableError)];
}
