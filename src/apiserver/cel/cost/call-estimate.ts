/**
 * Cost estimates of calls to the Kubernetes libraries and to cel-go's extensions. Upstream:
 * apiserver/pkg/cel/library/cost.go, cel-go ext/{lists,sets}.go.
 */
import { type CelType, isExactType } from '../check/types.ts';
import { isInt } from '../runtime/values.ts';
import type { Expr } from '../syntax/ast.ts';
import {
  authorizationCheckCost,
  listCreateCost,
  regexLengthFactor,
  selectorRequirementFactor,
  stringTraversalFactor,
  structCreateCost,
} from './factors.ts';
import { add, fixed, type Interval, multiply, scale, unbounded, unknown, zero } from './interval.ts';

/** Properties of a node that estimates depend on. */
export interface SizedNode {
  /** Path from a variable to the node; undefined if there is none. */
  readonly path: readonly string[] | undefined;
  readonly type: CelType;
  readonly expr: Expr | undefined;
  /** Bounds of its size; undefined if unknown. */
  readonly size: Interval | undefined;
}

export interface CallEstimate {
  readonly cost: Interval;
  /** Bounds of the result's size. */
  readonly resultSize?: Interval | undefined;
}

/** A call to be estimated, without the cost of its arguments. */
export interface EstimatedCall {
  readonly name: string;
  readonly overload: string;
  readonly target: SizedNode | undefined;
  readonly args: readonly SizedNode[];
  /** Returns the bounds of the size at a path that is not in the tree. */
  sizeAt(path: readonly string[]): Interval | undefined;
}

type Estimator = (call: EstimatedCall) => CallEstimate | undefined;

const once: CallEstimate = { cost: fixed(1) };

function sizeOf(node: SizedNode): Interval {
  return node.size ?? unknown;
}

function traversal(size: Interval, factor = 1): Interval {
  return scale(size, factor * stringTraversalFactor);
}

function names(list: string, estimator: Estimator): [string, Estimator][] {
  return list.split(' ').map((name) => [name, estimator]);
}

/** Estimates one traversal of the first argument, with a result of the same size. */
const traversingArgument: Estimator = ({ args }) => {
  if (args.length !== 1) return undefined;
  const size = sizeOf(args[0]!);
  return { cost: traversal(size), resultSize: size };
};

const traversingTarget: Estimator = ({ target }) => target && { cost: traversal(sizeOf(target)), resultSize: sizeOf(target) };

const parsing: Estimator = ({ args }) => (args[0] ? { cost: traversal(sizeOf(args[0])) } : undefined);

const selecting: Estimator = ({ args }) => {
  if (args.length !== 1) return undefined;
  const length = sizeOf(args[0]!);
  const requirements = scale(scale(length, selectorRequirementFactor), listCreateCost + structCreateCost);
  return { cost: add(add(fixed(listCreateCost), traversal(length)), requirements) };
};

function elementOf(list: SizedNode, call: EstimatedCall): SizedNode | undefined {
  const type = list.type.parameters[0];
  if (!type) return undefined;
  const path = list.path && [...list.path, '@items'];
  return { path, type, expr: undefined, size: path && call.sizeAt(path) };
}

/** Estimates sums, extremes and searches: one pass over the elements or code points. */
const scanning: Estimator = (call) => {
  const { target } = call;
  if (!target) return undefined;
  const element = elementOf(target, call);
  if (!element) return { cost: traversal(sizeOf(target)) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  return { cost: multiply(sizeOf(target), isText ? add(fixed(1), traversal(sizeOf(element))) : fixed(1)) };
};

/** Returns how often `old` can occur in a text of the given size, and how much text remains without it. */
function replacements(size: number, old: number, shrinks: boolean): { count: number; kept: number } {
  if (old === 0) return { count: size < unbounded ? size + 1 : size, kept: size };
  return shrinks ? { count: 0, kept: size } : { count: Math.ceil(size / old), kept: 0 };
}

const replacing: Estimator = ({ target, args }) => {
  if (!target || args.length < 2) return undefined;
  const size = sizeOf(target);
  const old = sizeOf(args[0]!);
  const by = sizeOf(args[1]!);
  const most = replacements(size.max, old.min, by.max <= old.min);
  const least = replacements(size.min, old.max, old.max <= by.min);
  const resultSize = add(multiply({ min: least.count, max: most.count }, by), { min: least.kept, max: most.kept });
  return { cost: traversal(size, 2), resultSize };
};

const splitting: Estimator = ({ target, args }) => {
  if (!target) return undefined;
  const size = sizeOf(target);
  const limit = args[1]?.expr?.node;
  const max = limit?.kind === 'literal' && isInt(limit.value) ? asCount(Number(limit.value)) : size.max;
  return { cost: traversal(size, 2), resultSize: { min: 0, max } };
};

/** Converts a negative number to a very large one, as upstream's unsigned arithmetic does. */
function asCount(value: number): number {
  return value < 0 ? unbounded : value;
}

const joining: Estimator = (call) => {
  const { target, args } = call;
  if (!target) return undefined;
  const count = sizeOf(target);
  const element = elementOf(target, call);
  let size = element ? multiply(count, sizeOf(element)) : zero;
  if (args[0]) size = add(size, multiply(sizeOf(args[0]), { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) }));
  return { cost: traversal(size), resultSize: size };
};

const finding: Estimator = ({ target, args }) => {
  if (!target || !args[0]) return undefined;
  const size = sizeOf(target);
  const cost = multiply(traversal(add(size, fixed(1))), scale(sizeOf(args[0]), regexLengthFactor));
  return { cost, resultSize: { min: 0, max: size.max } };
};

/** Size of an IP address in bytes. */
const addressSize: Interval = { min: 4, max: 16 };

function containing(textOverload: string, extra: Interval): Estimator {
  return ({ overload, args }) => {
    if (!args[0]) return undefined;
    const compared = add(traversal(add(addressSize, addressSize)), extra);
    return { cost: overload === textOverload ? add(compared, traversal(sizeOf(args[0]))) : compared };
  };
}

const maxNameFormatRegexSize = 128;
const maxFormatSize = 64;

const validating: Estimator = ({ args }) =>
  args[0] ? { cost: scale(traversal(sizeOf(args[0])), maxNameFormatRegexSize * regexLengthFactor) } : undefined;

const comparedAtOnce: ReadonlySet<string> = new Set([
  'kubernetes.Quantity',
  'kubernetes.Semver',
  ...['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map((name) => `kubernetes.authorization.${name}`),
  'net.IP',
  'net.CIDR',
]);

const equating: Estimator = ({ args: [left, right] }) => {
  if (!left || !right || !isExactType(left.type, right.type)) return undefined;
  const { name } = left.type;
  if (comparedAtOnce.has(name)) return once;
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1, max: maxFormatSize }, stringTraversalFactor) };
  return name === 'kubernetes.URL' ? { cost: scale({ min: 1, max: right.size?.max ?? 1 }, stringTraversalFactor) } : undefined;
};

/** Estimators by function name. */
const byFunction: ReadonlyMap<string, Estimator> = new Map([
  ['check', () => ({ cost: fixed(authorizationCheckCost) })],
  ...names('serviceAccount path group resource subresource namespace name allowed reason error errored', () => once),
  ...names('fieldSelector labelSelector', selecting),
  ...names('isSorted sum max min indexOf lastIndexOf', scanning),
  ...names('url jsonpatch.escapeKey', traversingArgument),
  ...names('lowerAscii upperAscii substring trim', traversingTarget),
  ['replace', replacing],
  ['split', splitting],
  ['join', joining],
  ...names('find findAll', finding),
  ...names('cidr isIP isCIDR quantity isQuantity semver isSemver', parsing),
  ['ip', (call) => (call.overload === 'cidr_ip' ? once : parsing(call))],
  ['ip.isCanonical', ({ args }) => (args[0] ? { cost: traversal(sizeOf(args[0]), 2) } : undefined)],
  ...names(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named',
    () => once,
  ),
  ['containsIP', containing('cidr_contains_ip_string', zero)],
  ['containsCIDR', containing('cidr_contains_cidr_string', add(traversal(addressSize), fixed(1)))],
  ['validate', validating],
  ...names('sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch', () => once),
  ...names('getScheme getHostname getHost getPort getEscapedPath getQuery', () => once),
  ['_==_', equating],
] satisfies [string, Estimator][]);

function allocating(factor: number, size: Interval): CallEstimate {
  return { cost: add(scale(size, factor), fixed(1 + listCreateCost)), resultSize: size };
}

/** Returns the value of a literal int, negative ones as zero; `otherwise` for other nodes. */
function literalInt(node: SizedNode | undefined, otherwise: number): number {
  const literal = node?.expr?.node;
  return literal?.kind === 'literal' && isInt(literal.value) ? Math.max(Number(literal.value), 0) : otherwise;
}

const flattening: Estimator = ({ target, args }) =>
  target && allocating(args.length === 1 ? literalInt(args[0], unbounded) : 1, sizeOf(target));

/** Subtracts; a negative difference is very large in upstream's unsigned arithmetic. */
function difference(end: number, start: number): number {
  return end < start ? unbounded : end - start;
}

function sorting(elements: SizedNode | undefined, isText: boolean): CallEstimate | undefined {
  if (!elements) return undefined;
  const size = sizeOf(elements);
  return allocating(isText ? 2 + stringTraversalFactor : 2, multiply(size, size));
}

function crossing(factor: number): Estimator {
  return ({ args: [left, right] }) => left && right && { cost: add(scale(multiply(sizeOf(left), sizeOf(right)), factor), fixed(1)) };
}

/** Estimators of cel-go's list and set libraries, which take precedence. */
const byOverload: ReadonlyMap<string, Estimator> = new Map([
  [
    'list_slice',
    ({ target, args }) => target && allocating(1, fixed(difference(literalInt(args[1], sizeOf(target).max), literalInt(args[0], 0)))),
  ],
  ['list_flatten', flattening],
  ['list_flatten_int', flattening],
  ['lists_range', ({ args }) => allocating(1, fixed(literalInt(args[0], unbounded)))],
  ['list_reverse', ({ target }) => target && allocating(1, sizeOf(target))],
  ['list_distinct', ({ target }) => target && allocating(2, multiply(sizeOf(target), sizeOf(target)))],
  ['list_sets_contains_list', crossing(1)],
  ['list_sets_intersects_list', crossing(1)],
  ['list_sets_equivalent_list', crossing(2)],
] satisfies [string, Estimator][]);

/** Estimates the cost of a library call; undefined for calls of the language. */
export function estimateCall(call: EstimatedCall): CallEstimate | undefined {
  const sorted = /^list_(.*)_sort(ByAssociatedKeys)?$/.exec(call.overload);
  if (sorted) return sorting(sorted[2] ? call.args[0] : call.target, sorted[1] === 'string' || sorted[1] === 'bytes');
  return byOverload.get(call.overload)?.(call) ?? byFunction.get(call.name)?.(call);
}
