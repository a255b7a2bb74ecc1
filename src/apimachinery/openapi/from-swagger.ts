import { isJsonObject, mapValues } from '#apimachinery/patch/own-property';
import { componentReference, type JsonSchema } from './schemas.ts';
import type { SwaggerParameter, SwaggerPart, V3Document } from './swagger.ts';

type Members = Readonly<Record<string, JsonSchema>>;

interface Swagger {
  readonly info?: object;
  readonly paths?: Members;
  readonly definitions?: Members;
  readonly parameters?: Readonly<Record<string, SwaggerParameter>>;
  readonly securityDefinitions?: Members;
}

const definitionPrefix = '#/definitions/';
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/**
 * Converts an OpenAPI 2.0 document to 3.0. The paths that start with `prefix`, and their references, go unchanged into a merged 2.0
 * document. Throws a TypeError for a malformed document. Upstream: kube-openapi/pkg/openapiconv/convert.go, kube-openapi/pkg/aggregator
 * (FilterSpecByPaths).
 */
export function fromSwagger(swagger: Swagger, prefix: string): V3Document {
  const { info = {}, paths = {}, definitions = {}, securityDefinitions } = swagger;
  return {
    openapi: '3.0.0',
    info,
    paths: mapValues(paths, v3Path),
    components: {
      schemas: mapValues(definitions, v3Schema),
      ...(securityDefinitions && { securitySchemes: mapValues(securityDefinitions, v3SecurityScheme) }),
    },
    swagger: partBelow(swagger, prefix),
  } as V3Document;
}

/** Converts a schema. A reference with siblings is wrapped, since 3.0 does not allow them. */
function v3Schema(schema: JsonSchema): JsonSchema {
  const { $ref, properties, items, additionalProperties, ...rest } = schema;
  const siblings: JsonSchema = {
    ...rest,
    ...(isJsonObject(items) && { items: v3Schema(items) }),
    ...(isJsonObject(properties) && { properties: mapValues(properties as Members, v3Schema) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isJsonObject(additionalProperties) ? v3Schema(additionalProperties) : additionalProperties,
    }),
  };
  if (typeof $ref !== 'string' || !$ref.startsWith(definitionPrefix)) return siblings;
  const reference = componentReference($ref.slice(definitionPrefix.length));
  return Object.keys(siblings).length === 0 ? reference : { ...siblings, allOf: [reference] };
}

function v3Path({ parameters, ...item }: JsonSchema): JsonSchema {
  return {
    ...item,
    ...Object.fromEntries(methods.filter((method) => item[method]).map((method) => [method, v3Operation(item[method] as JsonSchema)])),
    ...(Array.isArray(parameters) && { parameters: (parameters as JsonSchema[]).map(v3Parameter) }),
  };
}

function v3Operation({ consumes, produces, schemes: _, parameters, responses, ...operation }: JsonSchema): JsonSchema {
  const all = (parameters ?? []) as JsonSchema[];
  const body = all.find(({ name, schema }) => name === 'body' && schema);
  const others = all.filter((parameter) => parameter !== body);
  return {
    ...operation,
    ...(others.length > 0 && { parameters: others.map(v3Parameter) }),
    ...(body && { requestBody: { content: v3Content(consumes, body.schema as JsonSchema) } }),
    responses: mapValues(responses as Members, ({ schema, ...response }) => ({
      ...response,
      ...(schema !== undefined && { content: v3Content(produces, schema as JsonSchema) }),
    })),
  };
}

function v3Content(mediaTypes: unknown, schema: JsonSchema): JsonSchema {
  return Object.fromEntries(((mediaTypes ?? []) as string[]).map((type) => [type, { schema: v3Schema(schema) }]));
}

function v3Parameter({ $ref, type, format, uniqueItems, schema, ...parameter }: JsonSchema): JsonSchema {
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/parameters/', '#/components/parameters/') };
  const simple = { type, ...(format !== undefined && { format }), ...(uniqueItems !== undefined && { uniqueItems }) };
  return { ...parameter, schema: isJsonObject(schema) ? v3Schema(schema) : simple };
}

function v3SecurityScheme({ type, description, name, in: place }: JsonSchema): JsonSchema {
  return { type, description, name, in: place };
}

/** Returns the paths below a prefix with the definitions and parameters that they need. */
function partBelow(
  { info = {}, paths = {}, definitions = {}, parameters = {}, securityDefinitions = {} }: Swagger,
  prefix: string,
): SwaggerPart {
  const wanted = Object.entries(paths).filter(([path]) => path.startsWith(prefix));
  const referred = references(
    wanted,
    new Map(Object.entries({ ...prefixed(definitionPrefix, definitions), ...prefixed('#/parameters/', parameters) })),
  );
  return {
    info,
    paths: Object.fromEntries(wanted),
    definitions: Object.fromEntries(Object.entries(definitions).filter(([name]) => referred.has(definitionPrefix + name))),
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => referred.has(`#/parameters/${name}`))),
    securityDefinitions,
  };
}

function prefixed(prefix: string, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [prefix + name, member]));
}

/** Returns all transitive references of a value. */
function references(value: unknown, targets: ReadonlyMap<string, unknown>): Set<string> {
  const found = new Set<string>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      if (key !== '$ref' || typeof member !== 'string') open.push(member);
      else if (!found.has(member)) {
        found.add(member);
        open.push(targets.get(member));
      }
    }
  }
  return found;
}
