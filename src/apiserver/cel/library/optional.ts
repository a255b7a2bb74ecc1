/** Optional values. Upstream: cel-go cel/library.go (OptionalTypes). */
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import { boolType, dynType, intType, listType, mapType, opaqueType, optionalType, stringType, typeParam } from '../check/types.ts';
import { display } from '../runtime/format.ts';
import { CelError, CelList, CelMap, Double, Duration, Optional, Timestamp, Uint, type Value, ValueList } from '../runtime/values.ts';
import type { Library } from '../environment.ts';
import { operators } from '../syntax/ast.ts';
import { optionalMacros } from '../syntax/macros.ts';

const k = typeParam('K');
const v = typeParam('V');
const optionalV = optionalType(v);
const listV = listType(v);
const mapKV = mapType(k, v);

/** True if the value is the zero value of its type. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0) return true;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === -62135596800 && value.nanos === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  return false;
}

function unwrap(list: CelList): Value {
  const values: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) return new CelError(`value ${display(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ValueList(values);
}

function at(list: CelList, index: number): Optional {
  return list.size === 0 ? Optional.none : new Optional(list.get(index));
}

/** The planner evaluates `or`, `orValue` and the optional operators. */
const functions: readonly FunctionDeclaration[] = [
  func(
    'optional.of',
    global('optional_of', [v], optionalV, (value) => new Optional(value!)),
  ),
  func(
    'optional.ofNonZeroValue',
    global('optional_ofNonZeroValue', [v], optionalV, (value) => (isZero(value!) ? Optional.none : new Optional(value))),
  ),
  func(
    'optional.none',
    global('optional_none', [], optionalV, () => Optional.none),
  ),
  func(
    'value',
    member('optional_value', [optionalV], v, ({ value }: Optional) =>
      value === undefined ? new CelError('optional.none() dereference') : value,
    ),
  ),
  func(
    'hasValue',
    member('optional_hasValue', [optionalV], boolType, ({ value }: Optional) => value !== undefined),
  ),
  func('or', member('optional_or_optional', [optionalV, optionalV], optionalV)),
  func('orValue', member('optional_orValue_value', [optionalV, v], v)),
  func(operators.optSelect, global('select_optional_field', [dynType, stringType], optionalV)),
  func(
    operators.optIndex,
    global('list_optindex_optional_int', [listV, intType], optionalV),
    global('optional_list_optindex_optional_int', [optionalType(listV), intType], optionalV),
    global('map_optindex_optional_value', [mapKV, k], optionalV),
    global('optional_map_optindex_optional_value', [optionalType(mapKV), k], optionalV),
  ),
  func(
    operators.index,
    global('optional_list_index_int', [optionalType(listV), intType], optionalV),
    global('optional_map_index_value', [optionalType(mapKV), k], optionalV),
  ),
  func(
    'first',
    member('list_first', [listV], optionalV, (list: CelList) => at(list, 0)),
  ),
  func(
    'last',
    member('list_last', [listV], optionalV, (list: CelList) => at(list, list.size - 1)),
  ),
  func('optional.unwrap', global('optional_unwrap', [listType(optionalV)], listV, unwrap)),
  func('unwrapOpt', member('optional_unwrapOpt', [listType(optionalV)], listV, unwrap)),
];

export const optionalLibrary: Library = { functions, macros: optionalMacros, types: [opaqueType('optional_type')] };
