import { type Activation, Suspended } from './runtime/frame.ts';
import { display } from './runtime/format.ts';
import { CelError, type Value } from './runtime/values.ts';
import type { Environment, Expression } from './environment.ts';
import { type Call, type Expr, operators } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { Issues, Source } from './syntax/source.ts';
import { unparse } from './syntax/unparse.ts';
import { NotJsonError, toJson } from './to-json.ts';

/** Part of an expression with what it came to, as JSON or, where JSON has no form for it, as text. */
export interface PartValue {
  readonly expression: string;
  readonly value: unknown;
}

/** What nobody would read. */
const maxParts = 40;

/** Macros whose arguments know the variable of a loop: what is in them has no value of its own. */
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
 * The parts of an expression that made it what it is, from the outside in. Of `a && b` that is false, the side that is; of
 * `a || b` that is false, both; of a comparison or a call, what it was given:
 *
 *     object.spec.replicas <= 5 && has(object.spec.selector)    ->    object.spec.replicas <= 5 = false, object.spec.replicas = 7
 *
 * Of `all` that is false, the items that it failed for. Each part is compiled and evaluated anew: not for the hot path.
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

  /** If one of the sides decides alone, it is that one; else both. */
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

  /** undefined for what means nothing by itself (a namespace of functions), and for what an authorizer would have to think about. */
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
