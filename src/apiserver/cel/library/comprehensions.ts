/** Functions that the two-variable macros use to build maps. Upstream: cel-go ext/comprehensions.go. */
import { func, type FunctionDeclaration, global } from '../check/declarations.ts';
import { mapType, typeParam } from '../check/types.ts';
import { insertEntry } from '../runtime/mutable.ts';
import { CelError, type CelMap, type Value } from '../runtime/values.ts';
import type { Library } from '../environment.ts';
import { mapInsert, twoVariableMacros } from '../syntax/macros.ts';

const k = typeParam('K');
const v = typeParam('V');
const mapKV = mapType(k, v);

function insertAll(map: CelMap, added: CelMap): Value {
  let result: Value = map;
  for (const key of added.keys()) {
    result = insertEntry(result as CelMap, key, added.find(key)!);
    if (result instanceof CelError) return result;
  }
  return result;
}

const functions: readonly FunctionDeclaration[] = [
  func(
    mapInsert,
    global('@mapInsert_map_key_value', [mapKV, k, v], mapKV, insertEntry),
    global('@mapInsert_map_map', [mapKV, mapKV], mapKV, insertAll),
  ),
];

export const twoVariableLibrary: Library = { functions, macros: twoVariableMacros };
