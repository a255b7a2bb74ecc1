/** The syntax tree of an expression after macro expansion. Upstream: cel-go common/ast. */
import type { Value } from '../runtime/values.ts';

/** A node of the tree. The checker resolves names in place by replacing the content of nodes. */
export interface Expr {
  readonly id: number;
  node: Node;
}

export type Node = Literal | Ident | Select | Call | List | MapLiteral | Struct | Comprehension | Unspecified;

export interface Literal {
  readonly kind: 'literal';
  readonly value: Value;
}

export interface Ident {
  readonly kind: 'ident';
  readonly name: string;
}

export interface Select {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** True for `has(operand.field)`. */
  readonly testOnly: boolean;
}

export interface Call {
  readonly kind: 'call';
  readonly function: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

export interface List {
  readonly kind: 'list';
  readonly elements: readonly Expr[];
  /** Indices of the elements marked with `?`. */
  readonly optionals: ReadonlySet<number>;
}

export interface MapEntry {
  readonly id: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface MapLiteral {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface StructField {
  readonly id: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}

export interface Struct {
  readonly kind: 'struct';
  readonly typeName: string;
  readonly fields: readonly StructField[];
}

/**
 * The loop that macros over lists and maps expand to: `accu = accuInit; for (iter of range) if (condition) accu = step;
 * result`.
 */
export interface Comprehension {
  readonly kind: 'comprehension';
  readonly iterRange: Expr;
  readonly iterVar: string;
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly loopCondition: Expr;
  readonly loopStep: Expr;
  readonly result: Expr;
}

/** Placeholder for an erroneous node. */
export interface Unspecified {
  readonly kind: 'unspecified';
}

/** Name of the accumulator in macros; identifiers cannot have this form. */
export const accumulatorName = '@result';
/** Name of the accumulator in older macros; still rejected as an iteration variable. */
export const legacyAccumulatorName = '__result__';
/** Iteration variable of `cel.bind` and similar macros. */
export const unusedIterVar = '#unused';

/** The function names of operators. */
export const operators = {
  conditional: '_?_:_',
  logicalAnd: '_&&_',
  logicalOr: '_||_',
  logicalNot: '!_',
  equals: '_==_',
  notEquals: '_!=_',
  less: '_<_',
  lessEquals: '_<=_',
  greater: '_>_',
  greaterEquals: '_>=_',
  add: '_+_',
  subtract: '_-_',
  multiply: '_*_',
  divide: '_/_',
  modulo: '_%_',
  negate: '-_',
  index: '_[_]',
  optIndex: '_[?_]',
  optSelect: '_?._',
  in: '@in',
  notStrictlyFalse: '@not_strictly_false',
} as const;

/** Returns `a.b.c` if the expression is a qualified name; undefined otherwise. */
export function qualifiedName({ node }: Expr): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select' || node.testOnly) return undefined;
  const prefix = qualifiedName(node.operand);
  return prefix === undefined ? undefined : `${prefix}.${node.field}`;
}

/** Returns the children of a node in the order of evaluation. */
export function children({ node }: Expr): readonly Expr[] {
  switch (node.kind) {
    case 'select':
      return [node.operand];
    case 'call':
      return node.target ? [node.target, ...node.args] : node.args;
    case 'list':
      return node.elements;
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'comprehension':
      return [node.iterRange, node.accuInit, node.loopCondition, node.loopStep, node.result];
    default:
      return [];
  }
}

/** A parsed expression: the tree and the start of each node in the source (UTF-16 offsets by id). */
export interface Ast {
  readonly expr: Expr;
  readonly offsets: ReadonlyMap<number, number>;
}
