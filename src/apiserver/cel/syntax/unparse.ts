import { formatFloat } from '#apimachinery/runtime/quote';
import { Double, isInt, Uint, type Value } from '../runtime/values.ts';
import { type Call, type Expr, operators } from './ast.ts';

/** Operators by precedence, lowest first. */
const levels: readonly (readonly string[])[] = [
  [operators.conditional],
  [operators.logicalOr],
  [operators.logicalAnd],
  [operators.equals, operators.notEquals, operators.less, operators.lessEquals, operators.greater, operators.greaterEquals, operators.in],
  [operators.add, operators.subtract],
  [operators.multiply, operators.divide, operators.modulo],
  [operators.logicalNot, operators.negate],
];
const levelOf: ReadonlyMap<string, number> = new Map(levels.flatMap((names, level) => names.map((name) => [name, level] as const)));
const primary = levels.length;

/** Prints an expression that was parsed without macros. Parsing the result yields the same tree. */
export function unparse({ node }: Expr): string {
  switch (node.kind) {
    case 'literal':
      return literal(node.value);
    case 'ident':
      return node.name;
    case 'select':
      return `${operand(node.operand, primary)}.${node.field}`;
    case 'call':
      return call(node);
    case 'list':
      return `[${node.elements.map((element, i) => `${node.optionals.has(i) ? '?' : ''}${unparse(element)}`).join(', ')}]`;
    case 'map':
      return `{${node.entries.map(({ key, value, optional }) => `${optional ? '?' : ''}${unparse(key)}: ${unparse(value)}`).join(', ')}}`;
    case 'struct':
      return `${node.typeName}{${node.fields.map(({ name, value, optional }) => `${optional ? '?' : ''}${name}: ${unparse(value)}`).join(', ')}}`;
    default:
      throw new Error(`a ${node.kind} node has no text form`);
  }
}

function call(node: Call): string {
  const { function: name, target, args } = node;
  const level = levelOf.get(name);
  const [first, second, third] = args as [Expr, Expr, Expr];
  if (level !== undefined) {
    if (name === operators.conditional) return `${operand(first, 1)} ? ${operand(second, 1)} : ${operand(third, 0)}`;
    if (args.length === 1) return `${name.replace('_', '')}${operand(first, level)}`;
    const sign = name === operators.in ? 'in' : name.replaceAll('_', '');
    return `${operand(first, level)} ${sign} ${operand(second, level + 1)}`;
  }
  if (name === operators.index) return `${operand(first, primary)}[${unparse(second)}]`;
  if (name === operators.optIndex) return `${operand(first, primary)}[?${unparse(second)}]`;
  if (name === operators.optSelect && second.node.kind === 'literal') return `${operand(first, primary)}.?${String(second.node.value)}`;
  const list = `(${args.map(unparse).join(', ')})`;
  return target ? `${operand(target, primary)}.${name}${list}` : `${name}${list}`;
}

/** Adds parentheses if the operator's precedence is below `level`. */
function operand(expr: Expr, level: number): string {
  const { node } = expr;
  const own = node.kind === 'call' ? (levelOf.get(node.function) ?? primary) : primary;
  return own < level ? `(${unparse(expr)})` : unparse(expr);
}

function literal(value: Value): string {
  if (value === null || typeof value === 'boolean' || isInt(value)) return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint) return `${value.value}u`;
  if (value instanceof Double) return doubleText(formatFloat(value.value));
  if (value instanceof Uint8Array) return `b"${[...value].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
  throw new Error('the value has no literal form');
}

function doubleText(text: string): string {
  return /[.e]/.test(text) ? text : `${text}.0`;
}
