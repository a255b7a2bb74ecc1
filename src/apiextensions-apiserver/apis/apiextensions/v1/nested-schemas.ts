import { newBadRequest } from '#apimachinery/api/errors';
import { isJsonObject, setOwn } from '#apimachinery/patch/own-property';
import { DecodeError, sortedKeys } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { decode } from '#apimachinery/runtime/decode';
import { addSubschemas, type JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { schema } from '#apiextensions-apiserver/schema/schema';

/** Maximum depth of schemas, far above real ones: recursive functions over schemas use the engine's stack. */
const maxDepth = 500;

/**
 * Decodes, in place, values that are a schema or something else (`items`, `additionalProperties`), which the schema type keeps raw. Unknown
 * fields and zero values are dropped silently, and members are in the order of Go's JSON. Throws BadRequest. Upstream:
 * apiextensions/v1/marshal.go.
 */
export function decodeNestedSchemas(root: JsonSchemaProps): void {
  let current = root;
  const fail: Fail = (keyword, message) => {
    throw cannotBeHandled(within([...(keywordsTo(root, current) ?? []), keyword], message), message);
  };
  // Level by level, which allocates nothing per schema: a definition may have a hundred thousand.
  let level = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) throw cannotBeHandled('exceeded max depth');
    const nested: JsonSchemaProps[] = [];
    for (const props of level) {
      current = props;
      decodeParts(props, fail);
      addSubschemas(props, nested);
    }
    level = nested;
  }
}

function decodeParts(props: JsonSchemaProps, fail: Fail): void {
  decodeItems(props, fail);
  decodeDependencies(props, fail);
  sortValues(props);
  for (const keyword of ['additionalProperties', 'additionalItems'] as const) {
    const value = props[keyword];
    if (value === undefined) continue;
    if (isJsonObject(value)) props[keyword] = decodeSchema(value, keyword, fail);
    else if (typeof value !== 'boolean') fail(keyword, 'boolean or JSON schema expected');
  }
}

/** Rejects the value of a keyword of the current schema. */
type Fail = (keyword: string, message: string) => never;

function decodeItems(props: JsonSchemaProps, fail: Fail): void {
  const { items } = props;
  if (isJsonObject(items)) props.items = decodeSchema(items, 'items', fail);
  else if (Array.isArray(items) && items.length > 0) props.items = items.map((item) => decodeSchema(item, 'items', fail));
  else if (items !== undefined) delete props.items;
}

function decodeDependencies({ dependencies }: JsonSchemaProps, fail: Fail): void {
  if (!isJsonObject(dependencies)) return;
  for (const [name, value] of Object.entries(dependencies))
    if (isJsonObject(value)) setOwn(dependencies, name, decodeSchema(value, 'dependencies', fail));
}

const propsType = (): StructType => schema.struct('apiextensions_v1.JSONSchemaProps');
const ruleType = (): StructType => schema.struct('apiextensions_v1.ValidationRule');

type Json = Record<string, unknown>;

/** Returns the fields of a struct in declaration order. */
function fieldsInOrder(type: StructType, object: Json, part: (name: string, value: unknown) => unknown): Json {
  const ordered: Json = {};
  for (const name of type.fields.keys()) if (object[name] !== undefined) ordered[name] = part(name, object[name]);
  return ordered;
}

/** Returns a schema in the order of its type, up to the parts that are decoded separately. */
function inOrder(props: JsonSchemaProps): JsonSchemaProps {
  return fieldsInOrder(propsType(), props as Json, (name, value) => {
    switch (name) {
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return (value as JsonSchemaProps[]).map(inOrder);
      case 'not':
        return inOrder(value as JsonSchemaProps);
      case 'properties':
      case 'patternProperties':
      case 'definitions':
        return mapInOrder(value as Json, (one) => inOrder(one as JsonSchemaProps));
      case 'x-kubernetes-validations':
        return (value as Json[]).map((rule) => fieldsInOrder(ruleType(), rule, (_, text) => text));
      default:
        return value;
    }
  });
}

function mapInOrder(map: Json, part: (value: unknown) => unknown): Json {
  const ordered: Json = {};
  for (const key of sortedKeys(map)) setOwn(ordered, key, part(map[key]));
  return ordered;
}

/** Sorts the keys of values, which upstream decodes and encodes again. */
function sortValues(props: JsonSchemaProps): void {
  for (const name of ['default', 'example', 'enum'] as const) {
    const value: unknown = props[name];
    if (typeof value === 'object' && value !== null) (props as Json)[name] = sorted(value);
  }
}

/** Returns a value with sorted keys. Values nested deeper than a schema's value can be are unchanged. */
function sorted(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1));
  return isJsonObject(value) ? mapInOrder(value, (one) => sorted(one, depth + 1)) : value;
}

/** Keywords whose values are maps of schemas; Go's errors leave out their keys. */
const mapsOfSchemas = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;
const keywordsWithSchemas = [
  'items',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'additionalProperties',
  'additionalItems',
  ...mapsOfSchemas,
] as const;

/** Returns the keywords on the path from a schema to a nested one. */
function keywordsTo(root: JsonSchemaProps, wanted: JsonSchemaProps): string[] | undefined {
  const pending: [Json, string[]][] = [[root as Json, []]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [props, path] = next;
    if (props === (wanted as Json)) return path;
    for (const keyword of keywordsWithSchemas) {
      const value = props[keyword];
      const isMap = (mapsOfSchemas as readonly string[]).includes(keyword) && isJsonObject(value);
      const schemas: unknown[] = isMap ? Object.values(value) : Array.isArray(value) ? value : [value];
      for (const one of schemas) if (isJsonObject(one)) pending.push([one, [...path, keyword]]);
    }
  }
  return undefined;
}

/** Formats an error of a nested schema as Go does: with the names of the fields around it. */
function within(keywords: readonly string[], message: string): string {
  const place = `JSONSchemaProps.spec.versions.schema.openAPIV3Schema.${keywords.join('.')}`;
  return message
    .replace(/(?<=^json: cannot unmarshal \w+(?: \S+)? into Go struct field )JSONSchemaProps\./, `${place}.`)
    .replace(/(?<=^json: cannot unmarshal \w+ into Go )value(?= of type )/, `struct field ${place}`);
}

function decodeSchema(value: unknown, keyword: string, fail: Fail): JsonSchemaProps {
  try {
    return inOrder(decode<JsonSchemaProps>(propsType(), value, { strict: false }).object);
  } catch (error) {
    if (error instanceof DecodeError) return fail(keyword, error.message);
    throw error;
  }
}

/**
 * Returns an error with the reason as its cause, for which a patch has its own message. The cause of the reason is its text without the
 * names of the fields around it, for an applied configuration.
 */
function cannotBeHandled(reason: string, bare = reason): Error {
  const error = newBadRequest(`CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: ${reason}`);
  error.cause = new DecodeError(reason, { cause: new DecodeError(bare) });
  return error;
}
