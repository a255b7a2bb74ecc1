/**
 * Values at run time.
 *
 * | CEL       | here |
 * |-----------|------|
 * | int       | a number if it is a safe integer, else a bigint |
 * | double    | Double |
 * | uint      | Uint |
 * | bool, null, string | themselves |
 * | bytes     | Uint8Array |
 * | timestamp, duration | Timestamp, Duration |
 * | list, map | CelList, CelMap |
 * | optional  | Optional |
 * | type      | CelType |
 * | others    | CelObject |
 *
 * Errors are values too (CelError), since `&&`, `||` and the quantifiers may absorb them. Upstream: cel-go common/types.
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

/** An error of evaluation; `message` is cel-go's. */
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

/** A point in time: seconds since the epoch, nanoseconds, and the offset of the zone that it was written in. */
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly nanos: number,
    readonly offsetMinutes = 0,
  ) {}
}

/** A span of time in nanoseconds. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** An optional value; `none` is the one without. */
export class Optional {
  static readonly none = new Optional(undefined);

  constructor(readonly value: Value | undefined) {}
}

/** Up to here lists are copied when they are joined. */
const maxCopiedItems = 64;
/** More than an expression can look at within its limit. */
const maxItems = 10_000_000;

/** A list. `get` is asked for valid indices only. */
export abstract class CelList {
  abstract readonly size: number;
  abstract get(index: number): Value;

  /** Whether two lists are equal; lists of Kubernetes schemas have their own rule. */
  equals(other: Value, equal: (a: Value, b: Value) => Value): Value {
    if (!(other instanceof CelList) || this.size !== other.size) return false;
    for (let i = 0; i < this.size; i++) if (equal(this.get(i), other.get(i)) === false) return false;
    return true;
  }

  /** `this + other`. */
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

/** Two lists, one after the other; a step costs the same however long they are. */
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

/** A map. */
export abstract class CelMap {
  abstract readonly size: number;
  /** The value of a key, which is undefined if there is none; an error for a key that cannot be one. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  /** Whether two maps are equal; objects of Kubernetes schemas have their own rule. */
  equals(other: Value, equal: (a: Value, b: Value) => Value): Value {
    if (!(other instanceof CelMap) || this.size !== other.size) return false;
    for (const key of this.keys()) {
      const theirs = other.find(key);
      if (theirs === undefined || equal(this.find(key)!, theirs) === false) return false;
    }
    return true;
  }
}

/** A map made by an expression. Numeric keys of different types that are equal are one key. */
export class ValueMap extends CelMap {
  readonly #entries: ReadonlyMap<unknown, readonly [Value, Value]>;

  private constructor(entries: ReadonlyMap<unknown, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  /** Later entries win over earlier ones with the same key. */
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

/** What a key is found by. A string is itself; numbers are equal across types; nothing else but bool can be a key. */
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

/** A value that only functions of a library look into. */
export interface CelObject {
  readonly celType: CelType;
  /** As error messages show it. */
  readonly text?: string;
  /** Whether two objects are equal. */
  equals(other: Value): Value;
}

export function isCelObject(value: Value): value is CelObject {
  return typeof value === 'object' && value !== null && 'celType' in value;
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/** An int of a bigint; undefined outside of int64. */
export function intValue(value: bigint): Int | undefined {
  if (value >= -9007199254740991n && value <= 9007199254740991n) return Number(value);
  return value >= int64Min && value <= int64Max ? value : undefined;
}

export function isInt(value: Value): value is Int {
  return typeof value === 'number' || typeof value === 'bigint';
}

const optionalOfDyn = optionalType(dynType);

/** The type of a value, lists and maps as of anything. */
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

/** Whether a value may be an argument of a declared type. Of lists and maps only the first element is looked at. Upstream: IsAssignableRuntimeType. */
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

/** The number of code points of a text. */
export function textSize(text: string): number {
  let size = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) size--;
  }
  return size;
}
