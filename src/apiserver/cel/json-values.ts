/**
 * JSON data as values without a schema, like upstream's unstructured objects. Data is not copied. Upstream: cel-go
 * common/types/provider.go (NativeToValue).
 */
import { Float64 } from '#apimachinery/runtime/numbers';
import { CelError, CelList, CelMap, Double, type Value } from './runtime/values.ts';
import type { JsonObject } from '#apimachinery/patch/own-property';

/** Wraps plain JSON as a value. Integers become ints, other numbers doubles; undefined becomes null. */
export function fromJson(data: unknown): Value {
  switch (typeof data) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return data;
    case 'number':
      return Number.isSafeInteger(data) ? data : new Double(data);
    case 'object':
      if (data === null) return null;
      if (data instanceof Float64) return new Double(data.value);
      return Array.isArray(data) ? new JsonList(data) : new JsonMap(data as JsonObject);
    case 'undefined':
      return null;
    default:
      return new CelError(`unsupported conversion to ref.Val: ${typeof data}`);
  }
}

/** A JSON list. */
export class JsonList extends CelList {
  constructor(readonly data: readonly unknown[]) {
    super();
  }

  get size(): number {
    return this.data.length;
  }

  get(index: number): Value {
    return fromJson(this.data[index]);
  }
}

/** A JSON object as a map with string keys. Undefined properties are absent. */
export class JsonMap extends CelMap {
  constructor(readonly data: JsonObject) {
    super();
  }

  get size(): number {
    let size = 0;
    for (const key of Object.keys(this.data)) if (this.data[key] !== undefined) size++;
    return size;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.data, key)) return undefined;
    const value = this.data[key];
    return value === undefined ? undefined : fromJson(value);
  }

  *keys(): Generator<Value> {
    for (const key of Object.keys(this.data)) if (this.data[key] !== undefined) yield key;
  }
}
