/** JSON data as values of a schema's types. Data is not copied. Upstream: apiserver/pkg/cel/common/valuesunstructured.go. */
import { deepEqual } from '#apimachinery/runtime/equality';
import { isInt64, isNumber, toFloat } from '#apimachinery/runtime/numbers';
import { isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { goTypeName } from '#apimachinery/patch/format-value';
import { opaqueType } from './check/types.ts';
import { escape, unescape } from './escaping.ts';
import { equal } from './runtime/equality.ts';
import { parseGoDuration, parseRfc3339 } from './runtime/time.ts';
import {
  CelError,
  CelList,
  CelMap,
  type CelObject,
  Double,
  mapKey,
  noSuchOverload,
  Timestamp,
  type Value,
  ValueList,
} from './runtime/values.ts';
import type { CelSchema } from './schema.ts';

type Convert = (data: unknown) => Value;

const converters = new WeakMap<CelSchema, Convert>();

/** Returns the conversion of data to values of a schema; compiled once for each schema. */
export function valuesOf(schema: CelSchema): Convert {
  let convert = converters.get(schema);
  if (!convert) {
    const inner = compile(schema);
    const absent = schema.nullable ? null : new CelError('invalid data, got null for schema with nullable=false');
    convert = (data) => (data === null || data === undefined ? absent : inner(data));
    converters.set(schema, convert);
  }
  return convert;
}

function compile(schema: CelSchema): Convert {
  if (schema.intOrString) return intOrString;
  switch (schema.type) {
    case 'object':
      return compileObject(schema);
    case 'array':
      return compileArray(schema);
    case 'string':
      return compileText(schema);
    case 'number':
      return (data) => (isNumber(data) ? new Double(toFloat(data)) : mismatch('float', data));
    case 'integer':
      return (data) => (isInt64(data) ? data : mismatch('int', data));
    case 'boolean':
      return (data) => (typeof data === 'boolean' ? data : mismatch('bool', data));
    default:
      return schema.preserveUnknownFields ? (data) => new UnknownPreserved(data) : () => unusable(schema.type);
  }
}

function mismatch(expected: string, data: unknown): CelError {
  return new CelError(`invalid data, expected ${expected}, got ${goTypeName(data)}`);
}

function unusable(type: string): CelError {
  const wanted =
    'object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true';
  return new CelError(`invalid type, expected ${wanted}, got ${type}`);
}

function intOrString(data: unknown): Value {
  if (typeof data === 'string' || isInt64(data)) return data;
  return new CelError('invalid data, expected XIntOrString value to be either a string or integer');
}

function compileObject(schema: CelSchema): Convert {
  const rooted = schema.embeddedResource ? schema.asResourceRoot() : schema;
  const properties = rooted.properties;
  const others = properties ? undefined : rooted.additionalProperties;
  const find = (name: string): CelSchema | undefined => (properties ? properties.get(name) : others);
  return (data) =>
    isJsonObject(data)
      ? new SchemaMap(data, find, properties !== undefined)
      : new CelError('invalid data, expected a map for the provided schema with type=object');
}

function compileArray(schema: CelSchema): Convert {
  const { items } = schema;
  if (!items) return () => new CelError('invalid array type, expected Items with a non-empty Schema');
  const wrap = listWrapper(schema);
  const convert = valuesOf(items);
  return (data) =>
    Array.isArray(data)
      ? wrap(new SchemaList(data, convert))
      : new CelError('invalid data, expected an array for the provided schema with type=array');
}

function listWrapper({ listType, listMapKeys }: CelSchema): (list: CelList) => Value {
  switch (listType) {
    case '':
    case 'atomic':
      return (list) => list;
    case 'set':
      return (list) => new SetList(list);
    case 'map': {
      const keys = listMapKeys.map((key) => escape(key) ?? key);
      return (list) => new MapList(list, keys);
    }
    default:
      return () => new CelError(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${listType}`);
  }
}

const textFormats: Readonly<Record<string, (text: string) => Value>> = {
  duration: (text) => parseGoDuration(text) ?? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`),
  date: (text) => dateOf(`${text}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${text}`),
  'date-time': (text) => (text === '' ? new Timestamp(0, 0) : (dateOf(text) ?? new CelError(`Invalid date-time formatted string ${text}`))),
  byte: (text) =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
      ? Buffer.from(text, 'base64')
      : new CelError(`Invalid byte formatted string ${text}: illegal base64 data`),
};

function dateOf(text: string): Timestamp | undefined {
  const time = parseRfc3339(text);
  return time instanceof Timestamp ? time : undefined;
}

function compileText({ format }: CelSchema): Convert {
  const convert = Object.hasOwn(textFormats, format) ? textFormats[format]! : (text: string): Value => text;
  return (data) => (typeof data === 'string' ? convert(data) : mismatch('string', data));
}

const unknownType = opaqueType('unknown');

/** Data without a schema; it supports only comparison. */
class UnknownPreserved implements CelObject {
  readonly celType = unknownType;

  constructor(readonly data: unknown) {}

  equals(other: Value): Value {
    return other instanceof UnknownPreserved && deepEqual(this.data, other.data);
  }
}

/** An object: fields of a schema or entries of a map. */
class SchemaMap extends CelMap {
  constructor(
    readonly data: JsonObject,
    readonly schemaOf: (name: string) => CelSchema | undefined,
    /** True for fields of a schema, whose names are escaped and whose null fields are absent. */
    readonly isObject: boolean,
  ) {
    super();
  }

  get size(): number {
    return Object.keys(this.data).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload();
    const name = this.isObject ? unescape(key) : key;
    if (name === undefined || !Object.hasOwn(this.data, name)) return undefined;
    const data = this.data[name];
    if (data === undefined || (this.isObject && data === null)) return undefined;
    const schema = this.schemaOf(name);
    return schema && valuesOf(schema)(data);
  }

  *keys(): Generator<Value> {
    for (const name of Object.keys(this.data)) if (this.schemaOf(name)) yield (this.isObject && escape(name)) || name;
  }

  /** Fields outside of the schema must be equal too if both objects have them. */
  override equals(other: Value): Value {
    if (!(other instanceof CelMap)) return noSuchOverload();
    if (this.size !== other.size) return false;
    for (const name of Object.keys(this.data)) {
      const same = this.schemaOf(name) ? this.#equalField(name, other) : this.#equalUnknown(name, other);
      if (same !== true) return same;
    }
    return true;
  }

  #equalField(name: string, other: CelMap): Value {
    const mine = this.find(name);
    const theirs = other.find(name);
    return mine === undefined || theirs === undefined ? mine === theirs : equal(mine, theirs);
  }

  #equalUnknown(name: string, other: CelMap): Value {
    if (!(other instanceof SchemaMap)) return noSuchOverload();
    return !Object.hasOwn(other.data, name) || deepEqual(this.data[name], other.data[name]);
  }
}

/** A list whose items are converted on access. */
class SchemaList extends CelList {
  constructor(
    readonly data: readonly unknown[],
    readonly convert: Convert,
  ) {
    super();
  }

  get size(): number {
    return this.data.length;
  }

  get(index: number): Value {
    return this.convert(this.data[index]);
  }

  override equals(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload();
    if (this.size !== other.size) return false;
    for (let i = 0; i < this.size; i++) {
      const same = equal(this.get(i), other.get(i));
      if (same !== true) return same;
    }
    return true;
  }
}

/** A list whose order is insignificant. */
abstract class UnorderedList extends CelList {
  constructor(readonly list: CelList) {
    super();
  }

  get size(): number {
    return this.list.size;
  }

  get(index: number): Value {
    return this.list.get(index);
  }
}

/** A set: equal in any order; concatenation drops duplicates. */
class SetList extends UnorderedList {
  #keys: Set<unknown> | undefined;

  #keySet(): Set<unknown> {
    return (this.#keys ??= new Set([...this.list].map(mapKey)));
  }

  override equals(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload();
    return this.size === other.size && [...other].every((item) => this.#keySet().has(mapKey(item)));
  }

  override concat(other: CelList): Value {
    const keys = new Set(this.#keySet());
    const added = [...other].filter((item) => {
      const key = mapKey(item);
      return !keys.has(key) && keys.add(key) !== undefined;
    });
    return new SetList(new ValueList([...this.list, ...added]));
  }
}

/** A list of keyed objects: equal in any order; concatenation merges by key. */
class MapList extends UnorderedList {
  #byKey: Map<string, number> | undefined;

  constructor(
    list: CelList,
    readonly keys: readonly string[],
  ) {
    super(list);
  }

  #keyOf(item: Value): string {
    const parts = this.keys.map((key) => (item instanceof CelMap ? mapKey(item.find(key) ?? null) : null));
    return JSON.stringify(parts, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part));
  }

  /** Returns the positions of the items by key. */
  #places(): ReadonlyMap<string, number> {
    return (this.#byKey ??= new Map([...this.list].map((item, index) => [this.#keyOf(item), index])));
  }

  override equals(other: Value): Value {
    if (!(other instanceof CelList)) return noSuchOverload();
    if (this.size !== other.size) return false;
    for (const item of other) {
      const place = this.#places().get(this.#keyOf(item));
      if (place === undefined) return false;
      const same = equal(this.get(place), item);
      if (same !== true) return same;
    }
    return true;
  }

  override concat(other: CelList): Value {
    const items = [...this.list];
    for (const item of other) {
      const place = this.#places().get(this.#keyOf(item));
      if (place === undefined) items.push(item);
      else items[place] = item;
    }
    return new MapList(new ValueList(items), this.keys);
  }
}
