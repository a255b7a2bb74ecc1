import { metaTables } from '#apimachinery/meta/schema/tables';
import { componentReference, type JsonSchema } from '#apimachinery/openapi/schemas';
import { deepEqual } from '#apimachinery/runtime/equality';
import { isJsonObject, mapValues } from '#apimachinery/patch/own-property';
import { compareUtf8 } from '#apimachinery/runtime/json/json';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const listMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';
const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

const describe = (type: string, field: string): string => metaTables.description(type)?.[1][field] ?? '';

/** Returns the schemas of apiVersion and kind, which all kinds have. */
export function typeMeta(): Record<string, JsonSchema> {
  return {
    apiVersion: { description: describe('meta_v1.PartialObjectMetadata', 'apiVersion'), type: 'string' },
    kind: { description: describe('meta_v1.PartialObjectMetadata', 'kind'), type: 'string' },
  };
}

export const metadataSchema = (): JsonSchema => ({
  description: describe('meta_v1.PartialObjectMetadata', 'metadata'),
  allOf: [componentReference(objectMeta)],
});
export const listMetadataSchema = (): JsonSchema => ({
  description: describe('meta_v1.PartialObjectMetadataList', 'metadata'),
  allOf: [componentReference(listMeta)],
});

/** Schema keywords in the order of kube-openapi; extensions follow by name. Upstream: kube-openapi/pkg/validation/spec/schema.go. */
const keywords = [
  ...['id', '$ref', '$schema', 'description', 'type', 'nullable', 'format', 'title', 'default', 'maximum', 'exclusiveMaximum'],
  ...['minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf'],
  ...['enum', 'maxProperties', 'minProperties', 'required', 'items', 'allOf', 'oneOf', 'anyOf', 'not', 'properties'],
  ...['additionalProperties', 'patternProperties', 'dependencies', 'additionalItems', 'definitions', 'externalDocs', 'example'],
];
const places: ReadonlyMap<string, number> = new Map(keywords.map((keyword, i) => [keyword, i]));

/** Returns a schema with its keywords in the order of kube-openapi. */
export function inOpenApiOrder(schema: JsonSchema): JsonSchema {
  const placeOf = (keyword: string): number => places.get(keyword) ?? keywords.length;
  return Object.fromEntries(Object.entries(schema).sort(([a], [b]) => placeOf(a) - placeOf(b) || compareUtf8(a, b)));
}

/** Returns a record sorted by key. */
export function sortKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => compareUtf8(a, b)));
}

const intOrString: JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];
const isIntOrString = (anyOf: unknown): boolean => deepEqual(anyOf, intOrString);

/**
 * Returns a definition's schema as OpenAPI 3.0 publishes it: int-or-string is expanded, and embedded resources have metadata. Documents of
 * 2.0 describe nothing that preserves unknown fields. Upstream: apiextensions-apiserver/pkg/controller/openapi/builder (buildKubeNative),
 * schema/unfold.go.
 */
export function publishedSchema(props: JsonSchemaProps, v2: boolean): JsonSchema {
  const schema: JsonSchema = {};
  for (const [keyword, value] of Object.entries(props)) schema[keyword] = publishedKeyword(keyword, value, v2);
  if (props['x-kubernetes-int-or-string'] && !isIntOrString(props.anyOf) && !isIntOrString(props.allOf?.[0]?.anyOf)) {
    if (props.anyOf) schema['allOf'] = [{ anyOf: intOrString }, ...((schema['allOf'] as JsonSchema[] | undefined) ?? [])];
    else schema['anyOf'] = intOrString;
  }
  if (props['x-kubernetes-embedded-resource'] && !(v2 && props['x-kubernetes-preserve-unknown-fields'])) addEmbeddedProperties(schema);
  return inOpenApiOrder(schema);
}

function publishedKeyword(keyword: string, value: unknown, v2: boolean): unknown {
  const published = (props: JsonSchemaProps): JsonSchema => publishedSchema(props, v2);
  switch (keyword) {
    case 'properties':
      return mapValues(value as Record<string, JsonSchemaProps>, published);
    case 'items':
    case 'not':
    case 'additionalProperties':
      return isJsonObject(value) ? published(value) : value;
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return (value as JsonSchemaProps[]).map(published);
    case 'x-kubernetes-validations':
      return v2 ? (value as Record<string, unknown>[]).map(sortKeys) : value;
    case 'enum':
    case 'example':
      return v2 ? withFloats(value) : value;
    default:
      return value;
  }
}

/** Returns a value with its numbers as float64, since Go decodes documents of 2.0 without a type. */
function withFloats(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(withFloats);
  return isJsonObject(value) ? mapValues(value, withFloats) : value;
}

function addEmbeddedProperties(schema: JsonSchema): void {
  const apiVersion = `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`;
  const kind = `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`;
  schema['properties'] = sortKeys({
    ...(schema['properties'] as Record<string, JsonSchema> | undefined),
    apiVersion: { description: apiVersion, type: 'string' },
    kind: { description: kind, type: 'string' },
    metadata: metadataSchema(),
  });
  const required = (schema['required'] as string[] | undefined) ?? [];
  schema['required'] = [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))];
}

/**
 * Returns the schema without features that OpenAPI 2.0 lacks or old clients misread: nullable values and lists without items accept any
 * type, and unknown fields are not described. Upstream: controller/openapi/v2/conversion.go.
 */
export function withoutV3(props: JsonSchemaProps): JsonSchemaProps {
  const { allOf: _, anyOf: __, oneOf: ___, not: ____, ...rest } = props;
  const schema: JsonSchemaProps = rest;
  if (isJsonObject(schema.items)) schema.items = withoutV3(schema.items);
  if (isJsonObject(schema.additionalProperties)) schema.additionalProperties = withoutV3(schema.additionalProperties);
  if (schema.properties) schema.properties = mapValues(schema.properties, withoutV3);
  dropNullableRequired(schema, props);
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.nullable || preserves) {
    delete schema.items;
    delete schema.properties;
  }
  if (schema.nullable || (schema.type === 'array' && schema.items === undefined) || (preserves && schema.type === 'object'))
    delete schema.type;
  delete schema.nullable;
  return schema;
}

function dropNullableRequired(schema: JsonSchemaProps, { properties = {}, additionalProperties }: JsonSchemaProps): void {
  if (!schema.required) return;
  const required =
    isJsonObject(additionalProperties) && additionalProperties['nullable'] === true
      ? []
      : schema.required.filter((name) => !(Object.hasOwn(properties, name) && properties[name]?.nullable));
  if (required.length > 0) schema.required = required;
  else delete schema.required;
}
