/**
 * The schema of API types. A table (one generated JSON file for each Go package of types) is compiled lazily into a graph of `Type`s, which
 * decoding, encoding, defaulting, patches, apply, OpenAPI and protobuf traverse. The structural schema of a CustomResourceDefinition
 * compiles to the same graph.
 */

/** One definition of a table: a Go struct (`fields`), or a named scalar. Fields are in the order of the Go struct. */
export interface DefinitionTable {
  readonly fields?: Readonly<Record<string, FieldTable>>;
  readonly required?: readonly string[];
  /** `group/version/Kind` of a top-level type; the core group is empty: `/v1/Pod`. */
  readonly gvk?: readonly string[];
  readonly type?: string;
  readonly format?: string;
  readonly oneOf?: readonly string[];
  readonly map?: FieldTable;
  readonly mapType?: 'atomic' | 'granular';
  readonly unions?: unknown;
}

/** One field (or list item, or map value) of a table. */
export interface FieldTable {
  readonly type?: string;
  readonly format?: string;
  /** Reference to another definition: `Name` in the same file, or `file.Name`. */
  readonly ref?: string;
  readonly items?: FieldTable;
  /** Values of a string-keyed map. */
  readonly map?: FieldTable;
  /** The default in OpenAPI, including Go zero values. */
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly known?: readonly string[];
  /** True for a Go pointer: an explicit zero value is kept. */
  readonly ptr?: boolean;
  /** True if it is encoded even when it is zero. */
  readonly always?: boolean;
  /** True if the zero value of a struct is omitted (`omitzero`). */
  readonly omitzero?: boolean;
  /** True if it is always encoded, as null if empty: upstream stores it as protobuf, which has no empty lists. */
  readonly nullWhenEmpty?: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
}

export type SchemaTable = Readonly<Record<string, DefinitionTable>>;

/**
 * A message of generated.proto: `[name, number, type, "repeated" | "map:<key type>"]` for each field; types without a package are in the
 * same package.
 */
export type ProtobufMessage = readonly (readonly [name: string, number: number, type: string, cardinality?: string])[];
/** The protobuf forms of types. */
export interface ProtobufMessages {
  /** Returns the message of a type (`core_v1.Pod`) and its package; undefined for types without one. */
  messageOf(type: string): { readonly package: string; readonly message: ProtobufMessage } | undefined;
  /** Returns the messages of a protobuf package, such as `k8s.io.api.core.v1`, by name. */
  messagesOf(packageName: string): Readonly<Record<string, ProtobufMessage>> | undefined;
}

export type ScalarKind =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'float64'
  /** base64 in JSON. */
  | 'bytes'
  /** RFC 3339 in whole seconds, UTC. */
  | 'time'
  /** RFC 3339 with six fraction digits, UTC. */
  | 'microtime'
  /** A resource.Quantity: a string (a JSON number is accepted), encoded in canonical form. */
  | 'quantity'
  /** An intstr.IntOrString. */
  | 'intOrString';

export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarKind;
}
/** Any JSON: RawExtension, FieldsV1, JSON of CRD schemas, x-kubernetes-preserve-unknown-fields. */
export interface RawType {
  readonly kind: 'raw';
  readonly name: string;
}
export interface ListType {
  readonly kind: 'list';
  readonly items: Type;
  readonly listType: 'atomic' | 'set' | 'map';
  /** Fields that identify an item of a map list; empty for others. */
  readonly listMapKeys: readonly string[];
  /** Strategic merge patch: `merge`, `replace`, `retainKeys` (comma-separated), and the merge key. */
  readonly patchStrategy?: string | undefined;
  readonly patchMergeKey?: string | undefined;
}
export interface MapType {
  readonly kind: 'map';
  readonly values: Type;
  readonly mapType: 'atomic' | 'granular';
}
export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly required: boolean;
  readonly ptr: boolean;
  readonly always: boolean;
  readonly omitzero: boolean;
  readonly nullWhenEmpty?: boolean | undefined;
  /** undefined if none is published. */
  readonly default: unknown;
  readonly enum?: readonly string[] | undefined;
  readonly patchStrategy?: string | undefined;
  readonly patchMergeKey?: string | undefined;
  /** True for a struct or map field whose whole value has one owner. */
  readonly atomic: boolean;
  /** True if parts of the value have separate owners, although its type is atomic. */
  readonly granular?: boolean | undefined;
}
export interface StructType {
  readonly kind: 'struct';
  /** `core_v1.Pod`; for a custom resource `group/version/Kind` and the path. */
  readonly name: string;
  /** Go's name: `v1.Pod`. */
  readonly goName: string;
  /** Fields in the order of the Go struct, which is the order of JSON output. Compiled on first use. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly atomic: boolean;
  /** True if unknown fields are preserved (custom resources). */
  readonly preserveUnknownFields: boolean;
  /** Registry of the type; undefined for custom resources. */
  readonly registry?: SchemaRegistry | undefined;
}
export type Type = ScalarType | RawType | ListType | MapType | StructType;

const scalar = (kind: ScalarKind): ScalarType => ({ kind: 'scalar', scalar: kind });
const scalars = {
  string: scalar('string'),
  boolean: scalar('boolean'),
  int32: scalar('int32'),
  int64: scalar('int64'),
  float64: scalar('float64'),
  bytes: scalar('bytes'),
  time: scalar('time'),
  microtime: scalar('microtime'),
  quantity: scalar('quantity'),
  intOrString: scalar('intOrString'),
} as const satisfies Record<ScalarKind, ScalarType>;

/** Definitions whose Go type has its own MarshalJSON. */
const special: Readonly<Record<string, Type>> = {
  'meta_v1.Time': scalars.time,
  'meta_v1.MicroTime': scalars.microtime,
  'resource.Quantity': scalars.quantity,
  'intstr.IntOrString': scalars.intOrString,
  'runtime.RawExtension': { kind: 'raw', name: 'runtime.RawExtension' },
  'meta_v1.FieldsV1': { kind: 'raw', name: 'meta_v1.FieldsV1' },
  'apiextensions_v1.JSON': { kind: 'raw', name: 'apiextensions_v1.JSON' },
  'apiextensions_v1.JSONSchemaPropsOrArray': { kind: 'raw', name: 'apiextensions_v1.JSONSchemaPropsOrArray' },
  'apiextensions_v1.JSONSchemaPropsOrBool': { kind: 'raw', name: 'apiextensions_v1.JSONSchemaPropsOrBool' },
  'apiextensions_v1.JSONSchemaPropsOrStringArray': { kind: 'raw', name: 'apiextensions_v1.JSONSchemaPropsOrStringArray' },
};

/** Lookup of types by name. */
export interface TypeSource {
  /** Returns a struct type. Throws for an unknown name, or one of another kind. */
  struct(name: string): StructType;
}

/** All known types by name. A table is read and compiled when one of its types is first requested. */
export class SchemaRegistry implements TypeSource {
  readonly #types = new Map<string, Type>();
  readonly #tables = new Map<string, SchemaTable>();
  readonly #load: (file: string) => SchemaTable;

  /**
   * `load` reads the table of a file name such as `core_v1`; it throws if there is none. Without `messages`, types have no protobuf form.
   */
  constructor(
    load: (file: string) => SchemaTable,
    readonly messages?: ProtobufMessages,
  ) {
    this.#load = load;
  }

  /** Returns the type of a full name (`core_v1.Pod`). Throws for an unknown name, which is a programming error. */
  type(name: string): Type {
    let type = this.#types.get(name);
    if (!type) {
      type = this.#compile(name);
      this.#types.set(name, type);
    }
    return type;
  }

  /** Like `type`, for a name that must be a struct. */
  struct(name: string): StructType {
    const type = this.type(name);
    if (type.kind !== 'struct') throw new Error(`schema: ${name} is a ${type.kind}, not a struct`);
    return type;
  }

  /** Returns the generated table of a file. */
  table(file: string): SchemaTable {
    let table = this.#tables.get(file);
    if (!table) {
      table = this.#load(file);
      this.#tables.set(file, table);
    }
    return table;
  }

  #compile(name: string): Type {
    const known = special[name];
    if (known) return known;
    const dot = name.indexOf('.');
    const file = name.slice(0, dot);
    const definition = this.table(file)[name.slice(dot + 1)];
    if (!definition) throw new Error(`schema: no definition ${name}`);
    if (definition.fields || definition.type === 'object') return new LazyStruct(this, file, name, definition);
    if (definition.map) return { kind: 'map', values: this.fieldType(file, definition.map), mapType: definition.mapType ?? 'granular' };
    return this.fieldType(file, definition as FieldTable);
  }

  /** Returns the type of a field in a table. */
  fieldType(file: string, field: FieldTable): Type {
    if (field.ref) return this.type(field.ref.includes('.') ? field.ref : `${file}.${field.ref}`);
    if (field.map) return { kind: 'map', values: this.fieldType(file, field.map), mapType: field.mapType ?? 'granular' };
    switch (field.type) {
      case 'array':
        return {
          kind: 'list',
          items: field.items ? this.fieldType(file, field.items) : { kind: 'raw', name: 'any' },
          listType: field.listType ?? 'atomic',
          listMapKeys: field.listMapKeys ?? [],
          patchStrategy: field.patchStrategy,
          patchMergeKey: field.patchMergeKey,
        };
      case 'string':
        if (field.format === 'byte') return scalars.bytes;
        if (field.format === 'date-time') return scalars.time;
        if (field.format === 'int-or-string') return scalars.intOrString;
        return scalars.string;
      case 'integer':
        return field.format === 'int64' ? scalars.int64 : scalars.int32;
      case 'number':
        return scalars.float64;
      case 'boolean':
        return scalars.boolean;
      case 'object':
      case 'any':
      case undefined:
        return { kind: 'raw', name: 'any' };
      default:
        throw new Error(`schema: unknown type ${field.type} in ${file}`);
    }
  }
}

/** A struct whose fields are compiled on first use, so that recursive types are possible and unused ones cost nothing. */
class LazyStruct implements StructType {
  readonly kind = 'struct';
  readonly goName: string;
  readonly atomic: boolean;
  readonly preserveUnknownFields = false;
  #fields: ReadonlyMap<string, Field> | undefined;

  constructor(
    readonly registry: SchemaRegistry,
    readonly file: string,
    readonly name: string,
    readonly definition: DefinitionTable,
  ) {
    this.goName = `${file.slice(file.indexOf('_') + 1)}${name.slice(name.indexOf('.'))}`;
    this.atomic = definition.mapType === 'atomic';
  }

  get fields(): ReadonlyMap<string, Field> {
    return (this.#fields ??= this.#compile());
  }

  #compile(): ReadonlyMap<string, Field> {
    const required = new Set(this.definition.required);
    const fields = new Map<string, Field>();
    for (const [name, table] of Object.entries(this.definition.fields ?? {})) {
      const type = this.registry.fieldType(this.file, table);
      fields.set(name, {
        name,
        type,
        required: required.has(name),
        ptr: table.ptr ?? false,
        always: table.always ?? false,
        omitzero: table.omitzero ?? false,
        nullWhenEmpty: table.nullWhenEmpty,
        default: table.default,
        enum: table.enum,
        patchStrategy: table.patchStrategy,
        patchMergeKey: table.patchMergeKey,
        atomic: table.mapType === 'atomic' || (type.kind === 'struct' && type.atomic) || (type.kind === 'map' && type.mapType === 'atomic'),
        granular: table.mapType === 'granular' && type.kind === 'struct' && type.atomic,
      });
    }
    return fields;
  }
}
