/**
 * Schemas of custom resources and built-in types in the form that expressions need. Upstream:
 * apiserver/pkg/cel/common/{adaptor,schemas}.go.
 */
import { type JsonObject, isJsonObject } from '#apimachinery/patch/own-property';
import { bytesType, durationType, dynType, stringType, timestampType } from './check/types.ts';
import { maxRequestSizeBytes } from './cost/limits.ts';
import {
  boolDecl,
  type DeclField,
  type DeclType,
  doubleDecl,
  intDecl,
  jsonDateSize,
  listDecl,
  mapDecl,
  minDatetimeSize,
  minDurationSize,
  minStringSize,
  objectDecl,
  simpleDecl,
  stringDecl,
} from './decl-type.ts';
import { escape } from './escaping.ts';

/** The keywords of a JSON schema that affect expressions. */
export interface JsonSchema {
  readonly type?: string | undefined;
  readonly format?: string | undefined;
  /** A schema; other values are ignored. */
  readonly items?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  /** A schema; other values are ignored. */
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[] | undefined;
  readonly default?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly maxLength?: number | bigint | undefined;
  readonly maxItems?: number | bigint | undefined;
  readonly maxProperties?: number | bigint | undefined;
  readonly nullable?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
}

/** A bound beyond 2^53 is parsed as a bigint, but costs are estimated with numbers. */
const numberOf = (bound: number | bigint | undefined): number | undefined => (bound === undefined ? undefined : Number(bound));

/** A JSON schema with its nested schemas wrapped. */
export class CelSchema {
  readonly #json: JsonSchema;
  readonly items: CelSchema | undefined;
  /** Undefined if the schema declares no properties. */
  readonly properties: ReadonlyMap<string, CelSchema> | undefined;
  readonly additionalProperties: CelSchema | undefined;

  constructor(json: JsonSchema) {
    this.#json = json;
    this.items = partOf(json.items);
    this.properties =
      json.properties && new Map(Object.entries(json.properties).map(([name, property]) => [name, new CelSchema(property)]));
    this.additionalProperties = partOf(json.additionalProperties);
  }

  get type(): string {
    return this.#json.type ?? '';
  }

  get format(): string {
    return this.#json.format ?? '';
  }

  get required(): readonly string[] {
    return this.#json.required ?? [];
  }

  get enum(): readonly unknown[] {
    return this.#json.enum ?? [];
  }

  get default(): unknown {
    return this.#json.default ?? undefined;
  }

  get maxLength(): number | undefined {
    return numberOf(this.#json.maxLength);
  }

  get maxItems(): number | undefined {
    return numberOf(this.#json.maxItems);
  }

  get maxProperties(): number | undefined {
    return numberOf(this.#json.maxProperties);
  }

  get nullable(): boolean {
    return this.#json.nullable ?? false;
  }

  get intOrString(): boolean {
    return this.#json['x-kubernetes-int-or-string'] ?? false;
  }

  get preserveUnknownFields(): boolean {
    return this.#json['x-kubernetes-preserve-unknown-fields'] ?? false;
  }

  get embeddedResource(): boolean {
    return this.#json['x-kubernetes-embedded-resource'] ?? false;
  }

  get listType(): string {
    return this.#json['x-kubernetes-list-type'] ?? '';
  }

  get listMapKeys(): readonly string[] {
    return this.#json['x-kubernetes-list-map-keys'] ?? [];
  }

  /** Returns the schema with kind, apiVersion and metadata.name, which every object has. */
  asResourceRoot(): CelSchema {
    const known = this.properties;
    const metadata = known?.get('metadata');
    const described = ['kind', 'apiVersion'].every((name) => known?.get(name)?.type === 'string');
    const named = ['name', 'generateName'].every((name) => metadata?.properties?.get(name)?.type === 'string');
    if (described && metadata?.type === 'object' && named) return this;
    const text = { type: 'string' };
    const properties = { kind: text, apiVersion: text, metadata: { type: 'object', properties: { name: text, generateName: text } } };
    return new CelSchema({ ...this.#json, properties: { ...this.#json.properties, ...properties } });
  }
}

function partOf(value: unknown): CelSchema | undefined {
  return isJsonObject(value) ? new CelSchema(value as JsonObject & JsonSchema) : undefined;
}

/** Maximum length of a quoted string in a request. */
const maxText = maxRequestSizeBytes - 2;
const formatSizes: Readonly<Record<string, number>> = { duration: 32, date: jsonDateSize, 'date-time': 32 };

/** Returns the maximum number of code points of a text; maxLength counts code points of up to four bytes each. */
function maxTextLength(schema: CelSchema): number {
  if (schema.maxLength !== undefined) return Math.max(schema.maxLength, 0) * 4;
  if (schema.intOrString) return maxText;
  if (schema.type === 'string' && schema.enum.length > 0) {
    return Math.max(0, ...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
  }
  return maxText;
}

/**
 * Returns the type that a schema declares; undefined if expressions cannot access its values. `isResourceRoot` is true for
 * the schema of a whole object. Upstream: SchemaDeclType.
 */
export function schemaDeclType(schema: CelSchema, isResourceRoot: boolean): DeclType | undefined {
  if (schema.intOrString) return simpleDecl('dyn', dynType, 1, maxTextLength(schema));
  const rooted = isResourceRoot ? schema.asResourceRoot() : schema;
  switch (rooted.type) {
    case 'array':
      return arrayDecl(rooted);
    case 'object':
      return rooted.additionalProperties ? mapOfDecl(rooted, rooted.additionalProperties) : fieldsDecl(rooted);
    case 'string':
      return textDecl(rooted);
    case 'boolean':
      return boolDecl;
    case 'number':
      return doubleDecl;
    case 'integer':
      return intDecl;
    default:
      return undefined;
  }
}

function partDecl(schema: CelSchema): DeclType | undefined {
  return schemaDeclType(schema, schema.embeddedResource);
}

function arrayDecl({ items, maxItems }: CelSchema): DeclType | undefined {
  const elemType = items && partDecl(items);
  if (!elemType) return undefined;
  return listDecl(elemType, maxItems === undefined ? Math.trunc(maxText / (elemType.minSerializedSize + 1)) : Math.max(maxItems, 0));
}

function mapOfDecl({ maxProperties }: CelSchema, values: CelSchema): DeclType | undefined {
  const elemType = partDecl(values);
  if (!elemType) return undefined;
  // Each entry has two quotes and a character for its key, a colon and a comma.
  const most = maxProperties === undefined ? Math.trunc(maxText / (elemType.minSerializedSize + 6)) : Math.max(maxProperties, 0);
  return mapDecl(stringDecl, elemType, most);
}

function fieldsDecl(schema: CelSchema): DeclType {
  const fields = new Map<string, DeclField>();
  const required = new Set(schema.required);
  let minSerializedSize = 2;
  for (const [name, property] of schema.properties ?? []) {
    const type = partDecl(property);
    if (!type) continue;
    const escaped = escape(name);
    const isRequired = required.has(name);
    if (escaped !== undefined) {
      const values = property.enum.length > 0 ? { enumValues: property.enum } : {};
      fields.set(escaped, { name: escaped, type, required: isRequired, ...values });
    }
    if (isRequired && property.default === undefined) minSerializedSize += Buffer.byteLength(name) + type.minSerializedSize + 4;
  }
  return objectDecl('object', fields, minSerializedSize);
}

function textDecl(schema: CelSchema): DeclType {
  switch (schema.format) {
    case 'byte':
      return simpleDecl('bytes', bytesType, minStringSize, schema.maxLength === undefined ? maxText : Math.max(schema.maxLength, 0));
    case 'duration':
      return simpleDecl('duration', durationType, minDurationSize, formatSizes['duration']);
    case 'date':
      return simpleDecl('timestamp', timestampType, jsonDateSize, formatSizes['date']);
    case 'date-time':
      return simpleDecl('timestamp', timestampType, minDatetimeSize, formatSizes['date-time']);
    default:
      return simpleDecl('string', stringType, minStringSize, maxTextLength(schema));
  }
}
