/** Tokens of CEL. Upstream: cel-go parser/gen/CEL.g4. */

export type TokenKind = 'IDENTIFIER' | 'ESC_IDENTIFIER' | 'NUM_INT' | 'NUM_UINT' | 'NUM_FLOAT' | 'STRING' | 'BYTES' | '<EOF>' | Symbol;

const symbols = [
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '<',
  '>',
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
] as const;
const keywords = ['in', 'true', 'false', 'null'] as const;
type Symbol = (typeof symbols)[number] | (typeof keywords)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
}

const isKeyword = (text: string): text is (typeof keywords)[number] => (keywords as readonly string[]).includes(text);

// Each pattern is linear: it can match a text in only one way.
const blank = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const escapedIdentifier = /`[A-Za-z0-9_.\-/ ]+`/y;
const float = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const integer = /(?:0x[0-9a-fA-F]+|[0-9]+)/y;
const escapes = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const quotes: readonly [string, RegExp][] = [
  ['"""', new RegExp(String.raw`"""(?:${escapes}|(?!""")[^\\])*"""`, 'y')],
  ["'''", new RegExp(String.raw`'''(?:${escapes}|(?!''')[^\\])*'''`, 'y')],
  ['"', new RegExp(String.raw`"(?:${escapes}|[^\\"\n\r])*"`, 'y')],
  ["'", new RegExp(String.raw`'(?:${escapes}|[^\\'\n\r])*'`, 'y')],
];
const rawQuotes: readonly [string, RegExp][] = [
  ['"""', /"""(?:(?!""")[\s\S])*"""/y],
  ["'''", /'''(?:(?!''')[\s\S])*'''/y],
  ['"', /"[^"\n\r]*"/y],
  ["'", /'[^'\n\r]*'/y],
];

/** Splits an expression into tokens and an end token. Skips unrecognized text and reports it to `onError`. */
export function tokenize(text: string, onError: (offset: number, unrecognized: string) => void): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = match(blank, text, at);
    if (space > 0) {
      at += space;
      continue;
    }
    const token = nextToken(text, at);
    if (token) {
      tokens.push(token);
      at += token.text.length;
      continue;
    }
    const wrong = unrecognized(text, at);
    onError(at, wrong);
    at += wrong.length;
  }
  tokens.push({ kind: '<EOF>', text: '<EOF>', start: text.length });
  return tokens;
}

function nextToken(text: string, start: number): Token | undefined {
  const literal = stringLength(text, start);
  if (literal) return { kind: literal.bytes ? 'BYTES' : 'STRING', text: text.slice(start, start + literal.length), start };
  const make = (kind: TokenKind, length: number): Token => ({ kind, text: text.slice(start, start + length), start });
  const name = match(identifier, text, start);
  if (name > 0) {
    const word = text.slice(start, start + name);
    return make(isKeyword(word) ? word : 'IDENTIFIER', name);
  }
  const fraction = match(float, text, start);
  const whole = match(integer, text, start);
  if (fraction > whole) return make('NUM_FLOAT', fraction);
  if (whole > 0) {
    const suffix = text[start + whole];
    return suffix === 'u' || suffix === 'U' ? make('NUM_UINT', whole + 1) : make('NUM_INT', whole);
  }
  const escaped = match(escapedIdentifier, text, start);
  if (escaped > 0) return make('ESC_IDENTIFIER', escaped);
  const symbol = symbols.find((candidate) => text.startsWith(candidate, start));
  return symbol && make(symbol, symbol.length);
}

function stringLength(text: string, start: number): { length: number; bytes: boolean } | undefined {
  let at = start;
  const bytes = text[at] === 'b' || text[at] === 'B';
  if (bytes) at++;
  const raw = text[at] === 'r' || text[at] === 'R';
  if (raw) at++;
  for (const [quote, pattern] of raw ? rawQuotes : quotes) {
    if (!text.startsWith(quote, at)) continue;
    const length = match(pattern, text, at);
    if (length > 0) return { length: at - start + length, bytes };
  }
  return undefined;
}

/** Returns the text that ANTLR reports: everything read up to the character with which no token can match any more. */
function unrecognized(text: string, start: number): string {
  const char = characterAt(text, start);
  if (char === '"' || char === "'") return text.slice(start, endOfBadString(text, start, char));
  const second = text.slice(start + char.length, start + char.length + 1);
  return char === '&' || char === '|' || char === '=' || char === '`' ? char + second : char;
}

/** Returns the end of the first character that cannot be in a text in quotes. */
function endOfBadString(text: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < text.length) {
    const char = characterAt(text, at);
    at += char.length;
    if (char === '\n' || char === '\r' || char === quote) return at;
    if (char !== '\\') continue;
    const escape = text[at] ?? '';
    if (at < text.length) at += characterAt(text, at).length;
    if (/^[abfnrtv"'\\?`]$/.test(escape)) continue;
    const [digits, count] = /^[0-3]$/.test(escape)
      ? ([/[0-7]/, 2] as const)
      : ([/[0-9a-fA-F]/, { x: 2, X: 2, u: 4, U: 8 }[escape]] as const);
    if (count === undefined) return at;
    for (let i = 0; i < count && at < text.length; i++) {
      const digit = characterAt(text, at);
      at += digit.length;
      if (!digits.test(digit)) return at;
    }
  }
  return at;
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at)!);
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}
