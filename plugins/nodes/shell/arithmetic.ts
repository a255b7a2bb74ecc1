import { UnsupportedScriptError } from './script.ts';

type Operation = (a: number, b: number) => number;
const truth = (value: boolean): number => (value ? 1 : 0);

/** Binary operators by precedence, the weakest first. */
const levels: readonly ReadonlyMap<string, Operation>[] = (
  [
    { '||': (a, b) => truth(a !== 0 || b !== 0) },
    { '&&': (a, b) => truth(a !== 0 && b !== 0) },
    { '==': (a, b) => truth(a === b), '!=': (a, b) => truth(a !== b) },
    { '<=': (a, b) => truth(a <= b), '>=': (a, b) => truth(a >= b), '<': (a, b) => truth(a < b), '>': (a, b) => truth(a > b) },
    { '+': (a, b) => a + b, '-': (a, b) => a - b },
    { '*': (a, b) => a * b, '/': (a, b) => Math.trunc(divisible(a, b) / b), '%': (a, b) => divisible(a, b) % b },
  ] as Record<string, Operation>[]
).map((operations) => new Map(Object.entries(operations)));
const maxTokens = 256;

/** Returns the value of an arithmetic expression of integers. Variables without `$` are looked up. */
export function evaluateArithmetic(expression: string, lookup: (name: string) => string): number {
  const tokens = expression.match(/\d+|[A-Za-z_]\w*|\|\||&&|[=!<>]=|[-+*/%<>()!]|\S/g) ?? [];
  if (tokens.length > maxTokens) throw new UnsupportedScriptError('the arithmetic is too long');
  let at = 0;
  const operand = (): number => {
    const token = tokens[at++] ?? '';
    if (token === '(') {
      const value = binary(0);
      if (tokens[at++] !== ')') throw new UnsupportedScriptError('this arithmetic is not simulated');
      return value;
    }
    if (token === '-') return -operand();
    if (token === '+') return operand();
    if (token === '!') return truth(operand() === 0);
    if (/^\d+$/.test(token)) return Number(token);
    if (/^[A-Za-z_]/.test(token)) return integer(lookup(token));
    throw new UnsupportedScriptError('this arithmetic is not simulated');
  };
  const binary = (level: number): number => {
    const operators = levels[level];
    if (!operators) return operand();
    let value = binary(level + 1);
    for (let operation = operators.get(tokens[at] ?? ''); operation; operation = operators.get(tokens[at] ?? '')) {
      at += 1;
      value = operation(value, binary(level + 1));
    }
    return value;
  };
  const value = tokens.length === 0 ? 0 : binary(0);
  if (at < tokens.length || !Number.isSafeInteger(value)) throw new UnsupportedScriptError('this arithmetic is not simulated');
  return value;
}

function integer(text: string): number {
  if (text === '') return 0;
  if (!/^[-+]?\d+$/.test(text)) throw new UnsupportedScriptError(`${JSON.stringify(text)} is not an integer`);
  return Number(text);
}

function divisible(dividend: number, divisor: number): number {
  if (divisor === 0) throw new UnsupportedScriptError('division by zero');
  return dividend;
}
