import { type JsonSchemaProps, schemaHas } from '#apimachinery/structural/json-schema-props';
import type { Steps } from '#apimachinery/runtime/steps';
import {
  addErrors,
  type FieldError,
  fieldPath,
  invalid,
  notSupportedText,
  type Path,
  required,
  named,
} from '#apimachinery/validation/field';
import { isDNS1035Label, isDNS1123Subdomain } from '#apimachinery/validation/names';
import { validateImmutableField } from '#apimachinery/validation/object-meta';
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { approvalState, approvedAnnotation, isProtectedCommunityGroup } from '../api-approval.ts';
import { type InternalSpec, internalSpec, internalVersionsText } from '../internal-form.ts';
import { validateConversion } from './conversion.ts';
import { validateNames } from './names.ts';
import { createRequirements, type Requirements, schemasOf, updateRequirements } from './requirements.ts';
import { validateSchema } from './schema.ts';
import { validateColumn, validateSelectableFields, validateSubresources, validateVersion } from './version.ts';

/**
 * Validates a new definition without its metadata. It yields, since large schemas take a tenth of a second. Upstream:
 * apiextensions/validation (ValidateCustomResourceDefinition).
 */
export function* validateDefinition(definition: CustomResourceDefinition): Steps<FieldError[]> {
  return [
    ...(yield* validateSpec(fieldPath('spec'), definition.spec ?? {}, createRequirements)),
    ...validateStatus(definition),
    ...validateApproval(definition, undefined),
    ...validatePreserveUnknownFields(definition, undefined),
  ];
}

/** Validates an updated definition without its metadata. Upstream: ValidateCustomResourceDefinitionUpdate. */
export function* validateDefinitionUpdate(definition: CustomResourceDefinition, old: CustomResourceDefinition): Steps<FieldError[]> {
  const path = fieldPath('spec');
  const spec = definition.spec ?? {};
  const oldSpec = old.spec ?? {};
  const requirements = updateRequirements(definition, old);
  const errors = yield* validateSpec(path, spec, requirements);
  if (requirements.immutableNames) {
    addErrors(errors, validateImmutableField(spec.scope ?? '', oldSpec.scope ?? '', path.child('scope'), named));
    addErrors(errors, validateImmutableField(spec.names?.kind ?? '', oldSpec.names?.kind ?? '', path.child('names', 'kind')));
  }
  addErrors(errors, validateImmutableField(spec.group ?? '', oldSpec.group ?? '', path.child('group')));
  addErrors(errors, validateImmutableField(spec.names?.plural ?? '', oldSpec.names?.plural ?? '', path.child('names', 'plural')));
  return [
    ...errors,
    ...validateStatus(definition),
    ...validateApproval(definition, old),
    ...validatePreserveUnknownFields(definition, old),
  ];
}

/** Validates the accepted names in the status. Upstream: ValidateCustomResourceDefinitionStatus. */
export function validateAcceptedNames({ status }: CustomResourceDefinition): FieldError[] {
  return validateNames(fieldPath('status', 'acceptedNames'), status?.acceptedNames ?? {});
}

function validateStatus(definition: CustomResourceDefinition): FieldError[] {
  return [...validateAcceptedNames(definition), ...validateStoredVersions(definition)];
}

function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = fieldPath('status', 'storedVersions');
  const stored = status?.storedVersions ?? [];
  const versions = spec?.versions ?? [];
  if (stored.length === 0) return [invalid(path, status?.storedVersions ?? null, 'must have at least one stored version')];
  // Upstream removes each stored version that it finds, so that a second version of the same name is not found.
  const names = new Set<string | undefined>();
  const errors: FieldError[] = [];
  for (const { storage, name } of versions) {
    if (storage && (names.has(name) || !stored.includes(name ?? '')))
      errors.push(invalid(path, stored, `must have the storage version ${name}`));
    names.add(name);
  }
  for (const [i, version] of stored.entries()) {
    if (names.has(version)) continue;
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.push(invalid(path.index(i), version, detail));
  }
  return errors;
}

function validateApproval(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!isProtectedCommunityGroup(definition.spec?.group ?? '')) return [];
  const { state, reason } = approvalState(definition.metadata.annotations);
  if (old && approvalState(old.metadata.annotations).state === state) return [];
  const path = fieldPath('metadata', 'annotations').key(approvedAnnotation);
  if (state === 'invalid') return [invalid(path, definition.metadata.annotations?.[approvedAnnotation], reason)];
  return state === 'missing' ? [required(path, reason)] : [];
}

function validatePreserveUnknownFields({ spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!spec?.preserveUnknownFields || old?.spec?.preserveUnknownFields) return [];
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid(fieldPath('spec', 'preserveUnknownFields'), true, detail)];
}

const usesExtensions = (schema: JsonSchemaProps): boolean =>
  schema['x-kubernetes-embedded-resource'] === true ||
  schema['x-kubernetes-preserve-unknown-fields'] !== undefined ||
  schema['x-kubernetes-int-or-string'] === true ||
  schema['x-kubernetes-list-map-keys'] !== undefined ||
  schema['x-kubernetes-list-type'] !== undefined ||
  schema['x-kubernetes-validations'] !== undefined;

function* validateSpec(path: Path, spec: CustomResourceDefinitionSpec, requirements: Requirements): Steps<FieldError[]> {
  const internal = internalSpec(spec);
  const schemas = schemasOf(spec);
  const preserves = spec.preserveUnknownFields ?? false;
  const hasDefaults = schemas.some((schema) => schemaHas(schema, (one) => one.default !== undefined && one.default !== null));
  const errors = [...validateGroupAndScope(path, spec), ...validateSchemasArePresent(path, internal, preserves, requirements)];
  if (hasDefaults && preserves)
    errors.push(invalid(path.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema'));
  const needsStructural =
    requirements.structuralSchema || !preserves || hasDefaults || schemas.some((schema) => schemaHas(schema, usesExtensions));
  addErrors(errors, yield* validateVersions(path, internal, needsStructural, requirements));
  addErrors(errors, validateRequiredNames(path.child('names'), spec));
  addErrors(errors, yield* validateCommon(path, internal, needsStructural, requirements));
  if (spec.conversion && spec.conversion.strategy !== 'None' && preserves) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalid(path.child('conversion', 'strategy'), named(spec.conversion.strategy), detail));
  }
  return [...errors, ...validateConversion(path.child('conversion'), spec.conversion, requirements)];
}

function validateGroupAndScope(path: Path, { group = '', scope = '' }: CustomResourceDefinitionSpec): FieldError[] {
  const errors: FieldError[] = [];
  const messages = isDNS1123Subdomain(group);
  if (group === '') errors.push(required(path.child('group')));
  else if (messages.length > 0) errors.push(invalid(path.child('group'), group, messages.join(',')));
  else if (!group.includes('.')) errors.push(invalid(path.child('group'), group, 'should be a domain with at least one dot'));
  if (scope === '') errors.push(required(path.child('scope')));
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(notSupportedText(path.child('scope'), scope, ['Cluster', 'Namespaced']));
  return errors;
}

function validateSchemasArePresent(
  path: Path,
  { validation, versions }: InternalSpec,
  preserves: boolean,
  { openApiSchema }: Requirements,
): FieldError[] {
  if (validation?.openAPIV3Schema || (!openApiSchema && preserves)) return [];
  const detail = openApiSchema ? '' : 'because otherwise all fields are pruned';
  return versions.flatMap(({ schema, served }, i) =>
    schema?.openAPIV3Schema || !(openApiSchema || served)
      ? []
      : [required(path.child('versions').index(i).child('schema', 'openAPIV3Schema'), detail)],
  );
}

function* validateVersions(path: Path, internal: InternalSpec, needsStructural: boolean, requirements: Requirements): Steps<FieldError[]> {
  const { versions, spec } = internal;
  const place = path.child('versions');
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    const messages = isDNS1035Label(version.name ?? '');
    if (messages.length > 0) errors.push(invalid(place.index(i).child('name'), version.name ?? '', messages.join(',')));
    const { subresources } = spec.versions?.[i] ?? {};
    const hasStatus = subresources?.status !== undefined;
    addErrors(errors, yield* validateVersion(place.index(i), version, hasStatus, needsStructural, requirements));
  }
  const names = versions.map(({ name }) => name);
  const wrong = (detail: string): FieldError => invalid(place, internalVersionsText(internal.spec.versions && versions), detail);
  if (new Set(names).size < names.length) errors.push(wrong('must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1) errors.push(wrong('must have exactly one version marked as storage version'));
  const [first = ''] = names;
  const messages = isDNS1035Label(first);
  if (first !== '' && messages.length > 0) errors.push(invalid(path.child('version'), first, messages.join(',')));
  return errors;
}

function validateRequiredNames(path: Path, { names = {} }: CustomResourceDefinitionSpec): FieldError[] {
  const missing = (['plural', 'singular', 'kind', 'listKind'] as const).filter((name) => !names[name]);
  return [...missing.map((name) => required(path.child(name))), ...validateNames(path, names)];
}

/** Validates the fields that all versions share. */
function* validateCommon(path: Path, internal: InternalSpec, needsStructural: boolean, requirements: Requirements): Steps<FieldError[]> {
  const { validation, subresources, additionalPrinterColumns, selectableFields, spec } = internal;
  const schema = validation?.openAPIV3Schema;
  const hasStatus = (spec.versions ?? []).some((version) => version.subresources?.status !== undefined);
  const errors = yield* validateSchema(
    path.child('validation'),
    schema,
    hasStatus,
    needsStructural,
    requirements,
    spec.versions?.[0]?.name ?? '',
  );
  addErrors(errors, validateSubresources(path.child('subresources'), subresources));
  for (const [i, column] of additionalPrinterColumns.entries())
    addErrors(errors, validateColumn(path.child('additionalPrinterColumns').index(i), column));
  if (selectableFields.length > 0) {
    if (schema) addErrors(errors, validateSelectableFields(path, selectableFields, schema, requirements.tooManySelectableFields.has('')));
    else errors.push(invalid(path.child('selectableFields'), '', 'may only be set when validations.schema is included'));
  }
  return errors;
}
