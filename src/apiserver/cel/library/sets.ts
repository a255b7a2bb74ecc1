/** Set operations on lists. Upstream: cel-go ext/sets.go. */
import { func, type FunctionDeclaration, global } from '../check/declarations.ts';
import { boolType, listType, typeParam } from '../check/types.ts';
import type { Library } from '../environment.ts';
import type { CelList, Value } from '../runtime/values.ts';
import { isIn } from './standard.ts';

const listT = listType(typeParam('T'));

function contains(list: CelList, sublist: CelList): Value {
  for (const item of sublist) if (isIn(item, list) !== true) return false;
  return true;
}

function intersects(a: CelList, b: CelList): Value {
  for (const item of a) if (isIn(item, b) === true) return true;
  return false;
}

const functions: readonly FunctionDeclaration[] = [
  func('sets.contains', global('list_sets_contains_list', [listT, listT], boolType, contains)),
  func(
    'sets.equivalent',
    global(
      'list_sets_equivalent_list',
      [listT, listT],
      boolType,
      (a: CelList, b: CelList) => contains(a, b) === true && contains(b, a) === true,
    ),
  ),
  func('sets.intersects', global('list_sets_intersects_list', [listT, listT], boolType, intersects)),
];

export const setsLibrary: Library = { functions };
