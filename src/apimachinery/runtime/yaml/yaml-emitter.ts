/** Encodes YAML like sigs.k8s.io/yaml. */
import { compareUtf8 } from '../json/json.ts';
import { Float64, isContainer } from '../numbers.ts';
import { formatFloat } from '../quote.ts';
import { resolveScalar } from './yaml-scalars.ts';

/** Encodes a JSON value like sigs.k8s.io/yaml: keys in go-yaml's natural order, two spaces per level, long lines folded. Ends with a line break. */
export function encodeYaml(value: unknown): string {
  const emitter = new Emitter();
  emitter.node(value, -2, false);
  return emitter.text;
}

const bestWidth = 80;

const space = 0x20;
const apostrophe = 0x27;
const quotationMark = 0x22;
const backslash = 0x5c;

/** Returns the columns of a UTF-16 code unit: a surrogate pair is one character. */
function columnsOf(code: number): number {
  return (code & 0xfc00) === 0xdc00 ? 0 : 1;
}

/** True if there is no other space beside the one at a place. */
function isSingleSpace(text: string, place: number): boolean {
  return text.charCodeAt(place - 1) !== space && text.charCodeAt(place + 1) !== space;
}

/** True for printable ASCII that double-quoted text has as it is. */
function isPlainInDoubleQuotes(code: number): boolean {
  return code >= space && code < 0x7f && code !== quotationMark && code !== backslash;
}

/** Writes block style like libyaml's emitter. Upstream: yaml.v2 emitterc.go. */
class Emitter {
  text = '';
  #column = 0;
  /** True if the text ends with a line break: checking the text itself would flatten the string each time. */
  #lineEnded = false;

  /** Writes ASCII text without line breaks. */
  #put(text: string): void {
    this.text += text;
    this.#lineEnded = false;
    this.#column += text.length;
  }

  #newline(indent: number): void {
    this.text += `\n${' '.repeat(indent)}`;
    this.#lineEnded = indent === 0;
    this.#column = indent;
  }

  /**
   * Writes a value at the cursor. `indent` is that of the parent container, -2 for none; `afterKey` is true after `key:`, so that a
   * container starts on the next line and a list is not indented. Ends with a line break.
   */
  node(value: unknown, indent: number, afterKey: boolean): void {
    if (Array.isArray(value)) {
      if (value.length === 0) return this.#last(afterKey, '[]');
      const own = afterKey ? Math.max(indent, 0) : indent + 2;
      for (const [i, item] of value.entries()) {
        if (i > 0 || afterKey) this.#startLine(own);
        this.#put('-');
        this.#put(' ');
        this.node(item, own, false);
      }
      return;
    }
    if (isContainer(value)) {
      const keys = inNaturalOrder(Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined));
      if (keys.length === 0) return this.#last(afterKey, '{}');
      const own = indent + 2;
      for (const [i, key] of keys.entries()) {
        if (i > 0 || afterKey) this.#startLine(own);
        this.#entry(key, (value as Record<string, unknown>)[key], own);
      }
      return;
    }
    if (afterKey) this.#put(' ');
    if (typeof value === 'string') this.#string(value, Math.max(indent + 2, 2), false);
    else this.#put(scalarText(value));
    this.#end();
  }

  #last(afterKey: boolean, text: string): void {
    this.#put(afterKey ? ` ${text}` : text);
    this.#end();
  }

  #end(): void {
    if (!this.#lineEnded) this.text += '\n';
    this.#lineEnded = true;
    this.#column = 0;
  }

  #startLine(indent: number): void {
    if (!this.#lineEnded) this.text += '\n';
    this.text += ' '.repeat(indent);
    this.#lineEnded = indent === 0;
    this.#column = indent;
  }

  #entry(key: string, value: unknown, indent: number): void {
    const simple = Buffer.byteLength(key) <= 128 && !/[\n\r\u0085\u2028\u2029]/.test(key);
    if (simple) {
      this.#string(key, indent + 2, true);
      this.#put(':');
    } else {
      this.#put('? ');
      this.#string(key, indent + 2, false);
      this.#end();
      this.#startLine(indent);
      this.#put(': ');
    }
    this.node(value, indent, simple);
  }

  #string(text: string, indent: number, simpleKey: boolean): void {
    const form = analyze(text);
    if (text.includes('\n') && form.blockAllowed && !simpleKey) return this.#literal(text, indent);
    const plain = !text.includes('\n') && typeof resolveScalar(text) === 'string' && !base60Float.test(text) && !timestamp.test(text);
    if (plain && form.plainAllowed) return this.#folded(text, indent, simpleKey);
    if (plain && form.singleQuotedAllowed) {
      this.#put("'");
      this.#folded(text, indent, simpleKey, true);
      this.#put("'");
      return;
    }
    this.#doubleQuoted(text, indent, simpleKey);
  }

  /**
   * Writes plain or single-quoted text: a space beyond the preferred width becomes a line break. Copies whole lines, since a list may have
   * millions of characters.
   */
  #folded(text: string, indent: number, simpleKey: boolean, quoted = false): void {
    const firstFold = quoted ? 1 : 0;
    const lastFold = quoted ? text.length - 2 : text.length - 1;
    const escaped = (line: string): string => (quoted ? line.replaceAll("'", "''") : line);
    let column = this.#column;
    let from = 0;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code === space && !simpleKey && column > bestWidth && i >= firstFold && i <= lastFold && isSingleSpace(text, i)) {
        this.text += escaped(text.slice(from, i));
        this.#newline(indent);
        column = indent;
        from = i + 1;
      } else column += quoted && code === apostrophe ? 2 : columnsOf(code);
    }
    this.#finish(escaped(text.slice(from)), column);
  }

  #doubleQuoted(text: string, indent: number, simpleKey: boolean): void {
    this.#put('"');
    let column = this.#column;
    let from = 0;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (isPlainInDoubleQuotes(code)) {
        const folds =
          code === space && !simpleKey && column > bestWidth && i > 0 && i < text.length - 1 && text.charCodeAt(i - 1) !== space;
        if (!folds) {
          column += 1;
          continue;
        }
        this.text += text.slice(from, i);
        this.#newline(indent);
        column = indent;
        if (text.charCodeAt(i + 1) === space) {
          this.text += '\\';
          column += 1;
        }
        from = i + 1;
        continue;
      }
      const char = String.fromCodePoint(text.codePointAt(i)!);
      const escape = escapeDouble(char);
      column += escape === char ? 1 : escape.length;
      if (escape !== char) {
        this.text += text.slice(from, i) + escape;
        from = i + char.length;
      }
      i += char.length - 1;
    }
    this.#finish(text.slice(from), column);
    this.#put('"');
  }

  /** Writes the end of a scalar, after which the cursor is at the column. */
  #finish(text: string, column: number): void {
    this.text += text;
    this.#lineEnded = false;
    this.#column = column;
  }

  #literal(text: string, indent: number): void {
    this.#put('|');
    if (/^[ \n]/.test(text)) this.#put('2');
    if (!text.endsWith('\n')) this.#put('-');
    else if (text === '\n' || text.endsWith('\n\n')) this.#put('+');
    const body = text.endsWith('\n') ? text.slice(0, -1) : text;
    for (const line of body.split('\n')) this.text += line === '' ? '\n' : `\n${' '.repeat(indent)}${line}`;
    // An empty last line has no character of its own to end it.
    if (text.endsWith('\n')) this.text += '\n';
    this.#lineEnded = text.endsWith('\n');
    this.#column = 0;
  }
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Float64) return unsignedForm.test(value.literal) && value.value < 2 ** 64 ? value.literal : formatFloat(value.value);
  if (typeof value === 'number')
    return Number.isInteger(value) && value < 2 ** 64 && value > -(2 ** 63) ? String(value) : formatFloat(value);
  return String(value);
}

/** YAML may read an integer beyond int64 as uint64. */
const unsignedForm = /^\d+$/;

const base60Float = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
/** Texts that go-yaml reads as times, regardless of the range of their numbers. */
export const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;
const breaks = /[\n\r\u0085\u2028\u2029]/;
/** Characters that libyaml considers printable, including line feeds; characters beyond the basic plane are not. */
const printableText = /^[\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

interface ScalarForm {
  readonly plainAllowed: boolean;
  readonly singleQuotedAllowed: boolean;
  readonly blockAllowed: boolean;
}

/** Returns the styles that can represent a text. Upstream: yaml_emitter_analyze_scalar. */
export function analyze(text: string): ScalarForm {
  if (text === '') return { plainAllowed: true, singleQuotedAllowed: true, blockAllowed: false };
  const special = !printableText.test(text);
  const spaceBreak = / [\n\r\u0085\u2028\u2029]/.test(text);
  const breakSpace = /[\n\r\u0085\u2028\u2029] /.test(text);
  const edges = /^[ \n\r\u0085\u2028\u2029]|[ \n\r\u0085\u2028\u2029]$/.test(text);
  const indicators =
    /^(?:---|\.\.\.)/.test(text) ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[?:-](?:[ \t]|$)/.test(text) ||
    /:(?:[ \t]|$)/.test(text) ||
    /[ \t\n\r\u0085\u2028\u2029]#/.test(text);
  return {
    plainAllowed: !special && !spaceBreak && !breakSpace && !edges && !indicators && !breaks.test(text),
    singleQuotedAllowed: !special && !spaceBreak && !breakSpace,
    blockAllowed: !special && !spaceBreak && !text.endsWith(' '),
  };
}

const doubleEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\0': '\\0',
    '\x07': '\\a',
    '\b': '\\b',
    '\t': '\\t',
    '\n': '\\n',
    '\v': '\\v',
    '\f': '\\f',
    '\r': '\\r',
    '\x1b': '\\e',
    '"': '\\"',
    '\\': '\\\\',
    '\u0085': '\\N',
    '\u2028': '\\L',
    '\u2029': '\\P',
  }),
);

/** Returns a character as double-quoted text has it. */
export function escapeDouble(char: string): string {
  const known = doubleEscapes.get(char);
  if (known !== undefined) return known;
  if (printableText.test(char)) return char;
  const code = char.codePointAt(0)!;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

function inNaturalOrder(keys: readonly string[]): string[] {
  return keys
    .map((key) => ({ key, characters: [...key] }))
    .sort((a, b) => compareNatural(a.characters, b.characters))
    .map(({ key }) => key);
}

/** Compares like go-yaml orders keys: embedded numbers by value, letters after all others. Upstream: yaml.v2 sorter.go. */
function compareNatural(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a[i]!;
    const y = b[i]!;
    if (x === y) continue;
    const xIsLetter = letter.test(x);
    const yIsLetter = letter.test(y);
    if (xIsLetter && yIsLetter) return compareUtf8(x, y);
    if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
    const base = (x === '0' || y === '0') && followsNumber(a, i) ? 1n : 0n;
    const p = digitsAt(a, i, base);
    const q = digitsAt(b, i, base);
    if (p.value !== q.value) return p.value < q.value ? -1 : 1;
    return p.end !== q.end ? p.end - q.end : compareUtf8(x, y);
  }
  return a.length - b.length;
}

/** True if the digits right before a position include a non-zero one. */
function followsNumber(text: readonly string[], place: number): boolean {
  for (let j = place - 1; j >= 0 && digit.test(text[j]!); j--) if (text[j] !== '0') return true;
  return false;
}

function digitsAt(text: readonly string[], place: number, base: bigint): { value: bigint; end: number } {
  let value = base;
  let end = place;
  for (; end < text.length && digit.test(text[end]!); end++) value = BigInt.asIntN(64, value * 10n + BigInt(text[end]!.charCodeAt(0) - 48));
  return { value, end };
}
