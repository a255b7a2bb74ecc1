/** The syntax tree of an expression after its macros are expanded. Upstream: cel-go common/ast. */
import type { Value } from '../runtime/values.ts';

/** A node of the tree. The checker resolves names in place, by giving a node another content. */
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
  /** `has(operand.field)`. */
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
  /** Indices of the elements with a `?`. */
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

/** The loop that every macro over lists and maps becomes: `accu = accuInit; for (iter of range) if (condition) accu = step; result`. */
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

/** Where an error stands. */
export interface Unspecified {
  readonly kind: 'unspecified';
}

/** The name of the accumulator that macros use; no identifier can be written so. */
export const accumulatorName = '@result';
/** The name that older macros used; still refused as an iteration variable. */
export const legacyAccumulatorName = '__result__';
/** The iteration variable of `cel.bind` and its like. */
export const unusedIterVar = '#unused';

/** The functions that operators become. */
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

/** `a.b.c` as a name, if the expression is nothing else. */
export function qualifiedName({ node }: Expr): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select' || node.testOnly) return undefined;
  const prefix = qualifiedName(node.operand);
  return prefix === undefined ? undefined : `${prefix}.${node.field}`;
}

/** The direct parts of a node, in order of evaluation. */
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

/** A parsed expression: the tree, and where its nodes begin in the source (UTF-16 offsets by id). */
export interface Ast {
  readonly expr: Expr;
  readonly offsets: ReadonlyMap<number, number>;
}
