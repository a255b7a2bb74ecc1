/**
 * Accumulators of loops, which are appended to in place until the loop ends. Upstream: mutableList and mutableMap of cel-go
 * common/types.
 */
import { display } from './format.ts';
import { CelError, CelList, CelMap, mapKey, type Value, ValueList, ValueMap } from './values.ts';

/** The list that a loop builds; appending modifies it in place. */
export class MutableList extends CelList {
  readonly #items: Value[] = [];

  get size(): number {
    return this.#items.length;
  }

  get(index: number): Value {
    return this.#items[index]!;
  }

  override concat(other: CelList): Value {
    for (let i = 0; i < other.size; i++) this.#items.push(other.get(i));
    return this;
  }

  finish(): ValueList {
    return new ValueList(this.#items);
  }
}

/** The map that a loop builds. */
export class MutableMap extends CelMap {
  readonly #entries = new Map<unknown, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  find(key: Value): Value | undefined {
    return this.#entries.get(mapKey(key))?.[1];
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  /** Adds an entry; a duplicate key is an error. */
  insert(key: Value, value: Value): Value {
    const found = mapKey(key);
    if (this.#entries.has(found)) return new CelError(`insert failed: key ${display(key)} already exists`);
    this.#entries.set(found, [key, value]);
    return this;
  }

  finish(): ValueMap {
    return ValueMap.of(this.#entries.values());
  }
}

/** Returns an accumulator for an initial value; empty lists and maps become mutable ones. */
export function accumulatorOf(initial: Value): Value {
  if (initial instanceof CelList && initial.size === 0) return new MutableList();
  if (initial instanceof CelMap && initial.size === 0) return new MutableMap();
  return initial;
}

/** Returns the final value of an accumulator. */
export function finished(value: Value): Value {
  return value instanceof MutableList || value instanceof MutableMap ? value.finish() : value;
}

/** Returns `map` with an additional entry. */
export function insertEntry(map: CelMap, key: Value, value: Value): Value {
  if (map instanceof MutableMap) return map.insert(key, value);
  const found = map.find(key);
  if (found !== undefined) return new CelError(`insert failed: key ${display(key)} already exists`);
  return ValueMap.of([...[...map.keys()].map((known) => [known, map.find(known)!] as const), [key, value]]);
}
