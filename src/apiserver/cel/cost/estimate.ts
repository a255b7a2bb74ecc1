/** Static cost estimates from the bounds of the data. Upstream: cel-go checker/cost.go. */
import type { CheckedAst } from '../check/checker.ts';
import { type CelType, dynType, isOptionalType } from '../check/types.ts';
import type { DeclType } from '../decl-type.ts';
import { textSize, type Value } from '../runtime/values.ts';
import { accumulatorName, type Call, type Comprehension, type Expr, legacyAccumulatorName, type Select } from '../syntax/ast.ts';
import { type CallEstimate, estimateCall, type SizedNode } from './call-estimate.ts';
import {
  listCreateCost,
  mapCreateCost,
  regexLengthFactor,
  selectAndIdentCost,
  stringTraversalFactor,
  structCreateCost,
} from './factors.ts';
import { add, fixed, type Interval, multiply, scale, sum, unbounded, union, unknown, zero } from './interval.ts';

export type { Interval } from './interval.ts';
export { unbounded } from './interval.ts';

/** Returns the bounds of the size at a path such as `['self', 'items', '@items', 'name']`; undefined if unknown. */
export type SizeEstimator = (path: readonly string[]) => Interval | undefined;

/** Returns a size estimator for variables with declared types. Paths that do not exist have unknown sizes. */
export function sizesOf(variables: Readonly<Record<string, DeclType>>): SizeEstimator {
  return ([variable, ...rest]) => sizeAt(Object.hasOwn(variables, variable!) ? variables[variable!] : undefined, rest);
}

/**
 * Returns a size estimator that resolves every path from the type of `self`, as upstream does regardless of the first path
 * segment: also for names that are not variables (`string` in `type(self) == string`) and for call results, whose elements
 * have a path that starts with `@items`. Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go
 * (sizeEstimator).
 */
export function sizesFromRoot(root: DeclType): SizeEstimator {
  return ([, ...rest]) => sizeAt(root, rest);
}

function sizeAt(root: DeclType | undefined, path: readonly string[]): Interval | undefined {
  let type = root;
  for (const part of path) type = type && partType(type, part);
  return type && { min: 0, max: type.maxElements };
}

function partType(type: DeclType, part: string): DeclType | undefined {
  if (part === '@items' || part === '@values') return type.elemType;
  return part === '@keys' ? type.keyType : type.fields?.get(part)?.type;
}

/** Estimates the cost of an expression. */
export function estimateCost(ast: CheckedAst, sizes: SizeEstimator): Interval {
  return new Estimation(ast, sizes).cost(ast.expr);
}

/** Sizes of the entries of a list or map. */
interface EntrySize {
  readonly isList: boolean;
  readonly key: Interval;
  readonly value: Interval;
}

interface Local {
  readonly path: readonly string[] | undefined;
  readonly size: Interval | undefined;
  readonly entrySize: EntrySize | undefined;
}

function unionOfEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  return a && b && { isList: a.isList, key: union(a.key, b.key), value: union(a.value, b.value) };
}

/** The empty interval, the identity of `union`. */
const nothing: Interval = { min: unbounded, max: 0 };

class Estimation {
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Interval>();
  readonly #entrySizes = new Map<number, EntrySize>();
  readonly #locals: (readonly [name: string, local: Local])[] = [];

  constructor(
    readonly ast: CheckedAst,
    readonly estimateSize: SizeEstimator,
  ) {}

  cost(expr: Expr): Interval {
    const { node } = expr;
    switch (node.kind) {
      case 'ident':
        this.#setPath(expr, this.#local(node.name)?.path ?? [node.name]);
        return fixed(selectAndIdentCost);
      case 'select':
        return this.#costSelect(expr, node);
      case 'call':
        return this.#costCall(expr, node);
      case 'list': {
        const costs = node.elements.map((element) => this.cost(element));
        this.#entrySizes.set(expr.id, { isList: true, key: fixed(1), value: this.#unionOf(node.elements) });
        return add(sum(costs), fixed(listCreateCost));
      }
      case 'map': {
        const costs = node.entries.flatMap(({ key, value }) => [this.cost(key), this.cost(value)]);
        const key = this.#unionOf(node.entries.map((entry) => entry.key));
        this.#entrySizes.set(expr.id, { isList: false, key, value: this.#unionOf(node.entries.map((entry) => entry.value)) });
        return add(sum(costs), fixed(mapCreateCost));
      }
      case 'struct':
        return add(sum(node.fields.map(({ value }) => this.cost(value))), fixed(structCreateCost));
      case 'comprehension':
        return isBind(node) ? this.#costBind(expr, node) : this.#costComprehension(expr, node);
      default:
        return zero;
    }
  }

  #unionOf(exprs: readonly Expr[]): Interval {
    return exprs.length === 0 ? zero : exprs.map((expr) => this.#sizeOrUnknown(expr)).reduce(union, nothing);
  }

  #typeOf(expr: Expr): CelType {
    return this.ast.types.get(expr.id) ?? dynType;
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast(([known]) => known === name)?.[1];
  }

  #setPath(expr: Expr, path: readonly string[]): void {
    this.#paths.set(expr.id, path);
  }

  #pathOf({ id, node }: Expr): readonly string[] | undefined {
    const local = node.kind === 'ident' ? this.#local(node.name) : undefined;
    return local ? local.path : this.#paths.get(id);
  }

  #extendedPath(expr: Expr, part: string): readonly string[] {
    return [...(this.#pathOf(expr) ?? []), part];
  }

  #sizeOf(expr: Expr): Interval | undefined {
    const known = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (known) return known;
    const path = this.#pathOf(expr);
    const estimated = path && path.length > 0 ? this.estimateSize(path) : undefined;
    if (estimated) {
      this.#sizes.set(expr.id, estimated);
      return estimated;
    }
    if (isScalar(this.#typeOf(expr))) return fixed(1);
    return expr.node.kind === 'ident' ? this.#local(expr.node.name)?.size : undefined;
  }

  #sizeOrUnknown(expr: Expr): Interval {
    return this.#sizeOf(expr) ?? unknown;
  }

  #entrySizeOf(expr: Expr): EntrySize | undefined {
    const known = this.#entrySizes.get(expr.id);
    if (known) return known;
    return expr.node.kind === 'ident' ? this.#local(expr.node.name)?.entrySize : undefined;
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size) this.#sizes.set(to.id, size);
    const entrySize = this.#entrySizeOf(from);
    if (entrySize) this.#entrySizes.set(to.id, entrySize);
  }

  #sized(expr: Expr): SizedNode {
    const path = this.#pathOf(expr);
    const isAccumulator = path?.[0] === accumulatorName || path?.[0] === legacyAccumulatorName;
    return { path: isAccumulator ? undefined : path, type: this.#typeOf(expr), expr, size: this.#sizeOf(expr) };
  }

  #costSelect(expr: Expr, node: Select): Interval {
    const operand = this.cost(node.operand);
    if (node.testOnly) return operand;
    this.#setPath(expr, this.#extendedPath(node.operand, node.field));
    const { kind } = this.#typeOf(node.operand);
    return kind === 'map' || kind === 'struct' || kind === 'typeParam' ? add(operand, fixed(selectAndIdentCost)) : operand;
  }

  #costCall(expr: Expr, node: Call): Interval {
    if (node.function === 'dyn') {
      const cost = add(fixed(1), this.cost(node.args[0]!));
      this.#copySizes(expr, node.args[0]!);
      return cost;
    }
    const argCosts = node.args.map((arg) => this.cost(arg));
    const args = node.args.map((arg) => this.#sized(arg));
    const overloads = this.ast.overloads.get(expr.id) ?? [];
    if (overloads.length === 0) return zero;
    const targetCost = node.target ? this.cost(node.target) : zero;
    const target = node.target && this.#sized(node.target);
    let cost = nothing;
    let resultSize: Interval | undefined;
    for (const { id } of overloads) {
      const estimate = this.#costOverload(expr, node, id, target, args, argCosts);
      cost = union(cost, estimate.cost);
      if (estimate.resultSize) resultSize = resultSize ? union(resultSize, estimate.resultSize) : estimate.resultSize;
      if (id === 'index_list' || id === 'index_map') {
        resultSize = this.#entrySizeOf(node.args[0]!)?.value;
        this.#setPath(expr, this.#extendedPath(node.args[0]!, id === 'index_list' ? '@items' : '@values'));
      }
      resultSize ??= this.#sizeOf(expr);
    }
    if (resultSize) this.#sizes.set(expr.id, resultSize);
    return add(targetCost, cost);
  }

  #costOverload(
    expr: Expr,
    node: Call,
    overload: string,
    target: SizedNode | undefined,
    args: readonly SizedNode[],
    argCosts: readonly Interval[],
  ): CallEstimate {
    const known = estimateCall({ name: node.function, overload, target, args, sizeAt: this.estimateSize });
    if (known) return { ...known, cost: add(known.cost, sum(argCosts)) };
    switch (overload) {
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: argCosts[0]!.min, max: add(argCosts[0]!, argCosts[1]!).max } };
      case 'conditional': {
        const entries = unionOfEntries(this.#entrySizeOf(node.args[1]!), this.#entrySizeOf(node.args[2]!));
        if (entries) this.#entrySizes.set(expr.id, entries);
        return { cost: add(argCosts[0]!, union(argCosts[1]!, argCosts[2]!)), resultSize: union(sizeOr(args[1]!), sizeOr(args[2]!)) };
      }
      case 'add_string':
      case 'add_bytes':
      case 'add_list': {
        const entries = unionOfEntries(this.#entrySizeOf(node.args[0]!), this.#entrySizeOf(node.args[1]!));
        if (entries) this.#entrySizes.set(expr.id, entries);
        const resultSize = add(sizeOr(args[0]!), sizeOr(args[1]!));
        const own = overload === 'add_list' ? fixed(1) : scale(resultSize, stringTraversalFactor);
        return { cost: add(own, sum(argCosts)), resultSize };
      }
      default: {
        const estimate = languageCall(overload, target, args);
        return { ...estimate, cost: add(estimate.cost, sum(argCosts)) };
      }
    }
  }

  #costBind(expr: Expr, node: Comprehension): Interval {
    const before = add(this.cost(node.iterRange), this.cost(node.accuInit));
    this.#push(node.accuVar, {
      path: this.#pathOf(node.accuInit),
      size: this.#sizeOf(node.accuInit),
      entrySize: this.#entrySizeOf(node.accuInit),
    });
    const result = this.cost(node.result);
    this.#locals.pop();
    this.#copySizes(expr, node.result);
    return add(before, result);
  }

  #push(name: string, local: Local): void {
    this.#locals.push([name, local]);
  }

  #costComprehension(expr: Expr, node: Comprehension): Interval {
    const before = add(this.cost(node.iterRange), this.cost(node.accuInit));
    const { accuInit, iterRange } = node;
    this.#push(node.accuVar, { path: this.#pathOf(accuInit), size: this.#sizeOf(accuInit), entrySize: this.#entrySizeOf(accuInit) });
    const pushed = this.#pushIteration(node);
    const turn = add(this.cost(node.loopCondition), this.cost(node.loopStep));
    this.#locals.length -= pushed;
    const result = this.cost(node.result);
    this.#locals.pop();
    const count = this.#sizeOrUnknown(iterRange);
    if (accuInit.node.kind === 'literal') {
      this.#sizes.set(expr.id, literalSize(accuInit)!);
    } else if (accuInit.node.kind === 'list' || accuInit.node.kind === 'map') {
      this.#sizes.set(expr.id, count);
      const entries = this.#entrySizeOf(node.loopStep);
      if (entries) this.#entrySizes.set(expr.id, entries);
    }
    return add(add(before, result), multiply(count, turn));
  }

  #pushIteration({ iterRange, iterVar, iterVar2 }: Comprehension): number {
    const entries = this.#entrySizeOf(iterRange);
    const isList = entries ? entries.isList : this.#typeOf(iterRange).kind === 'list';
    const key: Local = { path: this.#extendedPath(iterRange, isList ? '@indices' : '@keys'), size: entries?.key, entrySize: undefined };
    const value: Local = { path: this.#extendedPath(iterRange, isList ? '@items' : '@values'), size: entries?.value, entrySize: undefined };
    this.#push(iterVar, iterVar2 === undefined && isList ? value : key);
    if (iterVar2 === undefined) return 1;
    this.#push(iterVar2, value);
    return 2;
  }
}

function sizeOr(node: SizedNode): Interval {
  return node.size ?? unknown;
}

/** Estimates a call of the language itself. */
function languageCall(overload: string, target: SizedNode | undefined, args: readonly SizedNode[]): CallEstimate {
  const size = (index: number): Interval => sizeOr(args[index]!);
  switch (overload) {
    case 'string_format':
      return { cost: scale(sizeOr(target!), stringTraversalFactor) };
    case 'string_to_bytes':
      return { cost: scale(size(0), stringTraversalFactor), resultSize: { min: size(0).min, max: multiply(size(0), fixed(4)).max } };
    case 'bytes_to_string':
      return { cost: scale(size(0), stringTraversalFactor), resultSize: { min: Math.floor(size(0).min / 4), max: size(0).max } };
    case 'strings_quote':
      return {
        cost: scale(size(0), stringTraversalFactor),
        resultSize: { min: size(0).min + 2, max: add(multiply(size(0), fixed(2)), fixed(2)).max },
      };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scale(size(0), stringTraversalFactor) };
    case 'in_list':
      return { cost: size(1) };
    case 'matches_string':
      return { cost: multiply(scale(add(sizeOr(target!), fixed(1)), stringTraversalFactor), scale(size(0), regexLengthFactor)) };
    case 'contains_string':
      return { cost: multiply(scale(sizeOr(target!), stringTraversalFactor), scale(size(0), stringTraversalFactor)) };
    case 'equals':
    case 'not_equals':
      return comparing(size(0), size(1));
    default:
      return /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload) ? comparing(size(0), size(1)) : { cost: fixed(1) };
  }
}

function comparing(left: Interval, right: Interval): CallEstimate {
  const max = Math.min(left.max, right.max);
  return { cost: scale({ min: max > 0 ? 1 : 0, max }, stringTraversalFactor) };
}

/** True for `cel.bind` and similar macros: a comprehension over an empty list. */
function isBind({ iterRange, loopCondition, accuVar }: Comprehension): boolean {
  const range = iterRange.node;
  const condition = loopCondition.node;
  const isEmpty = range.kind === 'list' && range.elements.length === 0;
  return isEmpty && condition.kind === 'literal' && condition.value === false && accuVar !== legacyAccumulatorName;
}

function literalSize({ node }: Expr): Interval | undefined {
  switch (node.kind) {
    case 'literal':
      return fixed(sizeOfLiteral(node.value));
    case 'list':
      return fixed(node.elements.length);
    case 'map':
      return fixed(node.entries.length);
    default:
      return undefined;
  }
}

function sizeOfLiteral(value: Value): number {
  if (typeof value === 'string') return textSize(value);
  return value instanceof Uint8Array ? value.length : 1;
}

function isScalar(type: CelType): boolean {
  if (isOptionalType(type)) return isScalar(type.parameters[0]!);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
