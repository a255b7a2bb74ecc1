/** Formats text like Go's strconv and fmt: API messages must be identical. */
import type { Steps } from './steps.ts';

const plain = /^[ !#-[\]-~]*$/;
/** Texts of which only quotes and backslashes are escaped. */
const ascii = /^[ -~]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Go's escape sequences by the character. */
export const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** strconv.Quote (and fmt's %q). Lone surrogates become the replacement character. */
export function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : `"${escaped(text)}"`;
}

/** Length of a part that is quoted between two yields. */
const stepLength = 16 * 1024;

/** Like `quote` for large texts; yields to the event loop. */
export function* quoteSteps(text: string): Steps<string> {
  let out = '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + stepLength, text.length);
    // A pair of surrogates is one character.
    if (to < text.length && isLeadSurrogate(text.charCodeAt(to - 1))) to += 1;
    out += escaped(text.slice(from, to));
    from = to;
    yield;
  }
  return `${out}"`;
}

const isLeadSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

function escaped(text: string): string {
  // V8 makes a flat text of these expressions; `replaceAll` and a loop make a tree with a node for each character.
  if (ascii.test(text)) return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"');
  let out = '';
  for (const char of text) out += goEscapes[char] ?? (isPrint(char) ? char : escapeRune(char.codePointAt(0)!));
  return out;
}

/** unicode.IsPrint of a single code point. */
export function isPrint(char: string): boolean {
  return printable.test(char);
}

function escapeRune(rune: number): string {
  if (rune < 0x20 || rune === 0x7f) return `\\x${rune.toString(16).padStart(2, '0')}`;
  if (rune >= 0xd800 && rune <= 0xdfff) return '\uFFFD';
  return rune < 0x10000 ? `\\u${rune.toString(16).padStart(4, '0')}` : `\\U${rune.toString(16).padStart(8, '0')}`;
}

/** Formats a rune like fmt's %#U: `U+0020 ' '`, or `U+0007` if it is not printable. */
export function formatRune(char: string): string {
  const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrint(char) ? `${code} '${char}'` : code;
}

/** Formats a float64 like fmt's %v: shortest digits, with an exponent below 1e-4 and from 1e6 on (`1e+06`, `1e-05`). */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${Math.abs(power).toString().padStart(2, '0')}`;
}

/** Formats a list of strings like Go's `%q`: `["a" "b"]`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map((text) => quote(text)).join(' ')}]`;
}
