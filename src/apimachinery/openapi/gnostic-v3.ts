import { Buffer } from 'node:buffer';
import {
  any,
  defaultFields,
  double,
  entry,
  extensions,
  type Fields,
  flag,
  integer,
  lengthOf,
  list,
  memberFlag,
  message,
  named,
  optional,
  text,
  texts,
} from './gnostic-wire.ts';
import type { JsonSchema } from './schemas.ts';
import type { V3Document } from './swagger.ts';
import type { Steps } from '#apimachinery/runtime/steps';

/** Encodes one of a value and a reference to it. */
function orReference(value: JsonSchema, encode: (value: JsonSchema) => Fields): Fields {
  if (typeof value.$ref !== 'string') return message(1, encode(value));
  return message(2, [...text(1, value.$ref), ...text(2, value.summary), ...text(3, value.description)]);
}

function schemaOrReference(schema: JsonSchema): Fields {
  return orReference(schema, schemaFields);
}

function schemaFields(schema: JsonSchema): Fields {
  const { additionalProperties } = schema;
  return [
    ...flag(1, schema.nullable),
    ...flag(3, schema.readOnly),
    ...flag(4, schema.writeOnly),
    ...optional(6, schema.externalDocs, externalDocs),
    ...optional(7, schema.example, any),
    ...flag(8, schema.deprecated),
    ...text(9, schema.title),
    ...double(10, schema.multipleOf),
    ...double(11, schema.maximum),
    ...flag(12, schema.exclusiveMaximum),
    ...double(13, schema.minimum),
    ...flag(14, schema.exclusiveMinimum),
    ...integer(15, schema.maxLength),
    ...integer(16, schema.minLength),
    ...text(17, schema.pattern),
    ...integer(18, schema.maxItems),
    ...integer(19, schema.minItems),
    ...flag(20, schema.uniqueItems),
    ...integer(21, schema.maxProperties),
    ...integer(22, schema.minProperties),
    ...texts(23, schema.required),
    ...list(24, schema.enum, any),
    ...text(25, schema.type),
    ...list(26, schema.allOf, schemaOrReference),
    ...list(27, schema.oneOf, schemaOrReference),
    ...list(28, schema.anyOf, schemaOrReference),
    ...optional(29, schema.not, schemaFields),
    ...optional(30, schema.items, (items) => message(1, schemaOrReference(items))),
    ...optional(31, schema.properties, (properties) => named(1, properties, schemaOrReference)),
    ...(typeof additionalProperties === 'boolean'
      ? message(32, memberFlag(2, additionalProperties))
      : optional(32, additionalProperties, (value) => message(1, schemaOrReference(value)))),
    ...optional(33, schema.default, defaultFields),
    ...text(34, schema.description),
    ...text(35, schema.format),
    ...extensions(36, schema),
  ];
}

function externalDocs(docs: JsonSchema): Fields {
  return [...text(1, docs.description), ...text(2, docs.url), ...extensions(3, docs)];
}

function mediaTypes(number: number, content: unknown): Fields {
  return optional(number, content, (types) =>
    named(1, types, (type) => [...optional(1, type.schema, schemaOrReference), ...extensions(5, type)]),
  );
}

function parameterFields(parameter: JsonSchema): Fields {
  return [
    ...text(1, parameter.name),
    ...text(2, parameter.in),
    ...text(3, parameter.description),
    ...flag(4, parameter.required),
    ...flag(5, parameter.deprecated),
    ...flag(6, parameter.allowEmptyValue),
    ...text(7, parameter.style),
    ...flag(8, parameter.explode),
    ...flag(9, parameter.allowReserved),
    ...optional(10, parameter.schema, schemaOrReference),
    ...optional(11, parameter.example, any),
    ...mediaTypes(13, parameter.content),
    ...extensions(14, parameter),
  ];
}

function parameterList(number: number, parameters: unknown): Fields {
  return list(number, parameters, (parameter) => orReference(parameter, parameterFields));
}

function requestBodyFields(body: JsonSchema): Fields {
  return [...text(1, body.description), ...mediaTypes(2, body.content), ...flag(3, body.required), ...extensions(4, body)];
}

function responseOrReference(response: JsonSchema): Fields {
  return orReference(response, ({ description, content, ...rest }) => [
    ...text(1, description),
    ...mediaTypes(3, content),
    ...extensions(5, rest),
  ]);
}

function responseFields(responses: JsonSchema): Fields {
  const { default: byDefault, ...others } = responses;
  const byCode = Object.fromEntries(Object.entries(others).filter(([code]) => !code.startsWith('x-')));
  return [...optional(1, byDefault, responseOrReference), ...named(2, byCode, responseOrReference), ...extensions(3, others)];
}

function operationFields(operation: JsonSchema): Fields {
  return [
    ...texts(1, operation.tags),
    ...text(2, operation.summary),
    ...text(3, operation.description),
    ...optional(4, operation.externalDocs, externalDocs),
    ...text(5, operation.operationId),
    ...parameterList(6, operation.parameters),
    ...optional(7, operation.requestBody, (body) => orReference(body, requestBodyFields)),
    ...optional(8, operation.responses, responseFields),
    ...flag(10, operation.deprecated),
    ...extensions(13, operation),
  ];
}

const methodNumbers: Readonly<Record<string, number>> = { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10, trace: 11 };

function pathFields(item: JsonSchema): Fields {
  return [
    ...text(2, item.summary),
    ...text(3, item.description),
    ...Object.entries(methodNumbers).flatMap(([method, number]) => optional(number, item[method], operationFields)),
    ...parameterList(13, item.parameters),
    ...extensions(14, item),
  ];
}

function securityScheme(scheme: JsonSchema): Fields {
  return orReference(scheme, (own) => [
    ...text(1, own.type),
    ...text(2, own.description),
    ...text(3, own.name),
    ...text(4, own.in),
    ...text(5, own.scheme),
    ...text(6, own.bearerFormat),
    ...text(8, own.openIdConnectUrl),
    ...extensions(9, own),
  ]);
}

/**
 * Encodes a document as gnostic's `openapi.v3.Document`, which Go clients parse faster than JSON, in a buffer for each path and schema.
 * Upstream: google/gnostic-models, openapiv3/OpenAPIv3.proto; kube-openapi/pkg/handler3 (ToV3ProtoBinary).
 */
export function* gnosticV3Document({ info, paths, components }: V3Document): Steps<Buffer[]> {
  const { title, description, version } = info as JsonSchema;
  const head = Buffer.concat([...text(1, '3.0.0'), ...message(2, [...text(1, title), ...text(2, description), ...text(6, version)])]);
  const ofPaths = yield* entries(paths, pathFields);
  const { schemas, securitySchemes } = components;
  const parts: Buffer[] = [];
  if (schemas !== undefined) parts.push(...withLength(1, yield* entries(schemas, schemaOrReference)));
  if (securitySchemes !== undefined) parts.push(Buffer.concat(message(7, named(1, securitySchemes, securityScheme))));
  return [head, ...withLength(4, ofPaths), ...withLength(5, parts)];
}

function* entries(record: Readonly<Record<string, JsonSchema>>, encode: (value: JsonSchema) => Fields): Steps<Buffer[]> {
  const encoded: Buffer[] = [];
  for (const [name, value] of Object.entries(record)) {
    encoded.push(entry(1, name, encode(value)));
    yield;
  }
  return encoded;
}

function withLength(number: number, parts: readonly Buffer[]): Buffer[] {
  return [lengthOf(number, parts), ...parts];
}
