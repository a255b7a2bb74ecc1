import { compareUtf8 } from '#apimachinery/runtime/json/json';
import type { Field, ScalarKind, StructType, Type } from '#apimachinery/runtime/schema';

/**
 * A type in the form of structured-merge-diff (kube-openapi/pkg/schemaconv): atomic or granular, with the keys of list items. Compiled once
 * from the type graph, fields on first use.
 */
export type Shape = ScalarShape | ListShape | MapShape | AnyShape;

export interface ScalarShape {
  readonly kind: 'scalar';
  readonly scalar: 'numeric' | 'string' | 'boolean' | 'untyped';
}

export interface ListShape {
  readonly kind: 'list';
  readonly atomic: boolean;
  /** Sorted names of the key fields; empty for a set. */
  readonly keys: readonly string[];
  readonly declaredKeys: readonly string[];
  readonly items: Shape;
}

/** Any JSON: maps are granular at all depths and lists are atomic; if `atomic`, all of it is one leaf. */
export interface AnyShape {
  readonly kind: 'any';
  readonly atomic: boolean;
}

export interface FieldShape {
  readonly name: string;
  /** The path element, `f:name`. */
  readonly element: string;
  /** Index among the struct's fields sorted by name. */
  readonly rank: number;
  readonly shape: Shape;
  /** True if Go omits the zero value of the field. */
  readonly omitsZero: boolean;
  /** True if Go always encodes the field: an absent one counts as `zero`. */
  readonly always: boolean;
  readonly zero: unknown;
}

/** True for an untyped container of scalars, such as a map of strings or a list of numbers. */
export function holdsOnlyScalars(shape: Shape): boolean {
  if (shape.kind === 'list') return shape.items.kind === 'scalar';
  return shape.kind === 'map' && shape.fields.size === 0 && shape.values?.kind === 'scalar';
}

const untyped: ScalarShape = { kind: 'scalar', scalar: 'untyped' };
const numeric: ScalarShape = { kind: 'scalar', scalar: 'numeric' };
const text: ScalarShape = { kind: 'scalar', scalar: 'string' };
const atomicAny: AnyShape = { kind: 'any', atomic: true };
const granularAny: AnyShape = { kind: 'any', atomic: false };

const scalarShapes: Readonly<Record<ScalarKind, ScalarShape | AnyShape>> = {
  string: text,
  bytes: text,
  boolean: { kind: 'scalar', scalar: 'boolean' },
  int32: numeric,
  int64: numeric,
  float64: numeric,
  time: untyped,
  microtime: untyped,
  quantity: untyped,
  // Its published schema has no type.
  intOrString: granularAny,
};

const noFields: ReadonlyMap<string, FieldShape> = new Map();
const emptyObject = Object.freeze({});

/** A struct or a map. A struct has `fields`; a map (and a struct that preserves unknown fields) has `values`. */
export class MapShape {
  readonly kind = 'map';
  #fields: ReadonlyMap<string, FieldShape> | undefined;
  #always: readonly FieldShape[] | undefined;
  #values: Shape | undefined;
  /** True for a Go struct, whose zero values and absent fields have Go's meaning; false for types of custom resources. */
  readonly structured: boolean;

  constructor(
    private readonly type: Type,
    readonly atomic: boolean,
    private readonly inheritsUnknown: boolean,
  ) {
    this.structured = type.kind === 'struct' && isGoStruct(type);
  }

  get fields(): ReadonlyMap<string, FieldShape> {
    return (this.#fields ??= this.#compileFields());
  }

  /** Fields that Go always encodes. */
  get always(): readonly FieldShape[] {
    return (this.#always ??= [...this.fields.values()].filter((field) => field.always));
  }

  /** Shape of unknown fields; undefined if they are not allowed. */
  get values(): Shape | undefined {
    return (this.#values ??= this.#compileValues());
  }

  /** Returns the published default of a field, which replaces an absent key; undefined if there is none. */
  keyDefault(name: string): unknown {
    return this.type.kind === 'struct' ? (this.type.fields.get(name)?.default ?? undefined) : undefined;
  }

  #keepsUnknown(): boolean {
    return this.inheritsUnknown || (this.type.kind === 'struct' && this.type.preserveUnknownFields);
  }

  #compileValues(): Shape | undefined {
    if (this.type.kind === 'map') return compile(this.type.values, false, this.inheritsUnknown);
    return this.#keepsUnknown() || this.fields.size === 0 ? granularAny : undefined;
  }

  #compileFields(): ReadonlyMap<string, FieldShape> {
    if (this.type.kind !== 'struct') return noFields;
    const { structured } = this;
    const names = [...this.type.fields.keys()].sort(compareUtf8);
    const ranks = new Map(names.map((name, rank) => [name, rank]));
    const fields = new Map<string, FieldShape>();
    for (const [name, field] of this.type.fields) {
      fields.set(name, {
        name,
        element: `f:${name}`,
        rank: ranks.get(name)!,
        shape: field.granular
          ? new MapShape(field.type, false, this.#keepsUnknown())
          : compile(field.type, field.atomic, this.#keepsUnknown() && !hasTypeOfItsOwn(field.type)),
        omitsZero: structured && !field.ptr && !field.always,
        always: structured && field.always,
        zero: structured && field.always ? zeroOf(field) : undefined,
      });
    }
    return fields;
  }
}

/** True for Go structs, which are named `core_v1.Pod`; those of custom resources are named `group/version/Kind` and the path. */
const isGoStruct = (type: StructType): boolean => !type.name.includes('/');

/** True for metadata in a custom resource: upstream's schema refers to a type of its own, and preserves unknown fields elsewhere. */
const hasTypeOfItsOwn = (type: Type): boolean => type.kind === 'struct' && isGoStruct(type);

function zeroOf(field: Field): unknown {
  if (field.ptr) return null;
  switch (field.type.kind) {
    case 'struct':
      return emptyObject;
    case 'scalar':
      switch (field.type.scalar) {
        case 'string':
          return '';
        case 'boolean':
          return false;
        case 'int32':
        case 'int64':
        case 'float64':
        case 'intOrString':
          return 0;
        case 'quantity':
          return '0';
        default:
          return null;
      }
    default:
      return null;
  }
}

const granular = new WeakMap<Type, Shape>();
const atomic = new WeakMap<Type, Shape>();

/** Returns the shape of a type. `isAtomic` is set for a field that is marked as atomic. */
export function shapeOf(type: Type, isAtomic = false): Shape {
  return compile(type, isAtomic, false);
}

function compile(type: Type, isAtomic: boolean, keepsUnknown: boolean): Shape {
  if (keepsUnknown) return build(type, isAtomic, true);
  const cache = isAtomic ? atomic : granular;
  let shape = cache.get(type);
  if (!shape) {
    shape = build(type, isAtomic, false);
    cache.set(type, shape);
  }
  return shape;
}

function build(type: Type, isAtomic: boolean, keepsUnknown: boolean): Shape {
  switch (type.kind) {
    case 'scalar':
      return scalarShapes[type.scalar];
    case 'raw':
      return isAtomic || type.name === 'runtime.RawExtension' ? atomicAny : granularAny;
    case 'map':
      return new MapShape(type, isAtomic || type.mapType === 'atomic', keepsUnknown);
    case 'struct':
      return new MapShape(type, isAtomic || type.atomic, keepsUnknown);
    case 'list':
      return {
        kind: 'list',
        atomic: type.listType === 'atomic',
        declaredKeys: type.listMapKeys,
        keys: [...type.listMapKeys].sort(compareUtf8),
        items: compile(type.items, false, keepsUnknown),
      };
  }
}

/** Returns the default of a key field in the items' type; undefined if there is none. */
export function keyDefault(list: ListShape, key: string): unknown {
  return list.items.kind === 'map' ? list.items.keyDefault(key) : undefined;
}
