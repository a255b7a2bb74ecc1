import { deepEqual } from '#apimachinery/runtime/equality';
import { encodeRawJson, sortedKeys } from '#apimachinery/runtime/json/json';
import { isJsonObject } from '#apimachinery/patch/own-property';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { JsonText } from '#apimachinery/validation/field';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '#apiextensions-apiserver/schema/apiextensions_v1.gen';

/** A spec in the form of upstream's internal type, which has the fields that all versions share at the top. Errors name its fields. */
export interface InternalSpec {
  readonly spec: CustomResourceDefinitionSpec;
  /** The versions without the shared fields. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
  readonly validation: { readonly openAPIV3Schema?: JsonSchemaProps } | undefined;
  readonly subresources: CustomResourceSubresources | undefined;
  readonly additionalPrinterColumns: readonly CustomResourceColumnDefinition[];
  readonly selectableFields: readonly SelectableField[];
}

type Common = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';

/**
 * Converts a spec to the internal form. Upstream: apiextensions/v1/conversion.go
 * (Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec).
 */
export function internalSpec(spec: CustomResourceDefinitionSpec): InternalSpec {
  const versions = spec.versions ?? [];
  const [first] = versions;
  const common = (['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] satisfies Common[]).filter((field) =>
    versions.every((version) => deepEqual(version[field] ?? null, first?.[field] ?? null)),
  );
  const shared = <K extends Common>(field: K): CustomResourceDefinitionVersion[K] | undefined =>
    common.includes(field as never) ? first?.[field] : undefined;
  return {
    spec,
    versions: versions.map((version) => {
      const own = { ...version };
      for (const field of common) delete own[field];
      return own;
    }),
    validation: shared('schema'),
    subresources: shared('subresources'),
    additionalPrinterColumns: shared('additionalPrinterColumns') ?? [],
    selectableFields: shared('selectableFields') ?? [],
  };
}

type Json = Record<string, unknown>;

/** Formats a schema as Go prints the internal type, whose fields have no JSON names. */
export function internalSchemaText(schema: JsonSchemaProps): JsonText {
  return new JsonText(encodeRawJson(schemaJson(schema)));
}

/** Formats a rule of `x-kubernetes-validations` as Go prints the internal type. */
export function internalRuleText(rule: NonNullable<JsonSchemaProps['x-kubernetes-validations']>[number]): JsonText {
  return new JsonText(encodeRawJson(ruleJson(rule)));
}

/** Formats versions as Go prints them; undefined is an absent list. */
export function internalVersionsText(versions: readonly CustomResourceDefinitionVersion[] | undefined): JsonText {
  return new JsonText(encodeRawJson(versions?.map(versionJson) ?? null));
}

const listOf = <T>(list: readonly T[] | undefined, json: (item: T) => unknown): unknown[] | null => (list ? list.map(json) : null);

function mapOf(map: Readonly<Record<string, JsonSchemaProps>> | undefined): Json | null {
  if (!map) return null;
  return Object.fromEntries(sortedKeys(map).map((key) => [key, schemaJson(map[key]!)]));
}

function schemaOrBool(value: unknown): Json | null {
  if (value === undefined) return null;
  return { Allows: value !== false, Schema: isJsonObject(value) ? schemaJson(value) : null };
}

function ruleJson(rule: NonNullable<JsonSchemaProps['x-kubernetes-validations']>[number]): Json {
  return {
    Rule: rule.rule ?? '',
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

function itemsJson(items: unknown): Json | null {
  if (items === undefined) return null;
  return {
    Schema: isJsonObject(items) ? schemaJson(items) : null,
    JSONSchemas: Array.isArray(items) ? (items as JsonSchemaProps[]).map(schemaJson) : null,
  };
}

function schemaJson(schema: JsonSchemaProps): Json {
  return {
    ID: schema.id ?? '',
    Schema: schema.$schema ?? '',
    Ref: schema.$ref ?? null,
    Description: schema.description ?? '',
    Type: schema.type ?? '',
    Nullable: schema.nullable ?? false,
    Format: schema.format ?? '',
    Title: schema.title ?? '',
    Default: schema.default ?? null,
    Maximum: schema.maximum ?? null,
    ExclusiveMaximum: schema.exclusiveMaximum ?? false,
    Minimum: schema.minimum ?? null,
    ExclusiveMinimum: schema.exclusiveMinimum ?? false,
    MaxLength: schema.maxLength ?? null,
    MinLength: schema.minLength ?? null,
    Pattern: schema.pattern ?? '',
    MaxItems: schema.maxItems ?? null,
    MinItems: schema.minItems ?? null,
    UniqueItems: schema.uniqueItems ?? false,
    MultipleOf: schema.multipleOf ?? null,
    Enum: schema.enum ?? null,
    MaxProperties: schema.maxProperties ?? null,
    MinProperties: schema.minProperties ?? null,
    Required: schema.required ?? null,
    Items: itemsJson(schema.items),
    AllOf: listOf(schema.allOf, schemaJson),
    OneOf: listOf(schema.oneOf, schemaJson),
    AnyOf: listOf(schema.anyOf, schemaJson),
    Not: schema.not ? schemaJson(schema.not) : null,
    Properties: mapOf(schema.properties),
    AdditionalProperties: schemaOrBool(schema.additionalProperties),
    PatternProperties: mapOf(schema.patternProperties),
    Dependencies: schema.dependencies ?? null,
    AdditionalItems: schemaOrBool(schema.additionalItems),
    Definitions: mapOf(schema.definitions),
    ExternalDocs: schema.externalDocs ? { Description: schema.externalDocs.description ?? '', URL: schema.externalDocs.url ?? '' } : null,
    Example: schema.example ?? null,
    XPreserveUnknownFields: schema['x-kubernetes-preserve-unknown-fields'] ?? null,
    XEmbeddedResource: schema['x-kubernetes-embedded-resource'] ?? false,
    XIntOrString: schema['x-kubernetes-int-or-string'] ?? false,
    XListMapKeys: schema['x-kubernetes-list-map-keys'] ?? null,
    XListType: schema['x-kubernetes-list-type'] ?? null,
    XMapType: schema['x-kubernetes-map-type'] ?? null,
    XValidations: listOf(schema['x-kubernetes-validations'], ruleJson),
  };
}

function versionJson(version: CustomResourceDefinitionVersion): Json {
  const { schema, subresources } = version;
  const scale = subresources?.scale;
  return {
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: schema ? { OpenAPIV3Schema: schema.openAPIV3Schema ? schemaJson(schema.openAPIV3Schema as JsonSchemaProps) : null } : null,
    Subresources: subresources
      ? {
          Status: subresources.status ? {} : null,
          Scale: scale
            ? {
                SpecReplicasPath: scale.specReplicasPath ?? '',
                StatusReplicasPath: scale.statusReplicasPath ?? '',
                LabelSelectorPath: scale.labelSelectorPath ?? null,
              }
            : null,
        }
      : null,
    AdditionalPrinterColumns: listOf(version.additionalPrinterColumns, (column) => ({
      Name: column.name ?? '',
      Type: column.type ?? '',
      Format: column.format ?? '',
      Description: column.description ?? '',
      Priority: column.priority ?? 0,
      JSONPath: column.jsonPath ?? '',
    })),
    SelectableFields: listOf(version.selectableFields, ({ jsonPath }) => ({ JSONPath: jsonPath ?? '' })),
  };
}
