import { newBadRequest } from '#apimachinery/api/errors';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { DecodeError } from '#apimachinery/runtime/json';
import { decode } from '#apimachinery/runtime/decode';
import { type JsonSchemaProps, subschemas } from '#apimachinery/structural/json-schema-props';
import { schema } from '#apiextensions-apiserver/schema/schema';

/** No real schema comes near; what walks schemas uses the engine's stack. */
const maxDepth = 500;

/**
 * Decodes, in place, what is either a schema or something else (`items`, `additionalProperties`), which the type of
 * definitions leaves as it is: unknown fields and zero values go, without being told of. Throws BadRequest.
 * Upstream: apiextensions/v1/marshal.go.
 */
export function decodeNestedSchemas(root: JsonSchemaProps): void {
  const pending: (readonly [JsonSchemaProps, number])[] = [[root, 1]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [props, depth] = next;
    if (depth > maxDepth) throw cannotBeHandled('exceeded max depth');
    decodeItems(props);
    for (const keyword of ['additionalProperties', 'additionalItems'] as const) {
      const value = props[keyword];
      if (value === undefined) continue;
      if (isJsonObject(value)) props[keyword] = decodeSchema(value);
      else if (typeof value !== 'boolean') throw cannotBeHandled('boolean or JSON schema expected');
    }
    for (const subschema of subschemas(props)) pending.push([subschema, depth + 1]);
  }
}

function decodeItems(props: JsonSchemaProps): void {
  const { items } = props;
  if (isJsonObject(items)) props.items = decodeSchema(items);
  else if (Array.isArray(items) && items.length > 0) props.items = items.map((item) => decodeSchema(item));
  else delete props.items;
}

function decodeSchema(value: unknown): JsonSchemaProps {
  try {
    return decode<JsonSchemaProps>(schema.struct('apiextensions_v1.JSONSchemaProps'), value, { strict: false }).object;
  } catch (error) {
    if (error instanceof DecodeError) throw cannotBeHandled(error.message);
    throw error;
  }
}

function cannotBeHandled(reason: string): Error {
  return newBadRequest(`CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: ${reason}`);
}
