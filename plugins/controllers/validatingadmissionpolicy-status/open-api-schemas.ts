import { type ControllerClient, type GroupVersionKind, isNotFound } from 'kubenest/sdk';
import type { JsonSchema } from '#sdk/internal';

/** A schema in an OpenAPI document, with the members that types need. */
interface OpenApiSchema extends JsonSchema {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
}

type Schemas = Readonly<Record<string, OpenApiSchema>>;

const refPrefix = '#/components/schemas/';

/** The schemas of kinds from the OpenAPI v3 documents that the server serves. Upstream: apiserver/pkg/cel/openapi/resolver. */
export class OpenApiSchemas {
  readonly #documents = new Map<string, Promise<Schemas>>();

  constructor(private readonly client: Pick<ControllerClient, 'read'>) {}

  /** Returns the schema of a kind, without references; undefined if the server has none. */
  async find({ group, version, kind }: GroupVersionKind): Promise<JsonSchema | undefined> {
    const path = group ? `apis/${group}/${version}` : `api/${version}`;
    let document = this.#documents.get(path);
    if (!document) {
      document = this.#read(path);
      this.#documents.set(path, document);
    }
    const schemas = await document;
    const isKind = (one: GroupVersionKind): boolean => one.group === group && one.version === version && one.kind === kind;
    const name = Object.keys(schemas).find((key) => schemas[key]?.['x-kubernetes-group-version-kind']?.some(isKind));
    return name === undefined ? undefined : resolved(schemas, { $ref: `${refPrefix}${name}` }, []);
  }

  async #read(path: string): Promise<Schemas> {
    try {
      const document = await this.client.read<{ readonly components?: { readonly schemas?: Schemas } }>(`/openapi/v3/${path}`);
      return document.components?.schemas ?? {};
    } catch (error) {
      if (isNotFound(error)) return {};
      throw error;
    }
  }
}

/**
 * Returns a schema with the schemas that it refers to in place. A schema inside itself is an object without known fields. `path`: the
 * references that led to the schema. Upstream: PopulateRefs.
 */
function resolved(schemas: Schemas, schema: OpenApiSchema, path: readonly string[]): JsonSchema {
  const ref = refOf(schema);
  if (ref !== undefined) {
    const target = schemas[ref.slice(refPrefix.length)];
    return path.includes(ref) || !target ? { type: 'object' } : resolved(schemas, target, [...path, ref]);
  }
  const part = (value: unknown): unknown => (isSchema(value) ? resolved(schemas, value, path) : value);
  const { properties, items, additionalProperties, format } = schema;
  const parts = properties && Object.entries(properties).map(([name, property]) => [name, resolved(schemas, property, path)]);
  return {
    ...schema,
    // The built-in kinds have a format where custom resources have an extension.
    ...(format === 'int-or-string' && { 'x-kubernetes-int-or-string': true }),
    ...(parts && { properties: Object.fromEntries(parts) as Record<string, JsonSchema> }),
    ...(items !== undefined && { items: part(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: part(additionalProperties) }),
  };
}

/** Returns the reference of a schema, which may stand in `allOf` beside a description. */
function refOf({ $ref, allOf = [] }: OpenApiSchema): string | undefined {
  return $ref ?? allOf.map(refOf).find((ref) => ref !== undefined);
}

function isSchema(value: unknown): value is OpenApiSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
