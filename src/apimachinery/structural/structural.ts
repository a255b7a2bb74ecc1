import { isEmptyObject } from '#apimachinery/patch/own-property';
import { isContainer } from '#apimachinery/runtime/numbers';
import {
  additionalPropertiesSchema,
  forbidsAdditionalProperties,
  itemsSchema,
  itemsSchemas,
  type JsonSchemaProps,
} from './json-schema-props.ts';

/** Why a schema cannot be structural: it uses a keyword that structural schemas do not have. */
export class StructuralError extends Error {
  override readonly name = 'StructuralError';
}

/** What makes up a structural schema besides the schemas in it. */
interface Parts {
  readonly items: Structural | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  readonly additionalProperties: Structural | undefined;
}

/**
 * A structural schema: the shape of an object, with what the schema says of each value in `props`. Names of properties are
 * keys of a Map, since any text may be one. Upstream: apiextensions-apiserver/pkg/apiserver/schema/structural.go.
 */
export class Structural implements Parts {
  readonly items: Structural | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  readonly additionalProperties: Structural | undefined;
  /** Other properties are allowed without being described: `additionalProperties: true`. */
  readonly allowsAdditionalProperties: boolean;
  readonly nullable: boolean;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly listType: string | undefined;
  /** undefined if there is none. Set anew by `pruneDefaults` only. */
  default: unknown;
  /** There is a default somewhere in it. */
  readonly hasDefaults: boolean;
  /** There is an embedded resource somewhere in it. */
  readonly hasEmbeddedResources: boolean;
  /** There is a set or map list somewhere in it. */
  readonly hasSetsOrMaps: boolean;

  constructor(
    readonly props: JsonSchemaProps,
    { items, properties, additionalProperties }: Parts,
    embeddedResource = props['x-kubernetes-embedded-resource'] ?? false,
  ) {
    this.items = items;
    this.properties = properties;
    this.additionalProperties = additionalProperties;
    this.allowsAdditionalProperties = props.additionalProperties !== undefined && !forbidsAdditionalProperties(props);
    this.nullable = props.nullable ?? false;
    this.preserveUnknownFields = props['x-kubernetes-preserve-unknown-fields'] ?? false;
    this.embeddedResource = embeddedResource;
    this.listType = props['x-kubernetes-list-type'];
    this.default = props.default ?? undefined;
    const parts = [...properties.values(), items, additionalProperties].filter((part) => part !== undefined);
    this.hasDefaults = this.default !== undefined || parts.some((part) => part.hasDefaults);
    this.hasEmbeddedResources = embeddedResource || parts.some((part) => part.hasEmbeddedResources);
    this.hasSetsOrMaps = this.listType === 'set' || this.listType === 'map' || parts.some((part) => part.hasSetsOrMaps);
  }

  get type(): string {
    return this.props.type ?? '';
  }

  /** The same schema as that of a whole object, with kind, apiVersion and metadata. */
  asResourceRoot(): Structural {
    return this.embeddedResource ? this : new Structural(this.props, this, true);
  }
}

/** The schema of an object of which nothing is described. */
export const emptyStructural = new Structural({}, { items: undefined, properties: new Map(), additionalProperties: undefined });

/** Compiles a schema. Throws StructuralError for keywords that no structural schema has. */
export function newStructural(props: JsonSchemaProps): Structural {
  checkSupported(props);
  checkValueValidations(props);
  if (itemsSchemas(props).length > 0) throw new StructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
  const items = itemsSchema(props);
  const additional = additionalPropertiesSchema(props);
  return new Structural(props, {
    items: items && newStructural(items),
    properties: new Map(Object.entries(props.properties ?? {}).map(([name, property]) => [name, newStructural(property)])),
    additionalProperties: additional && newStructural(additional),
  });
}

/** What `allOf` and the like hold is no structural schema, and may not have those keywords either. */
function checkValueValidations(props: JsonSchemaProps): void {
  const nested = [...(props.allOf ?? []), ...(props.anyOf ?? []), ...(props.oneOf ?? []), ...(props.not ? [props.not] : [])];
  for (const validation of nested) checkNested(validation);
}

function checkNested(props: JsonSchemaProps): void {
  checkSupported(props);
  checkValueValidations(props);
  if (itemsSchemas(props).length > 0) throw new StructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
  const items = itemsSchema(props);
  const additional = additionalPropertiesSchema(props);
  for (const part of [items, additional, ...Object.values(props.properties ?? {})]) if (part) checkNested(part);
}

/** Keywords of JSON schema that structural schemas do not have, with the names that upstream's messages give them. */
const unsupported: readonly (readonly [keyof JsonSchemaProps, string])[] = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
];

function checkSupported(props: JsonSchemaProps): void {
  for (const [keyword, name] of unsupported) {
    const value = props[keyword];
    // A schema of additional items counts even if it is empty; a map does not.
    const isEmptyMap = keyword !== 'additionalItems' && isContainer(value) && isEmptyObject(value);
    if (value !== undefined && value !== '' && !isEmptyMap) throw new StructuralError(`OpenAPIV3Schema '${name}' is not supported`);
  }
  if (props['x-kubernetes-preserve-unknown-fields'] === false)
    throw new StructuralError("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined");
}
