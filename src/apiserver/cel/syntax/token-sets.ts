import type { Token, TokenKind } from './lexer.ts';

const literals = ['true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES'] as const;

/** Tokens that an operand can start with. */
export const operandStart: readonly TokenKind[] = ['[', '{', '(', '.', '-', '!', ...literals, 'IDENTIFIER'];
export const memberStart: readonly TokenKind[] = operandStart.filter((kind) => kind !== '!');

/** Tokens in the order in which error messages list them. */
const tokenOrder: readonly TokenKind[] = [
  '==',
  '!=',
  'in',
  '<',
  '<=',
  '>=',
  '>',
  '&&',
  '||',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
  ...literals,
  'IDENTIFIER',
  'ESC_IDENTIFIER',
];

/** Tokens that can start an entry of a list or map. */
export const entryStart: readonly TokenKind[] = [...operandStart, '?'];

/** Tokens that can start a field of a struct. */
export const fieldStart: readonly TokenKind[] = ['?', 'IDENTIFIER', 'ESC_IDENTIFIER'];

/** Tokens that can follow an operand inside an expression. */
export const operandFollow: ReadonlySet<TokenKind> = new Set<TokenKind>([
  '<',
  '<=',
  '>=',
  '>',
  '==',
  '!=',
  'in',
  '&&',
  '||',
  '[',
  '.',
  '-',
  '?',
  '+',
  '*',
  '/',
  '%',
]);

export function isName(kind: TokenKind): boolean {
  return kind === 'IDENTIFIER' || kind === 'ESC_IDENTIFIER';
}

export function isNumber(kind: TokenKind): boolean {
  return kind === 'NUM_INT' || kind === 'NUM_FLOAT';
}

/** Returns a token as error messages show it. */
export function shown(token: Token): string {
  return `'${token.text}'`;
}

/** Returns a list of tokens as error messages show it. */
export function expectation(kinds: readonly TokenKind[]): string {
  const names = tokenOrder.filter((kind) => kinds.includes(kind)).map((kind) => (/^[A-Z]/.test(kind) ? kind : `'${kind}'`));
  if (names.length === 0) return '<EOF>';
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}
