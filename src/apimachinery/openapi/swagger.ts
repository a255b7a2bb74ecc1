import { Buffer } from 'node:buffer';
import { mapValues } from '#apimachinery/patch/own-property';
import type { JsonSchema } from './schemas.ts';
import { fnv64 } from '../runtime/fnv.ts';

/** The parts of an OpenAPI 3.0 document that a 2.0 document uses. */
export interface V3Document {
  readonly info: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, JsonSchema>>;
    /** Set in documents of the server itself. */
    readonly securitySchemes?: Readonly<Record<string, object>>;
  };
  /** Set for custom resources: returns the schema of a name, in 3.0 form, if its 2.0 form cannot be derived from the 3.0 document. */
  readonly swaggerSchema?: (name: string) => JsonSchema | undefined;
  /** Set in documents that were fetched as 2.0: merged unchanged. */
  readonly swagger?: SwaggerPart;
}
interface V3Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}
type V3Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;
interface V3Operation {
  readonly tags: readonly string[];
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: readonly V3Parameter[];
  readonly requestBody?: { readonly content: V3Content; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: V3Content }>>;
  readonly [extension: string]: unknown;
}

export type SwaggerParameter = { readonly name: string; readonly in: string } & JsonSchema;
/** Contribution of one document to a merged OpenAPI 2.0 document. */
export interface SwaggerPart {
  readonly info: object;
  readonly paths: Readonly<Record<string, JsonSchema>>;
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  readonly parameters: Readonly<Record<string, SwaggerParameter>>;
  readonly securityDefinitions: Readonly<Record<string, JsonSchema>>;
}

/** Order of upstream's serializers; others follow by name. */
const mediaTypeOrder = [
  'text/plain',
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/cbor',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor-seq',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
];

function mediaTypes(content: V3Content | undefined): string[] {
  const rank = (mediaType: string) => (mediaTypeOrder.includes(mediaType) ? mediaTypeOrder.indexOf(mediaType) : mediaTypeOrder.length);
  return Object.keys(content ?? {}).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function firstSchema(content: V3Content | undefined): JsonSchema | undefined {
  for (const mediaType in content) return swaggerSchema(content[mediaType]?.schema ?? {});
  return undefined;
}

/** Converts a schema to OpenAPI 2.0, which has no defaults beside references, no nullable, and no oneOf, anyOf and not. */
export function swaggerSchema(schema: JsonSchema): JsonSchema {
  if (typeof schema.$ref === 'string') return { $ref: swaggerReference(schema.$ref) };
  const result: JsonSchema = {};
  for (const [member, value] of Object.entries(schema)) {
    switch (member) {
      case 'default':
      case 'nullable':
      case 'anyOf':
      case 'not':
        break;
      case 'oneOf':
        result.type ??= publishedType(schema);
        break;
      case 'format':
        if (schema.oneOf !== undefined) result.type ??= publishedType(schema);
        result.format = value;
        break;
      case 'allOf': {
        const [only, ...more] = value as JsonSchema[];
        if (only?.$ref && more.length === 0) result.$ref = swaggerReference(only.$ref as string);
        break;
      }
      case 'properties':
        result.properties = mapValues(value as Record<string, JsonSchema>, swaggerSchema);
        break;
      case 'items':
        result.items = swaggerSchema(value as JsonSchema);
        break;
      case 'additionalProperties':
        result.additionalProperties = typeof value === 'object' ? swaggerSchema(value as JsonSchema) : value;
        break;
      default:
        result[member] = value;
    }
  }
  return result;
}

/** Returns the type of a schema. A Quantity accepts a number, but is published as a string. */
function publishedType({ type, oneOf }: JsonSchema): unknown {
  if (type !== undefined) return type;
  return Array.isArray(oneOf) && oneOf.some((option: JsonSchema) => option.type === 'string') ? 'string' : undefined;
}

function swaggerReference(reference: string): string {
  return reference.replace('#/components/schemas/', '#/definitions/');
}

function swaggerParameter({ name, in: place, description, required, schema }: V3Parameter): SwaggerParameter {
  const { type, uniqueItems } = schema;
  return {
    ...(uniqueItems === undefined ? {} : { uniqueItems }),
    type,
    ...(description === undefined ? {} : { description }),
    name,
    in: place,
    ...(required ? { required } : {}),
  };
}

function contentHash(text: string): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(fnv64(Buffer.from(text)));
  return bytes.subarray(0, 6).toString('base64url');
}

/** Encodes JSON with HTML escapes, like Go's encoding/json. */
function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Moves common parameters to the document, under a name with a content hash. Those that name a kind stay in place, and so do two that old
 * versions of kubectl look for. Upstream: kube-openapi/pkg/builder/parameters.go.
 */
class SharedParameters {
  readonly parameters = new Map<string, SwaggerParameter>();
  readonly #names = new Map<string, string>();

  share(parameter: SwaggerParameter): JsonSchema {
    const { name, in: place } = parameter;
    if (name === 'name' || (place === 'query' && (name === 'fieldValidation' || name === 'dryRun'))) return parameter;
    const body = (parameter.schema as JsonSchema | undefined)?.$ref;
    if (place === 'body' && !(typeof body === 'string' && body.startsWith('#/definitions/io.k8s.apimachinery'))) return parameter;
    const json = goJson(parameter);
    let shared = this.#names.get(json);
    if (shared === undefined) {
      shared = `${name}-${contentHash(json)}`;
      this.#names.set(json, shared);
      this.parameters.set(shared, parameter);
    }
    return { $ref: `#/parameters/${shared}` };
  }
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

function swaggerOperation(operation: V3Operation, path: string, shared: SharedParameters, isCustom: boolean): JsonSchema {
  const { tags, description, operationId, parameters = [], requestBody, responses, ...extensions } = operation;
  const produces = mediaTypes(responses['200']?.content);
  // Paths other than built-in resources consume the media types that they produce; OpenID paths consume none.
  const isResource = extensions['x-kubernetes-action'] !== undefined && !isCustom;
  const consumes = requestBody
    ? mediaTypes(requestBody.content)
    : isResource
      ? ['*/*']
      : /^\/(?:\.well-known|openid)\//.test(path)
        ? undefined
        : produces;
  const own: SwaggerParameter[] = parameters.map(swaggerParameter);
  if (requestBody) {
    own.unshift({
      name: 'body',
      in: 'body',
      ...(requestBody.required ? { required: true } : {}),
      schema: firstSchema(requestBody.content),
    });
  }
  return {
    description,
    ...(consumes ? { consumes } : {}),
    produces,
    schemes: ['https'],
    tags,
    operationId,
    ...(own.length > 0 ? { parameters: own.map((parameter) => shared.share(parameter)) } : {}),
    responses: mapValues(responses, (response) => {
      const schema = firstSchema(response.content);
      return { description: response.description, ...(schema ? { schema } : {}) };
    }),
    ...(path.startsWith(ownPaths) ? extensions : mapValues(extensions, sortKeys)),
  };
}

/** Paths of upstream's aggregator itself, whose extensions are Go structs; it has read those of all others as JSON. */
const ownPaths = '/apis/apiregistration.k8s.io/';

/** Sorts the keys of extensions, which are maps in Go. */
function sortKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Converts an OpenAPI 3.0 document to 2.0. It yields to the event loop after each path and schema. */
export function* swaggerPart(document: V3Document): Generator<void, SwaggerPart, void> {
  if (document.swagger) return document.swagger;
  const shared = new SharedParameters();
  const isCustom = document.swaggerSchema !== undefined;
  const paths: [string, JsonSchema][] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    paths.push([path, swaggerItem(item, path, shared, isCustom)]);
    yield;
  }
  const definitions: [string, JsonSchema][] = [];
  for (const [name, schema] of Object.entries(document.components.schemas ?? {})) {
    definitions.push([name, swaggerSchema(document.swaggerSchema?.(name) ?? schema)]);
    yield;
  }
  return {
    info: document.info,
    paths: Object.fromEntries(paths),
    definitions: Object.fromEntries(definitions),
    parameters: Object.fromEntries(shared.parameters),
    securityDefinitions: mapValues((document.components.securitySchemes ?? {}) as Record<string, JsonSchema>, inOrderOfSwagger),
  };
}

function inOrderOfSwagger({ description, type, ...others }: JsonSchema): JsonSchema {
  return { ...(description === undefined ? {} : { description }), type, ...others };
}

function swaggerItem(item: Readonly<Record<string, unknown>>, path: string, shared: SharedParameters, isCustom: boolean): JsonSchema {
  const operations: JsonSchema = {};
  for (const method of methods)
    if (item[method]) operations[method] = swaggerOperation(item[method] as V3Operation, path, shared, isCustom);
  const parameters = (item.parameters as readonly V3Parameter[] | undefined)?.map((parameter) => shared.share(swaggerParameter(parameter)));
  return { ...operations, ...(parameters ? { parameters } : {}) };
}
