/** Slicing, sorting and deduplication of lists. Upstream: cel-go ext/lists.go, version 3. */
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  stringType,
  timestampType,
  typeParam,
  uintType,
} from '../check/types.ts';
import { perCallLimit } from '../cost/limits.ts';
import type { Library } from '../environment.ts';
import { compare, equal } from '../runtime/equality.ts';
import { CostLimitExceeded } from '../runtime/frame.ts';
import { CelError, CelList, type Int, isInt, matchesType, typeOf, type Value, ValueList } from '../runtime/values.ts';
import { listMacros } from '../syntax/macros.ts';

const t = typeParam('T');
const listT = listType(t);
const comparable = [intType, uintType, doubleType, boolType, durationType, timestampType, stringType, bytesType];

function slice(list: CelList, start: Int, end: Int): Value {
  const failed = (reason: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${reason}`);
  if (start < 0 || end < 0) return failed('negative indexes not supported');
  if (start > end) return failed('start index must be less than or equal to end index');
  if (list.size < end) return failed(`list is length ${list.size}`);
  return new ValueList([...list].slice(Number(start), Number(end)));
}

/** Flattens nested lists down to a depth. The nesting of data is limited as in JSON, so recursion is safe at any depth. */
function flatten(list: CelList, depth: Int): Value {
  if (depth < 0) return new CelError('level must be non-negative');
  let items = [...list];
  for (let level = 0; level < depth && items.some((item) => item instanceof CelList); level++) {
    items = items.flatMap((item) => (item instanceof CelList ? [...item] : [item]));
  }
  return new ValueList(items);
}

/** Flattens a value that may not be a list of lists. */
function flattenAny(list: Value, depth?: Value): Value {
  if (list instanceof CelList && (depth === undefined || isInt(depth))) return flatten(list, depth ?? 1);
  return new CelError(`no such overload: ${typeOf(list)}.flatten(${depth === undefined ? '' : typeOf(depth)})`);
}

function sortBy(list: CelList, keys: CelList): Value {
  if (list.size !== keys.size) {
    const sizes = `${list.size} and ${keys.size}`;
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${sizes} elements respectively`,
    );
  }
  const pairs = [...list].map((item, index) => ({ item, key: keys.get(index) }));
  if (pairs.length === 0) return list;
  const type = typeOf(pairs[0]!.key);
  if (!comparable.some(({ name }) => name === type.name)) return new CelError('list elements must be comparable');
  if (pairs.length > 1 && !pairs.every(({ key }) => matchesType(type, key))) return new CelError('list elements must have the same type');
  pairs.sort((x, y) => Number(compare(x.key, y.key)));
  return new ValueList(pairs.map(({ item }) => item));
}

function range(count: Int): Value {
  // The cost is charged when the list is created; a longer list exceeds the limit of any call.
  if (count > perCallLimit) throw new CostLimitExceeded();
  return new ValueList(Array.from({ length: Math.max(Number(count), 0) }, (_, index) => index));
}

function distinct(list: CelList): Value {
  const seen: Value[] = [];
  for (const item of list) if (!seen.some((other) => equal(item, other) === true)) seen.push(item);
  return new ValueList(seen);
}

const functions: readonly FunctionDeclaration[] = [
  func('slice', member('list_slice', [listT, intType, intType], listT, slice)),
  {
    name: 'flatten',
    overloads: [
      member('list_flatten', [listType(listT)], listT),
      member('list_flatten_int', [listType(dynType), intType], listType(dynType)),
    ],
    run: flattenAny,
  },
  func(
    'sort',
    ...comparable.map((type) => member(`list_${type.name}_sort`, [listType(type)], listType(type), (list: CelList) => sortBy(list, list))),
  ),
  func(
    '@sortByAssociatedKeys',
    ...comparable.map((type) => member(`list_${type.name}_sortByAssociatedKeys`, [listT, listType(type)], listT, sortBy)),
  ),
  func('lists.range', global('lists_range', [intType], listType(intType), range)),
  func(
    'reverse',
    member('list_reverse', [listT], listT, (list: CelList) => new ValueList([...list].reverse())),
  ),
  func('distinct', member('list_distinct', [listT], listT, distinct)),
];

export const listsLibrary: Library = { functions, macros: listMacros };
