import { deepEqual } from '#apimachinery/runtime/equality';
import { type JsonSchemaProps, schemaHas } from '#apimachinery/structural/json-schema-props';
import { pruneDefaults } from '#apimachinery/structural/schema-defaults';
import { newStructural, StructuralError } from '#apimachinery/structural/structural';
import { validateStructural } from '#apimachinery/structural/validate-structural';
import { fieldPath } from '#apimachinery/validation/field';
import { validateCABundle } from '#apimachinery/validation/webhook';
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import type { KnownExpressions } from '#apiextensions-apiserver/cel/rule-context';
import { isConditionTrue } from '../conditions.ts';
import { acceptedReviewVersions, type ConversionRequirements } from './conversion.ts';
import { openApiTypes, type SchemaRequirements, setItems, validateMapListKeys } from './open-api-schema.ts';

/** Maximum number of selectable fields, which limits the memory that they use. */
export const maxSelectableFields = 8;

/** Rules for new definitions. An update may violate those that the old definition already violates. */
export interface Requirements extends SchemaRequirements, ConversionRequirements {
  readonly immutableNames: boolean;
  readonly openApiSchema: boolean;
  readonly structuralSchema: boolean;
  readonly prunedDefaults: boolean;
  /** Versions that may exceed the limit of selectable fields; '' is the top level, which applies to all versions. */
  readonly tooManySelectableFields: ReadonlySet<string>;
  readonly knownExpressions: KnownExpressions;
  /** Versions whose schema is unchanged: the cost of their rules is not checked again. */
  readonly unchangedSchemas: ReadonlySet<string>;
}

export const createRequirements: Requirements = {
  validPropertyType: true,
  atomicSetType: true,
  mapListKeys: true,
  recognizedReviewVersion: true,
  validCABundle: false,
  immutableNames: false,
  openApiSchema: true,
  structuralSchema: true,
  prunedDefaults: true,
  tooManySelectableFields: new Set(),
  knownExpressions: { rules: new Set(), messages: new Set() },
  unchangedSchemas: new Set(),
};

/** Returns all schemas of a spec. */
export function schemasOf({ versions = [] }: CustomResourceDefinitionSpec): JsonSchemaProps[] {
  return versions.map(({ schema }) => schema?.openAPIV3Schema as JsonSchemaProps | undefined).filter((schema) => schema !== undefined);
}

/** Returns the rules for an update. Upstream: ValidateCustomResourceDefinitionUpdate. */
export function updateRequirements(next: CustomResourceDefinition, old: CustomResourceDefinition): Requirements {
  const spec = old.spec ?? {};
  const schemas = schemasOf(spec);
  const none = (is: (schema: JsonSchemaProps) => boolean): boolean => !schemas.some((schema) => schemaHas(schema, is));
  const established = isConditionTrue(old, 'Established');
  return {
    validPropertyType: none(({ type }) => type !== undefined && !openApiTypes.includes(type)),
    atomicSetType: none((schema) => setItems(fieldPath(''), schema).length > 0),
    mapListKeys: none((schema) => validateMapListKeys(fieldPath(''), schema).length > 0),
    recognizedReviewVersion: recognizesReviewVersion(spec),
    validCABundle: established && !hasInvalidCABundle(spec),
    immutableNames: established,
    openApiSchema: schemas.length === (spec.versions?.length ?? 0),
    structuralSchema: schemas.every(isStructural),
    prunedDefaults: !schemas.some(hasUnprunedDefaults),
    tooManySelectableFields: tooManySelectableFields(next, old),
    knownExpressions: expressionsIn(schemas),
    unchangedSchemas: unchangedSchemas(next, old),
  };
}

function recognizesReviewVersion({ conversion }: CustomResourceDefinitionSpec): boolean {
  const versions = conversion?.webhook?.conversionReviewVersions ?? [];
  return versions.length === 0 || versions.some((version) => acceptedReviewVersions.includes(version));
}

function hasInvalidCABundle({ conversion }: CustomResourceDefinitionSpec): boolean {
  const { caBundle } = conversion?.webhook?.clientConfig ?? {};
  return caBundle !== undefined && validateCABundle(fieldPath('caBundle'), caBundle).length > 0;
}

function isStructural(schema: JsonSchemaProps): boolean {
  try {
    return validateStructural(fieldPath(''), newStructural(schema)).length === 0;
  } catch (error) {
    if (error instanceof StructuralError) return false;
    throw error;
  }
}

function hasUnprunedDefaults(schema: JsonSchemaProps): boolean {
  return isStructural(schema) && pruneDefaults(newStructural(schema));
}

function tooManySelectableFields(next: CustomResourceDefinition, old: CustomResourceDefinition): ReadonlySet<string> {
  const allowed = new Set<string>();
  const versions = old.spec?.versions ?? [];
  for (const { name = '', selectableFields = [] } of next.spec?.versions ?? []) {
    const before = versions.find((version) => version.name === name)?.selectableFields ?? [];
    if (before.length > maxSelectableFields && deepEqual(selectableFields, before)) allowed.add(name);
  }
  if (allowed.size > 0 && allowed.size === (next.spec?.versions?.length ?? 0)) allowed.add('');
  return allowed;
}

function expressionsIn(schemas: readonly JsonSchemaProps[]): KnownExpressions {
  const rules = new Set<string>();
  const messages = new Set<string>();
  for (const schema of schemas) {
    schemaHas(schema, ({ 'x-kubernetes-validations': validations = [] }) => {
      for (const { rule = '', messageExpression = '' } of validations) {
        rules.add(rule);
        if (messageExpression !== '') messages.add(messageExpression);
      }
      return false;
    });
  }
  return { rules, messages };
}

function unchangedSchemas(next: CustomResourceDefinition, old: CustomResourceDefinition): ReadonlySet<string> {
  const before = new Map((old.spec?.versions ?? []).map(({ name = '', schema }) => [name, schema]));
  const unchanged = (next.spec?.versions ?? []).filter(
    ({ name = '', schema }) => before.has(name) && deepEqual(schema ?? null, before.get(name) ?? null),
  );
  return new Set(unchanged.map(({ name = '' }) => name));
}
