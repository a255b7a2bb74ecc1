/** Scalars of YAML 1.1. Upstream: go.yaml.in/yaml/v2 scannerc.go (yaml_parser_scan_block_scalar, …_flow_scalar, …_plain_scalar). */
import { flowIndicators, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, isEnd, space, tab } from './yaml-characters.ts';
import type { YamlText } from './yaml-text.ts';

const escapes: Readonly<Record<string, string | undefined>> = {
  __proto__: null as unknown as undefined,
  0: '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

const hexLengths: Readonly<Record<string, number | undefined>> = { x: 2, u: 4, U: 8 };

/** Folds a line break between two parts of a scalar into a space, unless empty lines follow, which are kept. */
function folded(leadingBreak: string, emptyLines: string): string {
  if (!leadingBreak.startsWith('\n')) return leadingBreak + emptyLines;
  return emptyLines === '' ? ' ' : emptyLines;
}

/**
 * Reads a block scalar from its `|` (literal) or `>`. `parentIndent` is the column of the innermost block.
 */
export function readBlockScalar(text: YamlText, isLiteral: boolean, parentIndent: number): string {
  text.at += 1;
  const { chomping, increment } = readBlockHeader(text);
  let indent = increment > 0 ? Math.max(parentIndent, 0) + increment : 0;
  const parts: string[] = [];
  let leadingBreak = '';
  let breaks: string;
  ({ breaks, indent } = readBlockBreaks(text, indent, parentIndent));
  let afterBlank = false;
  while (text.column() === indent && !isEnd(text.code())) {
    const beforeBlank = isBlank(text.code());
    if (!isLiteral && !afterBlank && !beforeBlank && leadingBreak.startsWith('\n')) parts.push(breaks === '' ? ' ' : '');
    else parts.push(leadingBreak);
    parts.push(breaks);
    afterBlank = beforeBlank;
    const from = text.at;
    while (!isBreakOrEnd(text.code())) text.at += 1;
    parts.push(text.slice(from));
    leadingBreak = isEnd(text.code()) ? '' : text.readLine();
    ({ breaks, indent } = readBlockBreaks(text, indent, parentIndent));
  }
  if (chomping !== '-') parts.push(leadingBreak);
  if (chomping === '+') parts.push(breaks);
  return parts.join('');
}

function readBlockHeader(text: YamlText): { readonly chomping: string; readonly increment: number } {
  let chomping = readChomping(text);
  let increment = 0;
  if (isDigit(text.code())) {
    increment = text.code() - 0x30;
    if (increment === 0) throw text.error('found an indentation indicator equal to 0');
    text.at += 1;
    if (chomping === '') chomping = readChomping(text);
  }
  text.skipBlanks();
  text.skipComment();
  if (!isBreakOrEnd(text.code())) throw text.error('did not find expected comment or line break');
  if (!isEnd(text.code())) text.readLine();
  return { chomping, increment };
}

function readChomping(text: YamlText): string {
  const code = text.code();
  if (code !== 0x2b && code !== 0x2d) return '';
  text.at += 1;
  return String.fromCharCode(code);
}

/** Skips indentation and returns empty lines; detects the indentation if `indent` is 0. */
function readBlockBreaks(text: YamlText, indent: number, parentIndent: number): { readonly breaks: string; readonly indent: number } {
  const breaks: string[] = [];
  let widest = 0;
  for (;;) {
    while (text.code() === space && (indent === 0 || text.column() < indent)) text.at += 1;
    const column = text.column();
    widest = Math.max(widest, column);
    if (text.code() === tab && (indent === 0 || column < indent))
      throw text.error('found a tab character where an indentation space is expected');
    if (!isBreak(text.code())) break;
    breaks.push(text.readLine());
  }
  return { breaks: breaks.join(''), indent: indent || Math.max(widest, parentIndent + 1, 1) };
}

/** Reads a scalar from its quote, which has the code `quote`. */
export function readQuotedScalar(text: YamlText, quote: number): string {
  const parts: string[] = [];
  text.at += 1;
  for (;;) {
    if (text.isDocumentIndicator()) throw text.error('found unexpected document indicator');
    if (isEnd(text.code())) throw text.error('found unexpected end of stream');
    const afterBreak = readQuotedText(text, quote, parts);
    if (text.code() === quote) break;
    parts.push(readQuotedBlanks(text, afterBreak));
  }
  text.at += 1;
  return parts.join('');
}

/** Reads up to a blank, a line break or the closing quote. Returns true after an escaped line break. */
function readQuotedText(text: YamlText, quote: number, parts: string[]): boolean {
  const isSingle = quote === 0x27;
  for (;;) {
    const from = text.at;
    let code = text.code();
    while (code !== quote && (isSingle || code !== 0x5c) && !isBlankOrEnd(code)) {
      text.at += 1;
      code = text.code();
    }
    if (text.at > from) parts.push(text.slice(from));
    if (isSingle && code === quote && text.code(1) === quote) {
      parts.push("'");
      text.at += 2;
    } else if (!isSingle && code === 0x5c) {
      text.at += 1;
      if (isBreak(text.code())) {
        text.readLine();
        return true;
      }
      parts.push(readEscape(text));
    } else return false;
  }
}

function readEscape(text: YamlText): string {
  const letter = text.slice(text.at, text.at + 1);
  const known = escapes[letter];
  if (known !== undefined) {
    text.at += 1;
    return known;
  }
  const length = Object.hasOwn(hexLengths, letter) ? hexLengths[letter]! : 0;
  if (length === 0) throw text.error('found unknown escape character');
  const digits = text.slice(text.at + 1, text.at + 1 + length);
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) throw text.error('did not find expected hexdecimal number');
  const value = Number.parseInt(digits, 16);
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) throw text.error('found invalid Unicode character escape code');
  text.at += 1 + length;
  return String.fromCodePoint(value);
}

/** Skips blanks and line breaks, and returns their value in a quoted scalar. */
function readQuotedBlanks(text: YamlText, afterBreak: boolean): string {
  let leadingBreak = '';
  let hasBreak = afterBreak;
  const emptyLines: string[] = [];
  let from = text.at;
  let to = from;
  for (;;) {
    text.skipBlanks();
    if (!hasBreak) to = text.at;
    if (!isBreak(text.code())) break;
    if (hasBreak) emptyLines.push(text.readLine());
    else {
      leadingBreak = text.readLine();
      hasBreak = true;
      from = to;
    }
  }
  return hasBreak ? folded(leadingBreak, emptyLines.join('')) : text.slice(from, to);
}

/**
 * Reads an unquoted scalar. Within a block (`inFlow` is false) it ends at a line that is not indented further than `parentIndent`.
 * `endsWithBreak` is true if it is followed by a line break.
 */
export function readPlainScalar(
  text: YamlText,
  inFlow: boolean,
  parentIndent: number,
): { readonly value: string; readonly endsWithBreak: boolean } {
  const parts: string[] = [];
  let between = '';
  let hasBreak = false;
  for (;;) {
    if (text.isDocumentIndicator() || text.code() === 0x23) break;
    const from = text.at;
    skipPlainText(text, inFlow);
    if (text.at > from) {
      if (between !== '') parts.push(between);
      parts.push(text.slice(from));
      between = '';
      hasBreak = false;
    }
    const code = text.code();
    if (!isBlank(code) && !isBreak(code)) break;
    const blanks = readPlainBlanks(text, parentIndent);
    between = blanks.text;
    hasBreak = blanks.hasBreak;
    if (!inFlow && text.column() <= parentIndent) break;
  }
  return { value: parts.length === 1 ? parts[0]! : parts.join(''), endsWithBreak: hasBreak };
}

function skipPlainText(text: YamlText, inFlow: boolean): void {
  for (;;) {
    const code = text.code();
    if (isBlankOrEnd(code)) return;
    if (code === 0x3a && isBlankOrEnd(text.code(1))) return;
    if (inFlow && flowIndicators.has(code)) return;
    text.at += 1;
  }
}

/** Skips blanks and line breaks, and returns their value in a plain scalar that continues after them. */
function readPlainBlanks(text: YamlText, parentIndent: number): { readonly text: string; readonly hasBreak: boolean } {
  const from = text.at;
  text.skipBlanks();
  if (!isBreak(text.code())) return { text: text.slice(from), hasBreak: false };
  const leadingBreak = text.readLine();
  const emptyLines: string[] = [];
  for (;;) {
    while (isBlank(text.code())) {
      if (text.code() === tab && text.column() <= parentIndent) throw text.error('found a tab character that violates indentation');
      text.at += 1;
    }
    if (!isBreak(text.code())) return { text: folded(leadingBreak, emptyLines.join('')), hasBreak: true };
    emptyLines.push(text.readLine());
  }
}
