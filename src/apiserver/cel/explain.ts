import { Suspended } from '#apimachinery/runtime/suspended';
import type { Activation } from './runtime/frame.ts';
import { display } from './runtime/format.ts';
import { CelError, type Value } from './runtime/values.ts';
import type { Environment, Expression } from './environment.ts';
import { type Call, type Expr, operators } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { Issues, Source } from './syntax/source.ts';
import { unparse } from './syntax/unparse.ts';
import { NotJsonError, toJson } from './to-json.ts';

/** A part of an expression with its value, as JSON or, if JSON cannot represent it, as text. */
export interface PartValue {
  readonly expression: string;
  readonly value: unknown;
}

/** Limit of parts to keep an explanation readable. */
const maxParts = 40;

/** Macros that bind a loop variable; parts of their arguments have no value outside of the loop. */
const loops = new Set([
  'all',
  'exists',
  'exists_one',
  'existsOne',
  'map',
  'filter',
  'transformList',
  'transformMap',
  'transformMapEntry',
  'bind',
  'sortBy',
]);

/**
 * Returns the parts that determine the value of an expression, outermost first. For a false `a && b` that is the false side;
 * for a false `a || b` both sides; for a comparison or a call its arguments:
 *
 *     object.spec.replicas <= 5 && has(object.spec.selector)    ->    object.spec.replicas <= 5 = false, object.spec.replicas = 7
 *
 * For a false `all` it is the items that failed. Each part is compiled and evaluated again, so this is not for the hot path.
 */
export function explainExpression(environment: Environment, text: string, activation: Activation): PartValue[] {
  const { ast } = parse(new Source(text), { macros: [], optionalSyntax: true });
  if (!ast) return [];
  const parts = new Map<string, unknown>();
  new Explainer(environment, activation, parts).explain(ast.expr);
  return [...parts].map(([expression, value]) => ({ expression, value }));
}

class Explainer {
  constructor(
    readonly environment: Environment,
    readonly activation: Activation,
    readonly parts: Map<string, unknown>,
  ) {}

  explain(expr: Expr): void {
    const { node } = expr;
    if (node.kind === 'call') return this.#explainCall(expr, node);
    if (node.kind === 'ident' || node.kind === 'select') this.#add(unparse(expr));
  }

  #explainCall(expr: Expr, node: Call): void {
    const { function: name, args } = node;
    switch (name) {
      case operators.logicalAnd:
        return this.#explainEither(args, false, expr);
      case operators.logicalOr:
        return this.#explainEither(args, true, expr);
      case operators.logicalNot:
        return this.explain(args[0] as Expr);
      case operators.conditional: {
        const [condition, yes, no] = args as [Expr, Expr, Expr];
        this.explain(condition);
        return this.explain(this.#value(unparse(condition)) === true ? yes : no);
      }
      default:
        return this.#explainPlain(expr, node);
    }
  }

  /** Explains the side that alone decides the result, or both sides if none does. */
  #explainEither(sides: readonly Expr[], decisive: boolean, whole: Expr): void {
    const value = this.#value(unparse(whole));
    const deciding = value === decisive ? sides.filter((side) => this.#value(unparse(side)) === decisive) : sides;
    for (const side of deciding) this.explain(side);
  }

  #explainPlain(expr: Expr, { function: name, target, args }: Call): void {
    const text = unparse(expr);
    this.#add(text);
    if (name === 'has' && !target) return;
    if (target && loops.has(name)) {
      const [variable, predicate] = args;
      if (name === 'all' && args.length === 2 && variable && predicate && this.#value(text) === false)
        this.#add(`${unparse(target)}.filter(${unparse(variable)}, !(${unparse(predicate)}))`);
      else this.explain(target);
      return;
    }
    for (const part of target ? [target, ...args] : args) this.explain(part);
  }

  #add(text: string): void {
    if (this.parts.has(text) || this.parts.size >= maxParts) return;
    const value = this.#value(text);
    if (value !== undefined) this.parts.set(text, shown(value));
  }

  /** Evaluates a part; undefined if it has no value (a namespace of functions) or needs an asynchronous authorizer. */
  #value(text: string): Value | undefined {
    const compiled: Expression | Issues = this.environment.compile(text);
    if (compiled instanceof Issues) return undefined;
    try {
      return compiled.program().evaluate(this.activation).value;
    } catch (error) {
      if (error instanceof Suspended) return undefined;
      throw error;
    }
  }
}

function shown(value: Value): unknown {
  if (value instanceof CelError) return `error: ${value.message}`;
  try {
    return toJson(value);
  } catch (error) {
    if (error instanceof NotJsonError) return display(value);
    throw error;
  }
}
