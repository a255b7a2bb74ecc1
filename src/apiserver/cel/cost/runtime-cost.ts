/**
 * Runtime costs of calls. Upstream: cel-go interpreter/runtimecost.go, ext/lists.go, apiserver/pkg/cel/library/cost.go.
 *
 * The planner contains the costs of all other nodes (identifiers, selections, literals).
 */
import { CelList, CelMap, isCelObject, Optional, textSize, type Value } from '../runtime/values.ts';
import { operators } from '../syntax/ast.ts';
import {
  authorizationCheckCost,
  listCreateCost,
  regexLengthFactor,
  selectorRequirementFactor,
  stringTraversalFactor,
  structCreateCost,
} from './factors.ts';

/**
 * The cost of a call: a number, or a function of the arguments (the target first) and optionally of the result. Functions
 * with one parameter are evaluated before the call.
 */
export type CallCost = number | ((args: readonly Value[], result: Value) => number);

/** Returns the size of a value for cost computations: code points, bytes, elements or entries; 1 for other values. */
export function actualSize(value: Value): number {
  if (typeof value === 'string') return textSize(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : actualSize(value.value);
  return 'size' in value && typeof value.size === 'number' ? value.size : 1;
}

function traversal(size: number): number {
  return Math.ceil(size * stringTraversalFactor);
}

/** Cost of traversing the argument at `index`, times `factor`. */
function traversing(index: number, factor = 1): CallCost {
  return (args) => Math.ceil(actualSize(args[index]!) * factor * stringTraversalFactor);
}

function matching(args: readonly Value[]): number {
  return traversal(1 + actualSize(args[0]!)) * Math.ceil(actualSize(args[1]!) * regexLengthFactor);
}

/** Returns the cost of traversing a value with all its parts. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * stringTraversalFactor);
  if (value instanceof Uint8Array) return Math.trunc(value.length * stringTraversalFactor);
  let cost = 0;
  if (value instanceof CelList) {
    for (const item of value) cost += traversalCost(item);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.find(key)!);
  } else {
    cost = 1;
  }
  return cost;
}

function selector(args: readonly Value[]): number {
  const length = actualSize(args[1]!);
  return listCreateCost + traversal(length) + Math.ceil(length * selectorRequirementFactor) * (listCreateCost + structCreateCost);
}

function contained(args: readonly Value[], extra: number, otherIsText: boolean): number {
  const own = actualSize(args[0]!);
  return traversal(own + own) + extra * (traversal(own) + 1) + (otherIsText ? traversal(actualSize(args[1]!)) : 0);
}

const one = 1;

/** Costs of the Kubernetes libraries by function. */
const byFunction: Readonly<Record<string, CallCost>> = {
  check: authorizationCheckCost,
  ...Object.fromEntries(
    'serviceAccount path group resource subresource namespace name allowed reason error errored'.split(' ').map((name) => [name, one]),
  ),
  fieldSelector: selector,
  labelSelector: selector,
  ...Object.fromEntries(
    'isSorted sum max min indexOf lastIndexOf'.split(' ').map((name) => [name, (args: readonly Value[]) => traversalCost(args[0]!)]),
  ),
  ...Object.fromEntries('url lowerAscii upperAscii substring trim jsonpatch.escapeKey'.split(' ').map((name) => [name, traversing(0)])),
  replace: traversing(0, 2),
  split: traversing(0, 2),
  join: (_args, result) => Math.ceil(actualSize(result) * 2 * stringTraversalFactor),
  find: matching,
  findAll: matching,
  ...Object.fromEntries('cidr isIP isCIDR quantity isQuantity semver isSemver ip'.split(' ').map((name) => [name, traversing(0)])),
  'ip.isCanonical': traversing(0, 2),
  ...Object.fromEntries(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named'
      .split(' ')
      .map((name) => [name, one]),
  ),
  ...Object.fromEntries(
    'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch'
      .split(' ')
      .map((name) => [name, one]),
  ),
  ...Object.fromEntries('getScheme getHostname getHost getPort getEscapedPath getQuery'.split(' ').map((name) => [name, one])),
  validate: (args) => {
    const format = args[0]!;
    const regexSize = isCelObject(format) && 'maxRegexSize' in format ? Number(format.maxRegexSize) : 0;
    return traversal(1 + actualSize(args[1]!)) * Math.ceil(regexSize * regexLengthFactor);
  },
};

/** Costs of the Kubernetes libraries by overload. */
const byKubernetesOverload: Readonly<Record<string, CallCost>> = {
  cidr_ip: one,
  cidr_contains_ip_string: (args) => contained(args, 0, true),
  cidr_contains_ip_ip: (args) => contained(args, 0, false),
  cidr_contains_cidr_string: (args) => contained(args, 1, true),
  cidr_contains_cidr: (args) => contained(args, 1, false),
};

function output(_args: readonly Value[], result: Value): number {
  return allocating(1, actualSize(result));
}

function allocating(factor: number, size: number): number {
  return size * factor + 1 + listCreateCost;
}

function flattening(args: readonly Value[]): number {
  return Math.trunc(allocating(args.length === 2 ? Number(args[1]) : 1, actualSize(args[0]!)));
}

/** Cost of comparing each element with every other, as assumed for sort and distinct. */
function selfComparing(args: readonly Value[]): number {
  const list = args.at(-1)!;
  const size = actualSize(list);
  const first = list instanceof CelList && size > 0 ? list.get(0) : undefined;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + stringTraversalFactor : 2;
  return Math.trunc(allocating(factor, size * size));
}

function crossing(factor: number): CallCost {
  return (args) => 1 + Math.trunc(actualSize(args[0]!) * actualSize(args[1]!) * factor);
}

/** Costs of cel-go's list and set libraries by overload; they take precedence. */
const byListOverload: Readonly<Record<string, CallCost>> = {
  list_slice: output,
  list_flatten: flattening,
  list_flatten_int: flattening,
  lists_range: output,
  list_reverse: output,
  list_distinct: selfComparing,
  list_sets_contains_list: crossing(1),
  list_sets_intersects_list: crossing(1),
  list_sets_equivalent_list: crossing(2),
};

/** Cost of comparing both arguments up to the end of the shorter one. */
function comparing(args: readonly Value[]): number {
  return traversal(Math.min(actualSize(args[0]!), actualSize(args[1]!)));
}

/** Cost of `==`; objects of the Kubernetes libraries have a constant cost. */
function equating(args: readonly Value[]): number {
  return isCelObject(args[0]!) ? 1 : comparing(args);
}

/** Costs of cel-go by overload. */
const byOverload: Readonly<Record<string, CallCost>> = {
  ...Object.fromEntries(
    'starts_with_string ends_with_string string_to_bytes bytes_to_string strings_quote string_format'
      .split(' ')
      .map((id) => [id, traversing(0)]),
  ),
  in_list: (args) => actualSize(args[1]!),
  ...Object.fromEntries(
    ['less', 'greater', 'less_equals', 'greater_equals'].flatMap((name) => [
      [`${name}_string`, comparing],
      [`${name}_bytes`, comparing],
    ]),
  ),
  not_equals: comparing,
  add_string: (args) => traversal(actualSize(args[0]!) + actualSize(args[1]!)),
  add_bytes: (args) => traversal(actualSize(args[0]!) + actualSize(args[1]!)),
  matches_string: matching,
  contains_string: (args) => traversal(actualSize(args[0]!)) * traversal(actualSize(args[1]!)),
};

/** Returns the cost of calls of a function. `overload` is empty if several overloads are possible. */
export function callCost(name: string, overload: string): CallCost {
  if (name === operators.equals) return equating;
  if (overload.endsWith('_sort') || overload.endsWith('_sortByAssociatedKeys')) return selfComparing;
  for (const [table, key] of [
    [byListOverload, overload],
    [byKubernetesOverload, overload],
    [byFunction, name],
    [byOverload, overload],
  ] as const) {
    if (Object.hasOwn(table, key)) return table[key]!;
  }
  return one;
}
