/** How the walks see a struct type: a plan of its fields, made at the first use and kept as long as the type. */
import { encodeString } from './json.ts';
import type { Field, ListType, MapType, ScalarKind, StructType, Type } from './schema.ts';

/** Structs nested deeper than this are refused; no API type comes near, and the walks use the engine's stack. */
export const maxStructDepth = 1000;

/** What the walks do with a field, flattened from its type so that one switch decides. */
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

/** A type as a walk sees it. */
export interface ValuePlan {
  readonly code: Code;
  readonly type: Type;
  /** Of lists and maps. Made at the first use: types may contain themselves. */
  items(): ValuePlan;
  /** Of structs. */
  struct(): StructPlan;
}

export interface FieldPlan {
  readonly name: string;
  /** The place in the Go struct. */
  readonly index: number;
  readonly code: Code;
  readonly value: ValuePlan;
  /** The key as it is written behind another, with a comma, quotes and a colon. */
  readonly prefix: string;
  /** A zero value is written: the field is a pointer, or without omitempty. */
  readonly keepsZero: boolean;
  /** A Go pointer. */
  readonly isPointer: boolean;
  /** An empty list is written as null. */
  readonly nullWhenEmpty: boolean;
  /** A zero struct is left out. */
  readonly omitzero: boolean;
  /** What an `always` field is written as when it is not there, the zero value or null; undefined of others. */
  readonly zero: 'value' | 'null' | undefined;
}

export interface StructPlan {
  readonly type: StructType;
  readonly byName: ReadonlyMap<string, FieldPlan>;
  /** The fields that are written in any case, in order. */
  readonly always: readonly FieldPlan[];
  readonly preserve: boolean;
  /** The type's name without its package, as Go's errors print it. */
  readonly shortName: string;
  /** Whether kind and apiVersion come from an embedded TypeMeta, which Go's errors name. */
  readonly embedsTypeMeta: boolean;
}

const valuePlans = new WeakMap<Type, ValuePlan>();
const structPlans = new WeakMap<StructType, StructPlan>();

/** How the walks see a type. */
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

/** Go's name of a type. */
export function goTypeName(type: Type): string {
  switch (type.kind) {
    case 'struct':
      return type.goName;
    case 'list':
      return `[]${goTypeName(type.items)}`;
    case 'map':
      return `map[string]${goTypeName(type.values)}`;
    case 'raw':
      return type.name;
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
