import { getOwn, isEmptyObject, isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { isContainer } from '#apimachinery/runtime/numbers';
import type { Type } from '#apimachinery/runtime/schema';
import type { Steps } from '#apimachinery/runtime/steps';
import { keysOf } from '#apimachinery/runtime/wide-objects';

/** Orders of the keys of patched documents: errors show them, and name the first problem, in the order in which upstream has them. */

/** Number of values that are visited between two yields. */
const valuesPerStep = 512;

/** Records the objects that a merge patch visited or added, which upstream holds as maps. */
export function* noteMerged(patched: unknown, patch: unknown, sorted: WeakSet<object>): Steps<void> {
  const pending: unknown[] = [patched, patch];
  let visited = 0;
  const note = function* (value: unknown, changes: unknown): Steps<void> {
    if (isContainer(value) && isContainer(changes) && !isEmptyObject(value)) pending.push(value, changes);
    if (++visited % valuesPerStep === 0) yield;
  };
  while (pending.length > 0) {
    const changes = pending.pop();
    const value = pending.pop();
    if (++visited % valuesPerStep === 0) yield;
    if (Array.isArray(value) && Array.isArray(changes)) for (const [i, item] of value.entries()) yield* note(item, changes[i]);
    if (!isJsonObject(value) || !isJsonObject(changes)) continue;
    sorted.add(value);
    for (const key of keysOf(changes)) yield* note(getOwn(value, key), changes[key]);
  }
}

/**
 * Puts the fields of structs in the order of their declarations, in which upstream's converter reads them. Lists and maps are changed in
 * place.
 */
export function* inTypeOrder(type: Type, root: unknown): Steps<unknown> {
  const result: JsonObject = { root };
  // An explicit stack, since documents may be as deep as JSON.
  const pending: [container: JsonObject | unknown[], key: string | number, type: Type][] = [[result, 'root', type]];
  let visited = 0;
  while (pending.length > 0) {
    const [container, key, type] = pending.pop()!;
    if (++visited % valuesPerStep === 0) yield;
    const value = (container as JsonObject)[key];
    const visit = function* (within: JsonObject | unknown[], at: string | number, type: Type): Steps<void> {
      const item = (within as JsonObject)[at];
      if (isContainer(item) && !isEmptyObject(item)) pending.push([within, at, type]);
      if (++visited % valuesPerStep === 0) yield;
    };
    if (type.kind === 'list' && Array.isArray(value)) for (const i of value.keys()) yield* visit(value, i, type.items);
    else if (type.kind === 'map' && isJsonObject(value)) for (const name of keysOf(value)) yield* visit(value, name, type.values);
    else if (type.kind === 'struct' && isJsonObject(value)) {
      const ordered: JsonObject = {};
      if (Array.isArray(container)) container[key as number] = ordered;
      else setOwn(container, key as string, ordered);
      for (const [name, field] of type.fields) {
        if (!Object.hasOwn(value, name)) continue;
        ordered[name] = value[name];
        yield* visit(ordered, name, field.type);
      }
      for (const name of keysOf(value)) {
        if (!type.fields.has(name)) setOwn(ordered, name, value[name]);
        if (++visited % valuesPerStep === 0) yield;
      }
    }
  }
  return result['root'];
}
