/** Plans of struct types for decoding and encoding, created on first use and kept as long as the type. */
import { encodeString } from './json/json.ts';
import type { Field, ListType, MapType, ScalarKind, StructType, Type } from './schema.ts';

/** Maximum depth of structs, since the functions are recursive; API types are not as deep. */
export const maxStructDepth = 1000;

/** The handling of a field, flattened from its type so that one switch decides. */
export const enum Code {
  String,
  Boolean,
  Int32,
  Int64,
  Float64,
  Bytes,
  Time,
  MicroTime,
  Quantity,
  IntOrString,
  Raw,
  List,
  Map,
  StringMap,
  Struct,
}

const scalarCodes: Readonly<Record<ScalarKind, Code>> = {
  string: Code.String,
  boolean: Code.Boolean,
  int32: Code.Int32,
  int64: Code.Int64,
  float64: Code.Float64,
  bytes: Code.Bytes,
  time: Code.Time,
  microtime: Code.MicroTime,
  quantity: Code.Quantity,
  intOrString: Code.IntOrString,
};

/** The plan of a type. */
export interface ValuePlan {
  readonly code: Code;
  readonly type: Type;
  /** The plan of the items of a list or map. Created on first use, since types may be recursive. */
  items(): ValuePlan;
  /** The plan of a struct. */
  struct(): StructPlan;
}

export interface FieldPlan {
  readonly name: string;
  /** Index in the Go struct. */
  readonly index: number;
  readonly code: Code;
  readonly value: ValuePlan;
  /** The encoded key after another field: comma, quoted name and colon. */
  readonly prefix: string;
  /** True if a zero value is encoded: the field is a pointer, or without omitempty. */
  readonly keepsZero: boolean;
  /** True for a Go pointer. */
  readonly isPointer: boolean;
  /** True if an empty list is encoded as null. */
  readonly nullWhenEmpty: boolean;
  /** True if a zero struct is omitted. */
  readonly omitzero: boolean;
  /** Encoding of an absent `always` field: the zero value or null; undefined for others. */
  readonly zero: 'value' | 'null' | undefined;
}

export interface StructPlan {
  readonly type: StructType;
  readonly byName: ReadonlyMap<string, FieldPlan>;
  /** Fields that are always encoded, in order. */
  readonly always: readonly FieldPlan[];
  readonly preserve: boolean;
  /** The type's name without its package, as in Go's errors. */
  readonly shortName: string;
  /** True if kind and apiVersion come from an embedded TypeMeta, which Go's errors name. */
  readonly embedsTypeMeta: boolean;
}

const valuePlans = new WeakMap<Type, ValuePlan>();
const structPlans = new WeakMap<StructType, StructPlan>();

/** Returns the plan of a type. */
export function valuePlan(type: Type): ValuePlan {
  let plan = valuePlans.get(type);
  if (!plan) valuePlans.set(type, (plan = new LazyValuePlan(codeOf(type), type)));
  return plan;
}

class LazyValuePlan implements ValuePlan {
  #items: ValuePlan | undefined;
  #struct: StructPlan | undefined;

  constructor(
    readonly code: Code,
    readonly type: Type,
  ) {}

  items(): ValuePlan {
    if (!this.#items) {
      const type = this.type as ListType | MapType;
      this.#items = valuePlan(type.kind === 'list' ? type.items : type.values);
    }
    return this.#items;
  }

  struct(): StructPlan {
    return (this.#struct ??= structPlan(this.type as StructType));
  }
}

function codeOf(type: Type): Code {
  switch (type.kind) {
    case 'scalar':
      return scalarCodes[type.scalar];
    case 'raw':
      return Code.Raw;
    case 'list':
      return Code.List;
    case 'map':
      return type.values.kind === 'scalar' && type.values.scalar === 'string' ? Code.StringMap : Code.Map;
    case 'struct':
      return Code.Struct;
  }
}

export function structPlan(type: StructType): StructPlan {
  const known = structPlans.get(type);
  if (known) return known;
  const fields = [...type.fields.values()].map(fieldPlan);
  const plan: StructPlan = {
    type,
    byName: new Map(fields.map((field) => [field.name, field])),
    always: fields.filter((field) => field.zero !== undefined),
    preserve: type.preserveUnknownFields,
    shortName: type.goName.slice(type.goName.lastIndexOf('.') + 1),
    embedsTypeMeta: type.fields.has('kind') && type.fields.has('apiVersion') && type.fields.has('metadata'),
  };
  structPlans.set(type, plan);
  return plan;
}

function fieldPlan(field: Field, index: number): FieldPlan {
  const value = valuePlan(field.type);
  const written = field.always && !field.omitzero && !field.ptr;
  return {
    name: field.name,
    index,
    code: value.code,
    value,
    prefix: `,${encodeString(field.name)}:`,
    keepsZero: field.ptr || field.always,
    isPointer: field.ptr,
    nullWhenEmpty: field.nullWhenEmpty ?? false,
    omitzero: field.omitzero && !field.ptr,
    zero: written ? 'value' : field.always && field.ptr ? 'null' : undefined,
  };
}

/** Returns Go's name of a type. */
export function goTypeName(type: Type): string {
  switch (type.kind) {
    case 'struct':
      return type.goName;
    case 'list':
      return `[]${goTypeName(type.items)}`;
    case 'map':
      return `map[string]${goTypeName(type.values)}`;
    case 'raw':
      // `apiextensions_v1.JSON` is `v1.JSON` to Go.
      return type.name.replace(/^\w+_/, '');
    case 'scalar':
      return type.scalar === 'boolean' ? 'bool' : type.scalar === 'bytes' ? '[]uint8' : goScalarName(type.scalar);
  }
}

function goScalarName(scalar: ScalarKind): string {
  switch (scalar) {
    case 'time':
      return 'v1.Time';
    case 'microtime':
      return 'v1.MicroTime';
    case 'quantity':
      return 'resource.Quantity';
    case 'intOrString':
      return 'intstr.IntOrString';
    default:
      return scalar;
  }
}
