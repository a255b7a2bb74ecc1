import { isEmptyObject } from '#apimachinery/patch/own-property';
import { isContainer } from '#apimachinery/runtime/numbers';
import {
  additionalPropertiesSchema,
  forbidsAdditionalProperties,
  itemsSchema,
  itemsSchemas,
  type JsonSchemaProps,
} from './json-schema-props.ts';

/** Error for a schema that uses a keyword which structural schemas do not have. */
export class StructuralError extends Error {
  override readonly name = 'StructuralError';
}

/** Nested schemas of a structural schema. */
interface Parts {
  readonly items: Structural | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  readonly additionalProperties: Structural | undefined;
}

/**
 * A structural schema: the shape of an object, with the validations of each value in `props`. Property names are Map keys, since any string
 * is allowed. Upstream: apiextensions-apiserver/pkg/apiserver/schema/structural.go.
 */
export class Structural implements Parts {
  readonly items: Structural | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  readonly additionalProperties: Structural | undefined;
  /** True for `additionalProperties: true`, which allows undescribed properties. */
  readonly allowsAdditionalProperties: boolean;
  readonly nullable: boolean;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly listType: string | undefined;
  /** undefined if there is none. Only `pruneDefaults` changes it. */
  default: unknown;
  /** True if it or a nested schema has a default. */
  readonly hasDefaults: boolean;
  /** True if it or a nested schema is an embedded resource. */
  readonly hasEmbeddedResources: boolean;
  /** True if it or a nested schema is a set or map list. */
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

  /** Returns the schema as that of a whole object, with kind, apiVersion and metadata. */
  asResourceRoot(): Structural {
    return this.embeddedResource ? this : new Structural(this.props, this, true);
  }
}

/** The schema of an object without described properties. */
export const emptyStructural = new Structural({}, { items: undefined, properties: new Map(), additionalProperties: undefined });

/** Compiles a schema. Throws StructuralError for keywords that structural schemas do not have. */
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

/** Checks the schemas in `allOf` and similar keywords, which are not structural but may not have those keywords either. */
function checkValueValidations({ allOf, anyOf, oneOf, not }: JsonSchemaProps): void {
  checkAll(allOf);
  checkAll(anyOf);
  checkAll(oneOf);
  if (not) checkNested(not);
}

function checkAll(validations: readonly JsonSchemaProps[] | undefined): void {
  if (validations) for (const validation of validations) checkNested(validation);
}

function checkNested(props: JsonSchemaProps): void {
  checkSupported(props);
  checkValueValidations(props);
  if (itemsSchemas(props).length > 0) throw new StructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
  const items = itemsSchema(props);
  if (items) checkNested(items);
  const additional = additionalPropertiesSchema(props);
  if (additional) checkNested(additional);
  if (props.properties) for (const property of Object.values(props.properties)) checkNested(property);
}

/** JSON schema keywords that structural schemas do not have, with their names in upstream's messages, in upstream's order. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
] satisfies readonly (readonly [keyof JsonSchemaProps, string])[]);

/** Reads only the keywords that a schema has: a definition may have a hundred thousand schemas, most of them small. */
function checkSupported(props: JsonSchemaProps): void {
  if (Object.keys(props).some((keyword) => unsupported.has(keyword)))
    for (const [keyword, name] of unsupported) {
      const value = props[keyword as keyof JsonSchemaProps];
      // A schema of additional items counts even if it is empty; a map does not.
      const isEmptyMap = keyword !== 'additionalItems' && isContainer(value) && isEmptyObject(value);
      if (value !== undefined && value !== '' && !isEmptyMap) throw new StructuralError(`OpenAPIV3Schema '${name}' is not supported`);
    }
  if (props['x-kubernetes-preserve-unknown-fields'] === false)
    throw new StructuralError("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined");
}
