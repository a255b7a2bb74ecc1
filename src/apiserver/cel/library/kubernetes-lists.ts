/** Sums, extremes and searches in lists. Upstream: apiserver/pkg/cel/library/lists.go. */
import { func, type FunctionDeclaration, member, type Overload } from '../check/declarations.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listType,
  stringType,
  timestampType,
  typeParam,
  uintType,
} from '../check/types.ts';
import type { Library } from '../environment.ts';
import { addInt, checkedUint } from '../runtime/arithmetic.ts';
import { compare, equal } from '../runtime/equality.ts';
import { addDurations } from '../runtime/time.ts';
import { CelError, type CelList, Double, Duration, type Int, noSuchOverload, Uint, type Value } from '../runtime/values.ts';

/** Ordered types, by their names in overload ids. */
const comparable: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
];

interface Sum {
  readonly name: string;
  readonly type: CelType;
  readonly zero: Value;
  add(a: Value, b: Value): Value;
}

const sums: readonly Sum[] = [
  { name: 'int', type: intType, zero: 0, add: (a, b) => addInt(a as Int, b as Int) },
  { name: 'uint', type: uintType, zero: new Uint(0n), add: (a, b) => checkedUint((a as Uint).value + (b as Uint).value) },
  { name: 'double', type: doubleType, zero: new Double(0), add: (a, b) => new Double((a as Double).value + (b as Double).value) },
  { name: 'duration', type: durationType, zero: new Duration(0n), add: (a, b) => addDurations(a as Duration, b as Duration) },
];

function sum({ name, type, zero, add }: Sum): Overload {
  const kind = zero?.constructor;
  return member(`list_${name}_sum_${name}`, [listType(type)], type, (list: CelList) => {
    let total = zero;
    for (const item of list) {
      if (item?.constructor !== kind && !(name === 'int' && typeof item === 'bigint')) return noSuchOverload();
      total = add(total, item);
      if (total instanceof CelError) return total;
    }
    return total;
  });
}

function isSorted(list: CelList): Value {
  for (let i = 1; i < list.size; i++) {
    if (compare(list.get(i - 1), list.get(i)) === 1) return false;
  }
  return true;
}

/** Returns the function for the first element in the order given by `sign`. */
function extreme(name: string, sign: number): (list: CelList) => Value {
  return (list) => {
    if (list.size === 0) return new CelError(`${name} called on empty list`);
    let best = list.get(0);
    for (const item of list) if (compare(best, item) === sign) best = item;
    return best;
  };
}

function indexOf(list: CelList, item: Value): Value {
  for (let i = 0; i < list.size; i++) if (equal(list.get(i), item) === true) return i;
  return -1;
}

function lastIndexOf(list: CelList, item: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (equal(list.get(i), item) === true) return i;
  return -1;
}

const a = typeParam('A');

const functions: readonly FunctionDeclaration[] = [
  func('isSorted', ...comparable.map(([name, type]) => member(`list_${name}_is_sorted_bool`, [listType(type)], boolType, isSorted))),
  func('sum', ...sums.map(sum)),
  func('max', ...comparable.map(([name, type]) => member(`list_${name}_max_${name}`, [listType(type)], type, extreme('max', -1)))),
  func('min', ...comparable.map(([name, type]) => member(`list_${name}_min_${name}`, [listType(type)], type, extreme('min', 1)))),
  func('indexOf', member('list_a_index_of_int', [listType(a), a], intType, indexOf)),
  func('lastIndexOf', member('list_a_last_index_of_int', [listType(a), a], intType, lastIndexOf)),
];

export const kubernetesListsLibrary: Library = { functions };
