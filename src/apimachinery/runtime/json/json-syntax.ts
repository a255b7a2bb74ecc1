import { backslash, maxNestingDepth, quoteMark } from './json-scan.ts';
import { quote } from '../quote.ts';

/** Error for malformed JSON. `message` is that of Go's encoding/json, `offset` the number of bytes read up to the error. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const literalWords: Readonly<Record<number, string>> = { 0x74: 'true', 0x66: 'false', 0x6e: 'null' };
const escapes: ReadonlySet<number> = new Set([...'bfnrt\\/"'].map((char) => char.charCodeAt(0)));
/** True for the character code of a digit; false for NaN, the code past the end. */
export const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;
const isHex = (c: number): boolean => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);
/** True for JSON white space. */
export const isSpace = (c: number): boolean => c === 0x20 || c === 0x09 || c === 0x0d || c === 0x0a;

/**
 * Returns the first error of a text with the message of Go's scanner; undefined for valid JSON. Upstream: encoding/json/scanner.go, whose
 * states determine the messages. That scanner reads one more space at the end, so a truncated literal is an invalid space and a truncated
 * string an unexpected end.
 */
export function findSyntaxError(bytes: Uint8Array): JsonSyntaxError | undefined {
  const length = bytes.length;
  let i = 0;
  const peek = (): number => (i < length ? bytes[i]! : 0x20);
  const unexpectedEnd = (): JsonSyntaxError => new JsonSyntaxError('unexpected end of JSON input', length);
  const bad = (context: string): JsonSyntaxError =>
    new JsonSyntaxError(`invalid character ${quoteCharacter(peek())} ${context}`, Math.min(i + 1, length));
  /** Consumes one byte of a class. Past the end it is a space: an error if the class excludes it, else an unexpected end. */
  const step = (allowed: boolean, context: string): JsonSyntaxError | undefined => {
    if (!allowed) return bad(context);
    if (i >= length) return unexpectedEnd();
    i++;
    return undefined;
  };

  const string = (): JsonSyntaxError | undefined => {
    i++;
    for (;;) {
      if (i >= length) return unexpectedEnd();
      const c = bytes[i]!;
      if (c === quoteMark) {
        i++;
        return undefined;
      }
      if (c < 0x20) return bad('in string literal');
      i++;
      if (c !== backslash) continue;
      const escaped = peek();
      if (escaped === 0x75) {
        i++;
        for (let k = 0; k < 4; k++) {
          const error = step(isHex(peek()), 'in \\u hexadecimal character escape');
          if (error) return error;
        }
        continue;
      }
      const error = step(escapes.has(escaped), 'in string escape code');
      if (error) return error;
    }
  };

  const digits = (context: string): JsonSyntaxError | undefined => {
    if (!isDigit(peek())) return bad(context);
    while (isDigit(peek())) i++;
    return undefined;
  };

  const number = (): JsonSyntaxError | undefined => {
    if (peek() === 0x2d) i++;
    if (!isDigit(peek())) return bad('in numeric literal');
    if (peek() === 0x30) i++;
    else while (isDigit(peek())) i++;
    if (peek() === 0x2e) {
      i++;
      const error = digits('after decimal point in numeric literal');
      if (error) return error;
    }
    if (peek() === 0x65 || peek() === 0x45) {
      i++;
      if (peek() === 0x2b || peek() === 0x2d) i++;
      return digits('in exponent of numeric literal');
    }
    return undefined;
  };

  const literal = (word: string): JsonSyntaxError | undefined => {
    i++;
    for (const expected of word.slice(1)) {
      const error = step(peek() === expected.charCodeAt(0), `in literal ${word} (expecting '${expected}')`);
      if (error) return error;
    }
    return undefined;
  };

  /** The open objects (`{` before a colon, `:` after it) and lists. */
  const open: ('{' | ':' | '[')[] = [];
  let want: 'value' | 'value or ]' | 'key' | 'key or }' | 'end' = 'value';
  for (;;) {
    while (i < length && isSpace(bytes[i]!)) i++;
    const inside = open.at(-1);
    if (i >= length) return want === 'end' && inside === undefined ? undefined : unexpectedEnd();
    const c = bytes[i]!;
    let error: JsonSyntaxError | undefined;
    if (want === 'end') {
      if (inside === undefined) return bad('after top-level value');
      if (inside === '{') {
        if (c !== 0x3a) return bad('after object key');
        open[open.length - 1] = ':';
        want = 'value';
      } else if (c === 0x2c) {
        if (inside === ':') open[open.length - 1] = '{';
        want = inside === ':' ? 'key' : 'value';
      } else if (c === (inside === ':' ? 0x7d : 0x5d)) {
        open.pop();
      } else {
        return bad(inside === ':' ? 'after object key:value pair' : 'after array element');
      }
      i++;
    } else if (want === 'key' || want === 'key or }') {
      if (c === 0x7d && want === 'key or }') {
        open.pop();
        i++;
      } else if (c === quoteMark) {
        error = string();
      } else {
        return bad('looking for beginning of object key string');
      }
      want = 'end';
    } else if (c === 0x7b || c === 0x5b) {
      if (open.length >= maxNestingDepth) return bad('exceeded max depth');
      open.push(c === 0x7b ? '{' : '[');
      want = c === 0x7b ? 'key or }' : 'value or ]';
      i++;
    } else {
      if (c === 0x5d && want === 'value or ]') {
        open.pop();
        i++;
      } else if (c === quoteMark) error = string();
      else if (c === 0x2d || isDigit(c)) error = number();
      else if (literalWords[c]) error = literal(literalWords[c]);
      else return bad('looking for beginning of value');
      want = 'end';
    }
    if (error) return error;
  }
}

/** Formats a byte like the scanner's messages: as a rune in single quotes. */
function quoteCharacter(byte: number): string {
  if (byte === 0x27) return `'\\''`;
  if (byte === quoteMark) return `'"'`;
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`;
}
