import { newBadRequest } from '#apimachinery/api/errors';
import { isJsonObject, setOwn } from '#apimachinery/patch/own-property';
import { decodeSteps } from '#apimachinery/runtime/decode-steps';
import { DecodeError, sortedKeysSteps } from '#apimachinery/runtime/json/json';
import { isContainer } from '#apimachinery/runtime/numbers';
import type { StructType } from '#apimachinery/runtime/schema';
import { decode } from '#apimachinery/runtime/decode';
import type { Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';
import { addSubschemas, type JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { schema } from '#apiextensions-apiserver/schema/schema';

/** Maximum depth of schemas, far above real ones: recursive functions over schemas use the engine's stack. */
const maxDepth = 500;

/**
 * Decodes, in place, values that are a schema or something else (`items`, `additionalProperties`), which the schema type keeps raw. Unknown
 * fields and zero values are dropped silently, and members are in the order of Go's JSON. Throws BadRequest. Upstream:
 * apiextensions/v1/marshal.go. Yields to the event loop: a definition may have a million schemas.
 */
export function* decodeNestedSchemas(root: JsonSchemaProps): Steps<void> {
  let current = root;
  const fail: Fail = (keyword, message) => {
    throw cannotBeHandled(within([...(keywordsTo(root, current) ?? []), keyword], message), message);
  };
  // Level by level, which allocates nothing per schema: a definition may have a hundred thousand.
  let level = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) throw cannotBeHandled('exceeded max depth');
    const nested: JsonSchemaProps[] = [];
    for (const [index, props] of level.entries()) {
      if (index % schemasPerStep === 0) yield;
      current = props;
      if (hasParts(props)) yield* decodeParts(props, fail);
      addSubschemas(props, nested);
    }
    level = nested;
  }
}

/** True if a schema has values that are decoded separately, or sorted. */
function hasParts(props: JsonSchemaProps): boolean {
  return keywordsWithParts.some((keyword) => props[keyword] !== undefined);
}

function* decodeParts(props: JsonSchemaProps, fail: Fail): Steps<void> {
  yield* decodeItems(props, fail);
  yield* decodeDependencies(props, fail);
  yield* sortValues(props);
  for (const keyword of ['additionalProperties', 'additionalItems'] as const) {
    const value = props[keyword];
    if (value === undefined) continue;
    if (isJsonObject(value)) props[keyword] = yield* decodeSchema(value, keyword, fail);
    else if (typeof value !== 'boolean') fail(keyword, 'boolean or JSON schema expected');
  }
}

/** Rejects the value of a keyword of the current schema. */
type Fail = (keyword: string, message: string) => never;

function* decodeItems(props: JsonSchemaProps, fail: Fail): Steps<void> {
  const { items } = props;
  if (isJsonObject(items)) props.items = yield* decodeSchema(items, 'items', fail);
  else if (Array.isArray(items) && items.length > 0) props.items = yield* mapped(items, (item) => decodeSchema(item, 'items', fail));
  else if (items !== undefined) delete props.items;
}

function* decodeDependencies({ dependencies }: JsonSchemaProps, fail: Fail): Steps<void> {
  if (!isJsonObject(dependencies)) return;
  for (const [index, name] of keysOf(dependencies).entries()) {
    if (index % schemasPerStep === 0) yield;
    const value = dependencies[name];
    if (isJsonObject(value)) setOwn(dependencies, name, yield* decodeSchema(value, 'dependencies', fail));
  }
}

const propsType = (): StructType => schema.struct('apiextensions_v1.JSONSchemaProps');
const ruleType = (): StructType => schema.struct('apiextensions_v1.ValidationRule');

type Json = Record<string, unknown>;

/** Number of schemas, or values, between two yields. */
const schemasPerStep = 256;

/** Returns the fields of a struct in declaration order. */
function fieldsInOrder(type: StructType, object: Json): Json {
  const ordered: Json = {};
  for (const name of type.fields.keys()) if (object[name] !== undefined) ordered[name] = object[name];
  return ordered;
}

/** Returns a schema in the order of its type, up to the parts that are decoded separately. */
function* inOrder(props: JsonSchemaProps): Steps<JsonSchemaProps> {
  const ordered = fieldsInOrder(propsType(), props as Json) as JsonSchemaProps;
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
    if (ordered[name] !== undefined) ordered[name] = yield* mapped(ordered[name], inOrder);
  if (ordered.not !== undefined) ordered.not = yield* inOrder(ordered.not);
  for (const name of ['properties', 'patternProperties', 'definitions'] as const)
    if (ordered[name] !== undefined) ordered[name] = yield* mapInOrder(ordered[name], inOrder);
  const rules = ordered['x-kubernetes-validations'];
  if (rules !== undefined) {
    const rulesInOrder = rules.map((rule) => fieldsInOrder(ruleType(), rule as Json));
    ordered['x-kubernetes-validations'] = rulesInOrder;
  }
  return ordered;
}

function* mapInOrder<T>(map: Readonly<Record<string, T>>, part: (value: T) => Steps<T>): Steps<Record<string, T>> {
  const ordered: Record<string, T> = {};
  for (const [index, key] of (yield* sortedKeysSteps(map)).entries()) {
    if (index % schemasPerStep === 0) yield;
    setOwn(ordered, key, yield* part(map[key]!));
  }
  return ordered;
}

/** Returns the results for the items of a list. */
function* mapped<T, R>(items: readonly T[], part: (item: T) => Steps<R>): Steps<R[]> {
  const results: R[] = [];
  for (const item of items) {
    if (results.length % schemasPerStep === 0) yield;
    results.push(yield* part(item));
  }
  return results;
}

/** Sorts the keys of values, which upstream decodes and encodes again. */
function* sortValues(props: JsonSchemaProps): Steps<void> {
  for (const name of ['default', 'example', 'enum'] as const) {
    const value: unknown = props[name];
    if (typeof value === 'object' && value !== null) (props as Json)[name] = yield* sorted(value);
  }
}

/** Returns a value with sorted keys. Values nested deeper than a schema's value can be are unchanged. */
function* sorted(value: unknown, depth = 0): Steps<unknown> {
  if (depth > maxDepth || !isContainer(value)) return value;
  const within = (one: unknown): Steps<unknown> => sorted(one, depth + 1);
  return Array.isArray(value) ? yield* mapped(value, within) : yield* mapInOrder(value as Json, within);
}

/** Keywords whose values are maps of schemas; Go's errors leave out their keys. */
const mapsOfSchemas = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;
const keywordsWithParts = ['items', 'dependencies', 'default', 'example', 'enum', 'additionalProperties', 'additionalItems'] as const;
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

function* decodeSchema(value: unknown, keyword: string, fail: Fail): Steps<JsonSchemaProps> {
  try {
    const type = propsType();
    const { object } = hasContainers(value)
      ? yield* decodeSteps<JsonSchemaProps>(type, value, { strict: false })
      : decode<JsonSchemaProps>(type, value, { strict: false });
    return yield* inOrder(object);
  } catch (error) {
    if (error instanceof DecodeError) return fail(keyword, error.message);
    throw error;
  }
}

/** True if a value may be too large to be decoded in one step. */
function hasContainers(value: unknown): boolean {
  return isJsonObject(value) && keysOf(value).some((key) => isContainer(value[key]));
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
