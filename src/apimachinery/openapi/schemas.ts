import type { DefinitionTable, FieldTable } from '#apimachinery/runtime/schema';
import type { TableFolder } from '#apimachinery/runtime/table-folder';

/** An OpenAPI 3.0 schema. Members are in upstream's order. */
export interface JsonSchema {
  [member: string]: unknown;
}

const prefix = '#/components/schemas/';
/** Header of the values in the description of a field. */
const enumHeader = 'Possible enum values:';

/** Returns the reference to a component by its name. */
export function componentReference(name: string): JsonSchema {
  return { $ref: prefix + name };
}

/**
 * Builds OpenAPI components from schema tables. Types have two names: that of the tables (`core_v1.Pod`) and that of OpenAPI
 * (`io.k8s.api.core.v1.Pod`). Upstream: kube-openapi/pkg/builder3.
 */
export class OpenApiSchemas {
  readonly #tables: TableFolder;
  readonly #names = new Map<string, string>();
  readonly #types = new Map<string, string>();

  readonly #groupVersion: string | undefined;
  readonly #hasEnums: boolean;

  /**
   * `groupVersion` is that of the document (`apps/v1`): kinds of many groups, such as DeleteOptions, list only the core group and this one.
   * Without it, they list all. Without `hasEnums`, fields do not list their values. Upstream: apiserver/pkg/util/openapi/enablement.go.
   */
  constructor(tables: TableFolder, groupVersion?: string, hasEnums = true) {
    this.#tables = tables;
    this.#groupVersion = groupVersion;
    this.#hasEnums = hasEnums;
  }

  /** Returns the component name of a type. Throws for a type whose table has no Go package. */
  name(type: string): string {
    let name = this.#names.get(type);
    if (name === undefined) {
      const dot = type.indexOf('.');
      const goPackage = this.#tables.goPackage(type.slice(0, dot));
      if (goPackage === undefined) throw new Error(`openapi: ${type} has no Go package`);
      const [host = '', ...path] = goPackage.split('/');
      name = [...host.split('.').reverse(), ...path, type.slice(dot + 1)].join('.');
      this.#names.set(type, name);
      this.#types.set(name, type);
    }
    return name;
  }

  reference(type: string): JsonSchema {
    return componentReference(this.name(type));
  }

  /** Returns the type of a component name that `name` has returned before. */
  typeOf(name: string): string | undefined {
    return this.#types.get(name);
  }

  /** Returns the schema of a type, and adds its references to `references`. */
  component(type: string, references: Set<string>): JsonSchema {
    const dot = type.indexOf('.');
    const file = type.slice(0, dot);
    const definition = this.#tables.schema(file)[type.slice(dot + 1)];
    if (!definition) throw new Error(`openapi: no definition ${type}`);
    const [description = '', fields = {}] = this.#tables.description(type) ?? [];
    if (!definition.fields) return this.#scalar(definition, description);
    const properties: JsonSchema = {};
    for (const [name, field] of Object.entries(definition.fields).sort(([a], [b]) => (a < b ? -1 : 1))) {
      properties[name] = this.#property(file, field, fields[name], references);
    }
    const schema: JsonSchema = {};
    if (description) schema.description = description;
    schema.type = 'object';
    if (definition.required?.length) schema.required = definition.required;
    if (Object.keys(properties).length > 0) schema.properties = properties;
    if (definition.gvk) schema['x-kubernetes-group-version-kind'] = this.#kinds(definition.gvk);
    if (definition.mapType) schema['x-kubernetes-map-type'] = definition.mapType;
    if (definition.unions) schema['x-kubernetes-unions'] = definition.unions;
    return schema;
  }

  #property(file: string, field: FieldTable, description: string | undefined, references: Set<string>): JsonSchema {
    const schema: JsonSchema = {};
    const text = this.#hasEnums ? description : description?.split(enumHeader)[0]?.trim();
    if (text) schema.description = text;
    if (field.ref) {
      const type = field.ref.includes('.') ? field.ref : `${file}.${field.ref}`;
      references.add(type);
      const reference = this.reference(type);
      if (field.default !== undefined) schema.default = field.default;
      addExtensions(schema, field);
      // A reference cannot have siblings.
      if (Object.keys(schema).length === 0) return reference;
      return order({ ...schema, allOf: [reference] });
    }
    if (field.map) {
      schema.type = 'object';
      if (field.default !== undefined) schema.default = field.default;
      schema.additionalProperties = this.#property(file, field.map, undefined, references);
    } else if (field.type === 'array') {
      schema.type = 'array';
      if (field.default !== undefined) schema.default = field.default;
      schema.items = field.items ? this.#property(file, field.items, undefined, references) : {};
    } else {
      if (field.type !== undefined && field.type !== 'any') schema.type = field.type;
      if (field.format) schema.format = field.format;
      if (field.default !== undefined) schema.default = field.default;
      if (field.enum && this.#hasEnums) schema.enum = [...field.enum].sort();
    }
    addExtensions(schema, field);
    return schema;
  }

  #scalar(definition: DefinitionTable, description: string): JsonSchema {
    const schema: JsonSchema = {};
    if (description) schema.description = description;
    if (definition.oneOf) schema.oneOf = definition.oneOf.map((type) => ({ type }));
    else if (definition.type) schema.type = definition.type;
    if (definition.format) schema.format = definition.format;
    if (definition.gvk) schema['x-kubernetes-group-version-kind'] = this.#kinds(definition.gvk);
    return order(schema);
  }

  #kinds(gvks: readonly string[]): JsonSchema[] {
    const own = ['/v1/', `${this.#groupVersion}/`];
    const shown =
      gvks.length > 1 && this.#groupVersion !== undefined
        ? gvks.filter((gvk) => own.includes(gvk.slice(0, gvk.lastIndexOf('/') + 1)))
        : gvks;
    return shown.map((gvk) => {
      const [kind, version, ...group] = gvk.split('/').reverse();
      return { group: group.reverse().join('/'), kind, version };
    });
  }
}

/** Adds extensions after all other members, sorted by name. */
function addExtensions(schema: JsonSchema, field: FieldTable): void {
  if (field.listMapKeys) schema['x-kubernetes-list-map-keys'] = field.listMapKeys;
  if (field.listType) schema['x-kubernetes-list-type'] = field.listType;
  if (field.mapType) schema['x-kubernetes-map-type'] = field.mapType;
  if (field.patchMergeKey) schema['x-kubernetes-patch-merge-key'] = field.patchMergeKey;
  if (field.patchStrategy) schema['x-kubernetes-patch-strategy'] = field.patchStrategy;
}

const memberOrder = [
  'description',
  'type',
  'format',
  'default',
  'enum',
  'required',
  'items',
  'allOf',
  'oneOf',
  'properties',
  'additionalProperties',
];

function order(schema: JsonSchema): JsonSchema {
  const rank = (member: string) => (member.startsWith('x-') ? memberOrder.length : memberOrder.indexOf(member));
  return Object.fromEntries(Object.entries(schema).sort(([a], [b]) => rank(a) - rank(b)));
}
