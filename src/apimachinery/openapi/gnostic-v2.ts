import { Buffer } from 'node:buffer';
import {
  any,
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
  none,
  optional,
  text,
  texts,
} from './gnostic-wire.ts';
import type { JsonSchema } from './schemas.ts';
import type { SwaggerParameter, SwaggerPart } from './swagger.ts';

function schemaFields(schema: JsonSchema): Fields {
  const { additionalProperties, type, items, allOf, properties } = schema;
  return [
    ...text(1, schema.$ref),
    ...text(2, schema.format),
    ...text(3, schema.title),
    ...text(4, schema.description),
    ...double(6, schema.multipleOf),
    ...double(7, schema.maximum),
    ...flag(8, schema.exclusiveMaximum),
    ...double(9, schema.minimum),
    ...flag(10, schema.exclusiveMinimum),
    ...integer(11, schema.maxLength),
    ...integer(12, schema.minLength),
    ...text(13, schema.pattern),
    ...integer(14, schema.maxItems),
    ...integer(15, schema.minItems),
    ...flag(16, schema.uniqueItems),
    ...integer(17, schema.maxProperties),
    ...integer(18, schema.minProperties),
    ...texts(19, schema.required),
    ...list(20, schema.enum, any),
    ...(typeof additionalProperties === 'object' && additionalProperties !== null
      ? message(21, message(1, schemaFields(additionalProperties as JsonSchema)))
      : none),
    ...(typeof additionalProperties === 'boolean' ? message(21, memberFlag(2, additionalProperties)) : none),
    ...(typeof type === 'string' ? message(22, texts(1, [type])) : none),
    ...(items ? message(23, message(1, schemaFields(items as JsonSchema))) : none),
    ...list(24, allOf, schemaFields),
    ...(properties ? message(25, named(1, properties, schemaFields)) : none),
    ...optional(30, schema.example, any),
    ...extensions(31, schema),
  ];
}

function parameterFields(parameter: SwaggerParameter): Fields {
  const { in: place, name, description, required, type, uniqueItems } = parameter;
  if (place === 'body') {
    return message(1, [
      ...text(1, description),
      ...text(2, name),
      ...text(3, place),
      ...flag(4, required),
      ...message(5, schemaFields((parameter.schema ?? {}) as JsonSchema)),
    ]);
  }
  const common = [...flag(1, required), ...text(2, place), ...text(3, description), ...text(4, name)];
  if (place === 'path') return message(2, message(4, [...common, ...text(5, type), ...flag(19, uniqueItems)]));
  return message(2, message(3, [...common, ...text(6, type), ...flag(20, uniqueItems)]));
}

function parameterItems(number: number, parameters: unknown): Fields {
  return ((parameters ?? []) as (SwaggerParameter | { $ref: string })[]).flatMap((parameter) =>
    message(
      number,
      typeof parameter.$ref === 'string' ? message(2, text(1, parameter.$ref)) : message(1, parameterFields(parameter as SwaggerParameter)),
    ),
  );
}

function operationFields(operation: JsonSchema): Fields {
  const responses = named(1, operation.responses, (response) =>
    message(1, [
      ...text(1, response.description),
      ...(response.schema ? message(2, message(1, schemaFields(response.schema as JsonSchema))) : none),
    ]),
  );
  return [
    ...texts(1, operation.tags),
    ...text(3, operation.description),
    ...text(5, operation.operationId),
    ...texts(6, operation.produces),
    ...texts(7, operation.consumes),
    ...parameterItems(8, operation.parameters),
    ...message(9, responses),
    ...texts(10, operation.schemes),
    ...extensions(13, operation),
  ];
}

const methodNumbers: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, options: 6, head: 7, patch: 8 };

function pathFields(item: JsonSchema): Fields {
  return [
    ...Object.entries(methodNumbers).flatMap(([method, number]) =>
      item[method] ? message(number, operationFields(item[method] as JsonSchema)) : none,
    ),
    ...parameterItems(9, item.parameters),
  ];
}

/**
 * Encodes a path as part of gnostic's `openapi.v2.Document`, which kubectl and other Go clients parse faster than JSON. Upstream:
 * google/gnostic-models, openapiv2/OpenAPIv2.proto.
 */
export function gnosticPath(path: string, item: JsonSchema): Buffer {
  return entry(2, path, pathFields(item));
}

/** Encodes a definition of the document. */
export function gnosticDefinition(name: string, schema: JsonSchema): Buffer {
  return entry(1, name, schemaFields(schema));
}

/** Parts of a document besides its paths and definitions. */
export type SwaggerHead = Pick<SwaggerPart, 'info' | 'parameters' | 'securityDefinitions'>;

/** Returns a whole document with encoded paths and definitions. */
export function gnosticDocument(
  { info, parameters, securityDefinitions }: SwaggerHead,
  paths: readonly Buffer[],
  definitions: readonly Buffer[],
): Buffer[] {
  const { title, version } = info as JsonSchema;
  return [
    Buffer.concat([...text(1, '2.0'), ...message(2, [...text(1, title), ...text(2, version)])]),
    lengthOf(8, paths),
    ...paths,
    lengthOf(9, definitions),
    ...definitions,
    Buffer.concat([
      ...message(
        10,
        named(1, parameters, (parameter) => parameterFields(parameter as SwaggerParameter)),
      ),
      ...Object.keys(securityDefinitions).flatMap((name) =>
        message(
          12,
          named(1, { [name]: {} }, () => none),
        ),
      ),
      ...message(
        13,
        named(1, securityDefinitions, ({ type, name, in: place, description }) =>
          message(2, [...text(1, type), ...text(2, name), ...text(3, place), ...text(4, description)]),
        ),
      ),
    ]),
  ];
}
