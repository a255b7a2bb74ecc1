import { isJsonObject } from '../patch/own-property.ts';

/** A rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  rule?: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A parsed number of a schema: a bigint beyond 2^53. Large bounds are compared as `schemaNumber`, and published exactly. */
export type SchemaNumber = number | bigint;

/** Returns a number of a schema for comparisons. */
export function schemaNumber(value: SchemaNumber): number;
export function schemaNumber(value: SchemaNumber | undefined): number | undefined;
export function schemaNumber(value: SchemaNumber | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/**
 * A JSON schema of a CustomResourceDefinition, decoded, so that zero values are absent. Values that are a schema or something else
 * (`items`, `additionalProperties`) are plain JSON. Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/types_jsonschema.go.
 */
export interface JsonSchemaProps {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: unknown;
  maximum?: SchemaNumber;
  exclusiveMaximum?: boolean;
  minimum?: SchemaNumber;
  exclusiveMinimum?: boolean;
  maxLength?: SchemaNumber;
  minLength?: SchemaNumber;
  pattern?: string;
  maxItems?: SchemaNumber;
  minItems?: SchemaNumber;
  uniqueItems?: boolean;
  multipleOf?: SchemaNumber;
  enum?: unknown[];
  maxProperties?: SchemaNumber;
  minProperties?: SchemaNumber;
  required?: string[];
  items?: unknown;
  allOf?: JsonSchemaProps[];
  oneOf?: JsonSchemaProps[];
  anyOf?: JsonSchemaProps[];
  not?: JsonSchemaProps;
  properties?: Record<string, JsonSchemaProps>;
  additionalProperties?: unknown;
  patternProperties?: Record<string, JsonSchemaProps>;
  dependencies?: Record<string, unknown>;
  additionalItems?: unknown;
  definitions?: Record<string, JsonSchemaProps>;
  externalDocs?: { description?: string; url?: string };
  example?: unknown;
  nullable?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
}

/** Returns the common schema of all items; undefined if there is none, or one per index. */
export function itemsSchema({ items }: JsonSchemaProps): JsonSchemaProps | undefined {
  return isJsonObject(items) ? items : undefined;
}

/** Returns the schemas of items by index; structural schemas have none. */
export function itemsSchemas({ items }: JsonSchemaProps): readonly JsonSchemaProps[] {
  return Array.isArray(items) ? (items as JsonSchemaProps[]) : [];
}

/** Returns the schema of additional properties; undefined if there is none, or only a boolean. */
export function additionalPropertiesSchema({ additionalProperties }: JsonSchemaProps): JsonSchemaProps | undefined {
  return isJsonObject(additionalProperties) ? additionalProperties : undefined;
}

/** True for `additionalProperties: false`. */
export function forbidsAdditionalProperties({ additionalProperties }: JsonSchemaProps): boolean {
  return additionalProperties === false;
}

/** True if a schema or any nested one satisfies the predicate. Upstream: validation.SchemaHas. */
export function schemaHas(schema: JsonSchemaProps | undefined, is: (schema: JsonSchemaProps) => boolean): boolean {
  const pending = schema ? [schema] : [];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (is(next)) return true;
    addSubschemas(next, pending);
  }
  return false;
}

/** Appends the direct subschemas of a schema; allocates nothing else, since large definitions have tens of thousands. */
export function addSubschemas(schema: JsonSchemaProps, found: JsonSchemaProps[]): void {
  const { not, items, properties, additionalProperties, additionalItems } = schema;
  if (isJsonObject(items)) found.push(items);
  else if (Array.isArray(items)) addList(items as JsonSchemaProps[], found);
  addList(schema.allOf, found);
  addList(schema.anyOf, found);
  addList(schema.oneOf, found);
  if (not) found.push(not);
  addValues(properties, found);
  addValues(schema.patternProperties, found);
  addValues(schema.definitions, found);
  if (isJsonObject(additionalProperties)) found.push(additionalProperties);
  if (isJsonObject(additionalItems)) found.push(additionalItems);
  if (schema.dependencies)
    for (const dependency of Object.values(schema.dependencies)) if (isJsonObject(dependency)) found.push(dependency);
}

function addList(schemas: readonly JsonSchemaProps[] | undefined, found: JsonSchemaProps[]): void {
  if (schemas) for (const schema of schemas) found.push(schema);
}

function addValues(schemas: Readonly<Record<string, JsonSchemaProps>> | undefined, found: JsonSchemaProps[]): void {
  if (schemas) for (const name in schemas) found.push(schemas[name] as JsonSchemaProps);
}
