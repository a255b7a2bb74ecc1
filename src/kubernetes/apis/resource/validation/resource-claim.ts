/** Validation of resource claims and their templates. Upstream: pkg/apis/resource/validation/validation.go. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { validateTemplateMeta } from '#kubernetes/apis/core/validation/persistent-volume-claim';
import { equalAs } from '#kubernetes/apis/equal-as';
import type { ResourceClaim, ResourceClaimTemplate } from '#kubernetes/schema/resource_v1.gen';
import { schema } from '#kubernetes/schema/schema';
import { validateResourceClaimSpec } from './device-claim.ts';
import { goValue } from './go-value.ts';

const path = fieldPath('spec');

export function validateResourceClaim({ spec }: ResourceClaim, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateResourceClaimSpec(errors, spec, path, server);
  return errors;
}

export function validateResourceClaimUpdate({ metadata, spec }: ResourceClaim, { spec: old }: ResourceClaim): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, metadata, nameIsDNSSubdomain);
  return [...errors, ...immutableSpec('resource_v1.ResourceClaimSpec', spec, old)];
}

export function validateResourceClaimTemplate({ spec }: ResourceClaimTemplate, server: ServerTraits): FieldError[] {
  const errors: FieldError[] = [];
  validateTemplateMeta(errors, spec?.metadata ?? {}, path.child('metadata'));
  validateResourceClaimSpec(errors, spec?.spec, path.child('spec'), server);
  return errors;
}

export function validateResourceClaimTemplateUpdate(
  template: ResourceClaimTemplate,
  old: ResourceClaimTemplate,
  server: ServerTraits,
): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, template.metadata, nameIsDNSSubdomain);
  return [
    ...errors,
    ...validateResourceClaimTemplate(template, server),
    ...immutableSpec('resource_v1.ResourceClaimTemplateSpec', template.spec, old.spec),
  ];
}

function immutableSpec(type: string, spec: unknown, old: unknown): FieldError[] {
  return equalAs(type, spec, old) ? [] : [invalid(path, goValue(schema.struct(type), spec), fieldImmutableError)];
}
