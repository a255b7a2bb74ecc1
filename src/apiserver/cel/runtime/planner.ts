/** Compiles a checked tree to closures. Upstream: cel-go interpreter/{planner,interpretable,decorators}.go. */
import type { CheckedAst } from '../check/checker.ts';
import type { FunctionDeclaration, Overload } from '../check/declarations.ts';
import { listCreateCost, mapCreateCost, selectAndIdentCost, structCreateCost } from '../cost/factors.ts';
import { type CallCost, callCost } from '../cost/runtime-cost.ts';
import { isConversion } from '../library/standard.ts';
import {
  type Call,
  type Comprehension,
  type Expr,
  type List,
  type MapLiteral,
  operators,
  type Select,
  type Struct,
} from '../syntax/ast.ts';
import { type Attribute, presenceTest, type Qualifier, resolver } from './attribute.ts';
import { equal } from './equality.ts';
import { display } from './format.ts';
import type { Evaluate, Frame } from './frame.ts';
import { accumulatorOf, finished } from './mutable.ts';
import { compilePattern } from './regex.ts';
import {
  CelError,
  CelList,
  CelMap,
  Double,
  mapKey,
  matchesType,
  noSuchOverload,
  Optional,
  typeOf,
  Uint,
  type Value,
  ValueList,
  ValueMap,
} from './values.ts';

/** The parts of an environment that the planner uses. */
export interface PlannerScope {
  findFunction(name: string): FunctionDeclaration | undefined;
  /** Creates a struct with the given fields, or returns an error. */
  newStruct(typeName: string, fields: ReadonlyMap<string, Value>): Value;
}

/**
 * A well-typed expression that cannot be compiled, for example because of an invalid constant pattern; `message` is
 * cel-go's.
 */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

/** A compiled node with the properties that its parent may use. */
interface Plan {
  readonly evaluate: Evaluate;
  /** The value of a constant node. */
  readonly constant?: Value;
  /** The chain of the node; a selection from it extends the chain. */
  readonly attribute?: Attribute;
}

/** Compiles a tree. Throws PlanError. */
export function plan(ast: CheckedAst, scope: PlannerScope): Evaluate {
  return new Planner(ast, scope).plan(ast.expr).evaluate;
}

function constantPlan(value: Value): Plan {
  return { evaluate: () => value, constant: value };
}

function isConstant(plan: Plan): plan is Plan & { readonly constant: Value } {
  return plan.constant !== undefined;
}

class Planner {
  /** Loop variables in scope, the innermost last. */
  readonly #scopes: ReadonlyMap<string, Evaluate>[] = [];
  #slots = 0;

  constructor(
    readonly ast: CheckedAst,
    readonly scope: PlannerScope,
  ) {}

  plan(expr: Expr): Plan {
    const { node } = expr;
    switch (node.kind) {
      case 'literal':
        return constantPlan(node.value);
      case 'ident':
        return this.#planIdent(expr, node.name);
      case 'select':
        return this.#planSelect(node);
      case 'call':
        return this.#planCall(expr, node);
      case 'list':
        return this.#planList(node);
      case 'map':
        return this.#planMap(node);
      case 'struct':
        return this.#planStruct(node);
      case 'comprehension':
        return this.#planComprehension(node);
      case 'unspecified':
        throw new PlanError('unsupported expr');
    }
  }

  #planIdent(expr: Expr, name: string): Plan {
    const type = this.ast.typeNames.get(expr.id);
    if (type) return constantPlan(type);
    return attributePlan({ base: this.#variable(name), qualifiers: [], cost: selectAndIdentCost });
  }

  #variable(name: string): Evaluate {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const local = this.#scopes[i]!.get(name);
      if (local) return local;
    }
    const missing = new CelError(`no such attribute(s): ${name}`);
    return (frame) => {
      const value = frame.activation.resolve(name);
      return value === undefined ? missing : value;
    };
  }

  #planSelect(node: Select): Plan {
    const attribute = extend(this.plan(node.operand), { constant: node.field, key: () => node.field, optional: false });
    return node.testOnly ? { evaluate: presenceTest(attribute) } : attributePlan(attribute);
  }

  #planCall(expr: Expr, node: Call): Plan {
    const args = (node.target ? [node.target, ...node.args] : node.args).map((arg) => this.plan(arg));
    switch (node.function) {
      case operators.logicalAnd:
        return { evaluate: logical(args[0]!.evaluate, args[1]!.evaluate, false) };
      case operators.logicalOr:
        return { evaluate: logical(args[0]!.evaluate, args[1]!.evaluate, true) };
      case operators.conditional:
        return conditional(args[0]!, args[1]!, args[2]!);
      case operators.equals:
        return { evaluate: binary(args[0]!.evaluate, args[1]!.evaluate, equal, callCost(operators.equals, 'equals')) };
      case operators.notEquals:
        return { evaluate: binary(args[0]!.evaluate, args[1]!.evaluate, notEqual, callCost(operators.notEquals, 'not_equals')) };
      case operators.notStrictlyFalse:
        return { evaluate: notStrictlyFalse(args[0]!.evaluate) };
      case operators.index:
        return attributePlan(extend(args[0]!, qualifierOf(args[1]!, false)));
      case operators.optIndex:
      case operators.optSelect:
        return attributePlan(extend(args[0]!, qualifierOf(args[1]!, true)));
      default:
        return this.#planFunction(expr, node, args);
    }
  }

  #planFunction(expr: Expr, node: Call, args: readonly Plan[]): Plan {
    const overloads = this.ast.overloads.get(expr.id) ?? [];
    const overload = overloads.length === 1 ? overloads[0]! : undefined;
    const optional = optionalCall(node.function, overload?.id, args);
    if (optional) return { evaluate: optional };
    if (overload?.id === 'in_list' && isConstant(args[1]!)) {
      const membership = constantMembership(args[0]!.evaluate, args[1].constant as CelList);
      if (membership) return membership;
    }
    const declaration = this.scope.findFunction(node.function)!;
    if (isConstantPattern(node.function, args)) checkPattern(args[1]!.constant as string);
    const run = overload ? (guarded(declaration, overload) ?? declaration.run) : (declaration.run ?? dispatching(declaration));
    if (!run) throw new PlanError(`no such overload: ${node.function}`);
    const cost = callCost(node.function, overload?.id ?? '');
    const evaluate = isConstantPattern(node.function, args) ? callInOrder(args, run, cost) : call(args, run, cost);
    if (args.length === 1 && isConstant(args[0]!) && isConversion(node.function)) return foldConversion(run(args[0].constant));
    return { evaluate };
  }

  #planList(node: List): Plan {
    const plans = node.elements.map((element) => this.plan(element));
    if (plans.every(isConstant) && node.optionals.size === 0) return constantPlan(new ValueList(plans.map(({ constant }) => constant!)));
    const elements = plans.map(({ evaluate }) => evaluate);
    const { optionals } = node;
    return {
      evaluate(frame) {
        const values: Value[] = [];
        let wrong: CelError | undefined;
        for (let i = 0; i < elements.length; i++) {
          let value: Value | undefined = elements[i]!(frame);
          if (optionals.has(i) && !(value instanceof CelError))
            value = optionalContent(value, (shown) => `list element from non-optional value ${shown}`);
          if (value instanceof CelError) {
            wrong = value;
            break;
          }
          if (value !== undefined) values.push(value);
        }
        frame.charge(listCreateCost);
        return wrong ?? new ValueList(values);
      },
    };
  }

  #planMap(node: MapLiteral): Plan {
    const entries = node.entries.map(({ key, value, optional }) => ({ key: this.plan(key), value: this.plan(value), optional }));
    if (entries.every(({ key, value, optional }) => isConstant(key) && isConstant(value) && !optional)) {
      return constantPlan(ValueMap.of(entries.map(({ key, value }) => [key.constant!, value.constant!])));
    }
    return {
      evaluate(frame) {
        const made = evaluateEntries(entries, frame);
        frame.charge(mapCreateCost);
        return made instanceof CelError ? made : ValueMap.of(made);
      },
    };
  }

  #planStruct(node: Struct): Plan {
    const fields = node.fields.map(({ name, value, optional }) => ({ key: constantPlan(name), value: this.plan(value), optional }));
    const { scope } = this;
    return {
      evaluate(frame) {
        const made = evaluateEntries(fields, frame);
        frame.charge(structCreateCost);
        return made instanceof CelError ? made : scope.newStruct(node.typeName, new Map(made as [string, Value][]));
      },
    };
  }

  #planComprehension(node: Comprehension): Plan {
    const init = this.plan(node.accuInit).evaluate;
    const range = this.plan(node.iterRange).evaluate;
    const accu = this.#slots++;
    const first = this.#slots++;
    const second = this.#slots++;
    // The accumulator is initialized when first read; cel.bind may never read it.
    const readAccu = (frame: Frame): Value => (frame.locals[accu] ??= accumulatorOf(init(frame)));
    this.#scopes.push(new Map([[node.accuVar, readAccu]]));
    const iteration = new Map<string, Evaluate>([[node.iterVar, (frame) => frame.locals[first]!]]);
    if (node.iterVar2 !== undefined) iteration.set(node.iterVar2, (frame) => frame.locals[second]!);
    this.#scopes.push(iteration);
    const condition = this.plan(node.loopCondition);
    const step = this.plan(node.loopStep).evaluate;
    this.#scopes.pop();
    const result = this.plan(node.result).evaluate;
    this.#scopes.pop();
    const loop: Loop = { accu, first, second, two: node.iterVar2 !== undefined, condition: condition.evaluate, step };
    const runs = condition.constant !== false;
    return {
      evaluate(frame) {
        const values = range(frame);
        if (values instanceof CelError) return values;
        frame.locals[accu] = undefined;
        const wrong = runs ? iterate(frame, values, loop) : undefined;
        return wrong ?? finished(result(frame));
      },
    };
  }
}

interface Loop {
  readonly accu: number;
  readonly first: number;
  readonly second: number;
  /** True for loops with two variables. */
  readonly two: boolean;
  readonly condition: Evaluate;
  readonly step: Evaluate;
}

/** Runs a loop. Returns an error if its range is not iterable. */
function iterate(frame: Frame, range: Value, loop: Loop): CelError | undefined {
  const { locals } = frame;
  if (range instanceof CelList) {
    for (let i = 0; i < range.size; i++) {
      locals[loop.first] = loop.two ? i : range.get(i);
      if (loop.two) locals[loop.second] = range.get(i);
      if (!turn(frame, loop)) break;
    }
    return undefined;
  }
  if (!(range instanceof CelMap)) return new CelError(`got '${goTypeName(range)}', expected iterable type`);
  for (const key of range.keys()) {
    locals[loop.first] = key;
    if (loop.two) locals[loop.second] = range.find(key)!;
    if (!turn(frame, loop)) break;
  }
  return undefined;
}

/** Runs one iteration. Returns false if it was the last; a condition that is an error does not end the loop. */
function turn(frame: Frame, loop: Loop): boolean {
  if (loop.condition(frame) === false) return false;
  frame.locals[loop.accu] = loop.step(frame);
  return true;
}

/** Returns the name of the value's type in Go's %T. */
function goTypeName(value: Value): string {
  if (value instanceof Optional) return '*types.Optional';
  const name = value instanceof Double || value instanceof Uint ? value.constructor.name : typeOf(value).name.replace(/^.*\.|_type$/g, '');
  return `types.${name[0]!.toUpperCase()}${name.slice(1)}`;
}

function attributePlan(attribute: Attribute): Plan {
  const resolve = resolver(attribute);
  const { cost } = attribute;
  if (cost === 0) return { evaluate: resolve, attribute };
  return {
    attribute,
    evaluate(frame) {
      const value = resolve(frame);
      frame.charge(cost);
      return value;
    },
  };
}

/** Extends the chain of an operand by one link. */
function extend(operand: Plan, qualifier: Qualifier): Attribute {
  const attribute = operand.attribute ?? { base: operand.evaluate, qualifiers: [], cost: selectAndIdentCost };
  return { ...attribute, qualifiers: [...attribute.qualifiers, qualifier] };
}

function qualifierOf(index: Plan, optional: boolean): Qualifier {
  return { constant: index.constant, key: index.attribute ? resolver(index.attribute) : index.evaluate, optional };
}

/** Compiles a conditional. Branches that are chains are resolved without charging their cost, as in upstream. */
function conditional(condition: Plan, then: Plan, otherwise: Plan): Plan {
  const test = condition.evaluate;
  const yes = then.attribute ? resolver(then.attribute) : then.evaluate;
  const no = otherwise.attribute ? resolver(otherwise.attribute) : otherwise.evaluate;
  const base: Evaluate = (frame) => {
    const value = test(frame);
    if (value === true) return yes(frame);
    if (value === false) return no(frame);
    return value instanceof CelError ? value : noSuchOverload();
  };
  return attributePlan({ base, qualifiers: [], cost: 0 });
}

/**
 * Compiles `&&` (decided by false) and `||` (decided by true): a decisive operand takes precedence over an error of the
 * other.
 */
function logical(left: Evaluate, right: Evaluate, decisive: boolean): Evaluate {
  return (frame) => {
    const first = left(frame);
    if (first === decisive) return decisive;
    const second = right(frame);
    if (second === decisive) return decisive;
    if (typeof first !== 'boolean') return first instanceof CelError ? first : noSuchOverload();
    if (typeof second !== 'boolean') return second instanceof CelError ? second : noSuchOverload();
    return !decisive;
  };
}

/** Evaluates a loop condition; an error continues the loop. */
function notStrictlyFalse(condition: Evaluate): Evaluate {
  return (frame) => {
    const value = condition(frame);
    frame.charge(1);
    return typeof value === 'boolean' ? value : true;
  };
}

function notEqual(a: Value, b: Value): Value {
  return equal(a, b) !== true;
}

/** Charges a call before it runs, if its cost does not depend on the result, so that no call exceeds the limit first. */
function chargeBefore(frame: Frame, cost: CallCost, args: readonly Value[]): void {
  if (typeof cost === 'number') frame.charge(cost);
  else if (cost.length < 2) frame.charge(cost(args, null));
}

function chargeAfter(frame: Frame, cost: CallCost, args: readonly Value[], result: Value): void {
  if (typeof cost !== 'number' && cost.length > 1) frame.charge(cost(args, result));
}

function binary(left: Evaluate, right: Evaluate, run: (a: Value, b: Value) => Value, cost: CallCost): Evaluate {
  const simple = typeof cost === 'number';
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    if (simple) frame.charge(cost);
    else chargeBefore(frame, cost, [a, b]);
    const result = a instanceof CelError ? a : b instanceof CelError ? b : run(a, b);
    if (!simple) chargeAfter(frame, cost, [a, b], result);
    return result;
  };
}

function unary(arg: Evaluate, run: (a: Value) => Value, cost: CallCost): Evaluate {
  const simple = typeof cost === 'number';
  return (frame) => {
    const a = arg(frame);
    if (simple) frame.charge(cost);
    else chargeBefore(frame, cost, [a]);
    const result = a instanceof CelError ? a : run(a);
    if (!simple) chargeAfter(frame, cost, [a], result);
    return result;
  };
}

/** Compiles a call. Calls with more than two arguments return at the first argument that is an error, without charging. */
function call(args: readonly Plan[], run: (...args: Value[]) => Value, cost: CallCost): Evaluate {
  if (args.length === 1) return unary(args[0]!.evaluate, run, cost);
  if (args.length === 2) return binary(args[0]!.evaluate, args[1]!.evaluate, run, cost);
  return callInOrder(args, run, cost);
}

function callInOrder(args: readonly Plan[], run: (...args: Value[]) => Value, cost: CallCost): Evaluate {
  const evaluates = args.map(({ evaluate }) => evaluate);
  return (frame) => {
    const values: Value[] = [];
    for (const evaluate of evaluates) {
      const value = evaluate(frame);
      if (value instanceof CelError) return value;
      values.push(value);
    }
    chargeBefore(frame, cost, values);
    const result = run(...values);
    chargeAfter(frame, cost, values, result);
    return result;
  };
}

function noMatchingOverload(name: string, args: readonly Value[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map((arg) => typeOf(arg).name).join(', ')})`);
}

function matches(overload: Overload, args: readonly Value[]): boolean {
  return overload.args.length === args.length && overload.args.every((type, index) => matchesType(type, args[index]!));
}

/**
 * Returns the implementation of one overload, guarded by a type check of the arguments; undefined if it has none of its own.
 */
function guarded(declaration: FunctionDeclaration, overload: Overload): ((...args: Value[]) => Value) | undefined {
  if (!overload.run) return undefined;
  const otherwise = declaration.run ?? ((...args: Value[]) => noMatchingOverload(declaration.name, args));
  const run = overload.run.bind(overload);
  const [first, second] = overload.args;
  switch (overload.args.length) {
    case 1:
      return (a) => (matchesType(first!, a!) ? run(a!) : otherwise(a!));
    case 2:
      return (a, b) => (matchesType(first!, a!) && matchesType(second!, b!) ? run(a!, b!) : otherwise(a!, b!));
    default:
      return (...args) => (matches(overload, args) ? run(...args) : otherwise(...args));
  }
}

/** Returns a function that selects the overload by the runtime types of the arguments. */
function dispatching(declaration: FunctionDeclaration): (...args: Value[]) => Value {
  return (...args) => {
    const overload = declaration.overloads.find((candidate) => candidate.run && matches(candidate, args));
    return overload ? overload.run!(...args) : noMatchingOverload(declaration.name, args);
  };
}

function foldConversion(value: Value): Plan {
  if (value instanceof CelError) throw new PlanError(value.message);
  return constantPlan(value);
}

/** Compiles `or` and `orValue` of optionals, which evaluate their argument only if there is no value, and cost nothing. */
function optionalCall(name: string, overload: string | undefined, args: readonly Plan[]): Evaluate | undefined {
  if (args.length !== 2 || (name !== 'or' && name !== 'orValue')) return undefined;
  if (overload !== undefined && !overload.startsWith('optional_or')) return undefined;
  const [left, right] = [args[0]!.evaluate, args[1]!.evaluate];
  return (frame) => {
    const optional = left(frame);
    if (!(optional instanceof Optional)) return optional;
    if (optional.value === undefined) return right(frame);
    return name === 'or' ? optional : optional.value;
  };
}

/** Compiles `x in [constants]` to a set lookup, free of cost as in upstream; undefined if the constants do not allow it. */
function constantMembership(element: Evaluate, list: CelList): Plan | undefined {
  if (list.size === 0) return constantPlan(false);
  const keys = new Set<unknown>();
  for (const value of list) {
    const key = mapKey(value);
    if (typeof key === 'object') return undefined;
    keys.add(key);
  }
  return {
    evaluate(frame) {
      const value = element(frame);
      return value instanceof CelError ? value : keys.has(mapKey(value));
    },
  };
}

const patternFunctions: ReadonlySet<string> = new Set(['matches', 'find', 'findAll']);

function isConstantPattern(name: string, args: readonly Plan[]): boolean {
  return patternFunctions.has(name) && typeof args[1]?.constant === 'string';
}

/** Compiles a constant pattern early, so that an invalid one is a compile error. */
function checkPattern(pattern: string): void {
  const compiled = compilePattern(pattern);
  if (compiled instanceof CelError) throw new PlanError(compiled.message);
}

interface PlannedEntry {
  readonly key: Plan;
  readonly value: Plan;
  readonly optional: boolean;
}

/** Returns the content of an optional; undefined if it has none. */
function optionalContent(value: Value, message: (shown: string) => string): Value | undefined {
  return value instanceof Optional ? value.value : new CelError(`cannot initialize optional ${message(display(value))}`);
}

function evaluateEntries(entries: readonly PlannedEntry[], frame: Frame): (readonly [Value, Value])[] | CelError {
  const made: (readonly [Value, Value])[] = [];
  for (const entry of entries) {
    const key = entry.key.evaluate(frame);
    if (key instanceof CelError) return key;
    let value: Value | undefined = entry.value.evaluate(frame);
    if (value instanceof CelError) return value;
    if (entry.optional) value = optionalContent(value, (shown) => `entry '${display(key)}' from non-optional value ${shown}`);
    if (value instanceof CelError) return value;
    if (value !== undefined) made.push([key, value]);
  }
  return made;
}
