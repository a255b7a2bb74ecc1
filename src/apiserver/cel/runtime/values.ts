/**
 * Values at run time.
 *
 * | CEL       | representation |
 * |-----------|------|
 * | int       | a number if it is a safe integer, else a bigint |
 * | double    | Double |
 * | uint      | Uint |
 * | bool, null, string | the JavaScript value |
 * | bytes     | Uint8Array |
 * | timestamp, duration | Timestamp, Duration |
 * | list, map | CelList, CelMap |
 * | optional  | Optional |
 * | type      | CelType |
 * | others    | CelObject |
 *
 * Errors are values, too (CelError), because `&&`, `||` and the quantifiers may absorb them. Upstream: cel-go common/types.
 */
import {
  anyListType,
  anyMapType,
  boolType,
  bytesType,
  type CelType,
  CelType as CelTypeClass,
  doubleType,
  durationType,
  dynType,
  errorType,
  intType,
  nullType,
  optionalType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../check/types.ts';

export type Value =
  | boolean
  | null
  | string
  | number
  | bigint
  | Double
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | CelList
  | CelMap
  | Optional
  | CelType
  | CelObject
  | CelError;

export type Int = number | bigint;

/** An evaluation error; `message` is cel-go's. */
export class CelError {
  constructor(readonly message: string) {}
}

export function noSuchOverload(): CelError {
  return new CelError('no such overload');
}

export class Double {
  constructor(readonly value: number) {}
}

export class Uint {
  constructor(readonly value: bigint) {}
}

/** A point in time: seconds since the epoch, nanoseconds, and the zone offset that it was written with. */
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly nanos: number,
    readonly offsetMinutes = 0,
  ) {}
}

/** A duration in nanoseconds. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** An optional value; `none` has no content. */
export class Optional {
  static readonly none = new Optional(undefined);

  constructor(readonly value: Value | undefined) {}
}

/** Joined lists up to this size are copied. */
const maxCopiedItems = 64;
/** Maximum list size, more than an expression can traverse within its cost limit. */
const maxItems = 10_000_000;

/** A list. `get` is called only with valid indices. */
export abstract class CelList {
  abstract readonly size: number;
  abstract get(index: number): Value;

  /** Tests equality; lists of Kubernetes schemas override it. */
  equals(other: Value, equal: (a: Value, b: Value) => Value): Value {
    if (!(other instanceof CelList) || this.size !== other.size) return false;
    for (let i = 0; i < this.size; i++) if (equal(this.get(i), other.get(i)) === false) return false;
    return true;
  }

  /** Returns `this + other`. */
  concat(other: CelList): Value {
    if (this.size === 0) return other;
    if (other.size === 0) return this;
    const size = this.size + other.size;
    if (size <= maxCopiedItems) return new ValueList([...this, ...other]);
    return size <= maxItems ? new JoinedList(this, other) : new CelError(`a list has at most ${maxItems} items`);
  }

  *[Symbol.iterator](): Generator<Value> {
    for (let i = 0; i < this.size; i++) yield this.get(i);
  }
}

export class ValueList extends CelList {
  constructor(readonly items: readonly Value[]) {
    super();
  }

  get size(): number {
    return this.items.length;
  }

  get(index: number): Value {
    return this.items[index]!;
  }
}

/** A concatenation of two lists, which copies neither. */
class JoinedList extends CelList {
  readonly size: number;

  constructor(
    readonly first: CelList,
    readonly second: CelList,
  ) {
    super();
    this.size = first.size + second.size;
  }

  get(index: number): Value {
    let list: CelList = this;
    let at = index;
    while (list instanceof JoinedList) {
      const { first, second }: JoinedList = list;
      const isFirst = at < first.size;
      list = isFirst ? first : second;
      if (!isFirst) at -= first.size;
    }
    return list.get(at);
  }
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Returns the value of a key; undefined if it is missing; an error for an invalid key type. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  /** Tests equality; objects of Kubernetes schemas override it. */
  equals(other: Value, equal: (a: Value, b: Value) => Value): Value {
    if (!(other instanceof CelMap) || this.size !== other.size) return false;
    for (const key of this.keys()) {
      const theirs = other.find(key);
      if (theirs === undefined || equal(this.find(key)!, theirs) === false) return false;
    }
    return true;
  }
}

/** A map created by an expression. Numerically equal keys of different types are one key. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<unknown, readonly [Value, Value]>;

  private constructor(entries: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  /** Creates a map; later entries replace earlier ones with the same key. */
  static of(entries: Iterable<readonly [Value, Value]>): ValueMap {
    const map = new Map<unknown, readonly [Value, Value]>();
    for (const entry of entries) map.set(mapKey(entry[0]), entry);
    return new ValueMap(map);
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }
}

/** Returns the lookup key: the string itself; numbers compare equal across types; other keys must be bool. */
export function mapKey(key: Value): unknown {
  if (typeof key !== 'object') return key;
  if (key instanceof Uint) return intValue(key.value) ?? key.value;
  if (key instanceof Double) {
    const { value } = key;
    const unsafe = Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 2 ** 64;
    return unsafe ? BigInt(value) : value + 0;
  }
  return key;
}

/** A value that is opaque except to the functions of a library. */
export interface CelObject {
  readonly celType: CelType;
  /** Text for error messages. */
  readonly text?: string;
  /** Tests equality with another value. */
  equals(other: Value): Value;
}

export function isCelObject(value: Value): value is CelObject {
  return typeof value === 'object' && value !== null && 'celType' in value;
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/** Converts a bigint to an int; undefined outside of int64. */
export function intValue(value: bigint): Int | undefined {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  return value >= int64Min && value <= int64Max ? value : undefined;
}

export function isInt(value: Value): value is Int {
  return typeof value === 'number' || typeof value === 'bigint';
}

const optionalOfDyn = optionalType(dynType);

/** Returns the type of a value; elements of lists and maps are dyn. */
export function typeOf(value: Value): CelType {
  if (typeof value === 'string') return stringType;
  if (isInt(value)) return intType;
  if (typeof value === 'boolean') return boolType;
  if (value === null) return nullType;
  if (value instanceof CelList) return anyListType;
  if (value instanceof CelMap) return anyMapType;
  if (value instanceof Double) return doubleType;
  if (value instanceof Uint) return uintType;
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof Timestamp) return timestampType;
  if (value instanceof Duration) return durationType;
  if (value instanceof Optional) return optionalOfDyn;
  if (value instanceof CelTypeClass) return typeType;
  if (value instanceof CelError) return errorType;
  return value.celType;
}

/**
 * True if the value can be an argument of the declared type. Checks only the first element of lists and maps. Upstream:
 * IsAssignableRuntimeType.
 */
export function matchesType(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'typeParam':
      return true;
    case 'string':
      return typeof value === 'string';
    case 'int':
      return typeof value === 'number' || typeof value === 'bigint';
    case 'bool':
      return typeof value === 'boolean';
    case 'list':
      return value instanceof CelList && (value.size === 0 || matchesType(type.parameters[0]!, value.get(0)));
    case 'map':
      return value instanceof CelMap && matchesEntries(type, value);
    default:
      return typeOf(value).name === type.name;
  }
}

function matchesEntries(type: CelType, map: CelMap): boolean {
  for (const key of map.keys()) return matchesType(type.parameters[0]!, key) && matchesType(type.parameters[1]!, map.find(key)!);
  return true;
}

/** Returns the number of code points of a text. */
export function textSize(text: string): number {
  let size = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) size--;
  }
  return size;
}
