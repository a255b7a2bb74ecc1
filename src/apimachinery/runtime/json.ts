/**
 * JSON as Go reads and writes it. Upstream: sigs.k8s.io/json (case sensitive, integers kept, duplicates reported) and encoding/json's Marshal.
 *
 * Reading is one scan over the bytes, for what JSON.parse cannot say (depth, duplicate keys, integers that a double cannot hold, the literals of
 * fractions), and then JSON.parse itself. A text that JSON.parse refuses is scanned a second time for Go's words.
 */
import { quote } from './quote.ts';

/** Objects and lists may be nested so deep; upstream: maxNestingDepth. */
export const maxNestingDepth = 10_000;

/** Upstream keeps so many strict errors and drops the rest. */
const maxReported = 100;

/** No JSON. `message` is that of Go's encoding/json, `offset` the number of bytes read up to the error. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';

  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** JSON that does not fit the type that it is read into. `message` is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface ParsedJson {
  /**
   * Plain objects and lists. An integer beyond the safe range of a double is a bigint if it fits an int64; any other number is a double.
   * `__proto__` is an own property like any other.
   */
  readonly value: unknown;
  /** Paths of keys that an object has more than once (`spec.containers[0].name`), each path once, at most 100. The last value counts. */
  readonly duplicateFields: readonly string[];
  /**
   * The literals of numbers that are no plain int64 (`1.0`, `1e3`, twenty digits), by path, at most 100; undefined if there are none. `decode`
   * needs them to refuse `1.0` as an integer in Go's words.
   */
  readonly literals: ReadonlyMap<string, string> | undefined;
}

/** A run of digits that may be an integer beyond the safe range. */
const longDigits = /\d{16}/;

/**
 * Reads JSON that this server has written (`encode`), so that nothing but long integers needs a look: no duplicates, no odd literals, no depth.
 * The value is as that of `parseJson`.
 */
export function parseEncoded(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return longDigits.test(text) ? parseJson(bytes).value : (JSON.parse(text) as unknown);
}

/** Reads one JSON document. Invalid UTF-8 and lone surrogates become U+FFFD. Throws JsonSyntaxError; DecodeError for a number that overflows a double. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = scan(buffer);
  let value: unknown;
  try {
    value = JSON.parse(found.longIntegers.length > 0 ? markedText(buffer, found.longIntegers) : textOf(buffer, found.ascii));
  } catch (error) {
    const syntaxError = findSyntaxError(buffer);
    if (syntaxError) throw syntaxError;
    throw error;
  }
  if (found.tooDeep) throw findSyntaxError(buffer) ?? new JsonSyntaxError('exceeded max depth', buffer.length);
  if (found.overflow !== undefined) throw new DecodeError(`json: cannot unmarshal number ${found.overflow} into Go value of type float64`);
  if (found.longIntegers.length > 0 || found.surrogates) value = restore(value);
  return { value, duplicateFields: found.duplicates ?? none, literals: found.literals };
}

const none: readonly string[] = [];

function textOf(buffer: Buffer, ascii: boolean): string {
  return ascii ? buffer.toString('latin1') : buffer.toString('utf8');
}

interface Scan {
  ascii: boolean;
  /** An escape may make a lone surrogate. */
  surrogates: boolean;
  tooDeep: boolean;
  duplicates: string[] | undefined;
  /** Duplicate keys so far, each occurrence counted. */
  repeated: number;
  literals: Map<string, string> | undefined;
  overflow: string | undefined;
  /** Start and end of every integer that a double cannot hold and an int64 can. */
  longIntegers: number[];
}

const quoteMark = 0x22;
const backslash = 0x5c;

/** From so many keys on, an object's keys are in a Set instead of being compared one by one. */
const setFrom = 12;

// The stacks of a scan, reused: nothing of them outlives a call, and a scan never calls out to other code.
// Of each open object, its keys so far lie in keyStart, keyEnd and keyHash from its base on; a list's base is -1.
const bases = new Int32Array(maxNestingDepth + 2);
const indexes = new Int32Array(maxNestingDepth + 2);
let keyStart = new Int32Array(256);
let keyEnd = new Int32Array(256);
let keyHash = new Int32Array(256);
const keySets: (Set<string> | undefined)[] = [];

function growKeys(size: number): void {
  const grow = (from: Int32Array): Int32Array<ArrayBuffer> => {
    const to = new Int32Array(size);
    to.set(from.subarray(0, size));
    return to;
  };
  keyStart = grow(keyStart);
  keyEnd = grow(keyEnd);
  keyHash = grow(keyHash);
}

/** Looks only at what JSON.parse cannot tell. On malformed text it stops somewhere: JSON.parse will refuse that text. */
function scan(bytes: Buffer): Scan {
  const found: Scan = {
    ascii: true,
    surrogates: false,
    tooDeep: false,
    duplicates: undefined,
    repeated: 0,
    literals: undefined,
    overflow: undefined,
    longIntegers: [],
  };
  const length = bytes.length;
  let allBytes = 0;
  let depth = 0;
  let top = 0;
  let openSets = 0;
  let expectKey = false;
  let i = 0;
  scanning: while (i < length) {
    const c = bytes[i++]!;
    if (c === quoteMark) {
      if (!expectKey) {
        for (;;) {
          if (i >= length) break scanning;
          const b = bytes[i++]!;
          if (b === quoteMark) break;
          allBytes |= b;
          if (b !== backslash) continue;
          if (bytes[i] === 0x75 && (bytes[i + 1]! | 0x20) === 0x64) found.surrogates = true;
          i++;
        }
        continue;
      }
      const start = i;
      let odd = 0;
      for (;;) {
        if (i >= length) break scanning;
        const b = bytes[i++]!;
        if (b === quoteMark) break;
        odd |= b;
        if (b !== backslash) continue;
        odd |= 0x100;
        if (bytes[i] === 0x75 && (bytes[i + 1]! | 0x20) === 0x64) found.surrogates = true;
        i++;
      }
      allBytes |= odd;
      expectKey = false;
      const end = i - 1;
      const base = bases[depth]!;
      const hash = end > start ? ((end - start) << 16) | (bytes[start]! << 12) | (bytes[(start + end) >> 1]! << 6) | bytes[end - 1]! : 0;
      if (top >= keyStart.length) growKeys(keyStart.length * 2);
      keyStart[top] = start;
      keyEnd[top] = end;
      keyHash[top] = hash;
      indexes[depth] = top;
      let set = openSets > 0 ? keySets[depth] : undefined;
      if (set === undefined && (odd > 0x7f || top - base >= setFrom)) {
        set = new Set();
        for (let k = base; k < top; k++) set.add(keyText(bytes, k));
        keySets[depth] = set;
        openSets++;
      }
      top++;
      if (set !== undefined) {
        const key = keyText(bytes, top - 1);
        if (set.has(key)) report(found, bytes, depth);
        else set.add(key);
      } else {
        for (let k = base; k < top - 1; k++) {
          if (keyHash[k] === hash && sameBytes(bytes, keyStart[k]!, keyEnd[k]!, start, end)) {
            report(found, bytes, depth);
            break;
          }
        }
      }
    } else if (c === 0x2c) {
      if (bases[depth]! >= 0) expectKey = depth > 0;
      else indexes[depth] = indexes[depth]! + 1;
    } else if (c === 0x3a || c === 0x20 || c === 0x0a) {
      // Nothing to note.
    } else if (c === 0x7b || c === 0x5b) {
      depth++;
      if (depth > maxNestingDepth) {
        found.tooDeep = true;
        break;
      }
      indexes[depth] = 0;
      bases[depth] = c === 0x7b ? top : -1;
      expectKey = c === 0x7b;
    } else if (c === 0x7d || c === 0x5d) {
      if (depth === 0) break;
      if (bases[depth]! >= 0) {
        top = bases[depth]!;
        if (openSets > 0 && keySets[depth] !== undefined) {
          keySets[depth] = undefined;
          openSets--;
        }
      }
      depth--;
      expectKey = false;
    } else if ((c >= 0x30 && c <= 0x39) || c === 0x2d) {
      const start = i - 1;
      let fraction = false;
      while (i < length) {
        const b = bytes[i]!;
        if (b >= 0x30 && b <= 0x39) i++;
        else if (b === 0x2e || b === 0x65 || b === 0x45 || b === 0x2b || b === 0x2d) {
          fraction = true;
          i++;
        } else break;
      }
      if (fraction || i - start >= 16) noteNumber(found, bytes, start, i, fraction, depth);
    }
  }
  found.ascii = (allBytes & 0x80) === 0;
  if (openSets > 0) keySets.fill(undefined);
  if (keyStart.length > 65_536) {
    keyStart = new Int32Array(256);
    keyEnd = new Int32Array(256);
    keyHash = new Int32Array(256);
  }
  return found;
}

function sameBytes(bytes: Buffer, aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let a = aStart, b = bStart; a < aEnd; a++, b++) if (bytes[a] !== bytes[b]) return false;
  return true;
}

/** The key at a place of the key stack, unescaped. */
function keyText(bytes: Buffer, at: number): string {
  const text = bytes.toString('utf8', keyStart[at]!, keyEnd[at]!);
  if (!text.includes('\\')) return text;
  try {
    return (JSON.parse(`"${text}"`) as string).toWellFormed();
  } catch {
    // Not JSON at all: the document will be refused.
    return text;
  }
}

/** Where the scan is: `spec.containers[0].name`. */
function path(bytes: Buffer, depth: number): string {
  let text = '';
  for (let d = 1; d <= depth; d++) {
    if (bases[d]! < 0) text += `[${indexes[d]}]`;
    else text += text ? `.${keyText(bytes, indexes[d]!)}` : keyText(bytes, indexes[d]!);
  }
  return text;
}

function report(found: Scan, bytes: Buffer, depth: number): void {
  // Making a path takes time that grows with the depth: a body of nothing but duplicates must not take longer for it.
  if (++found.repeated > 2 * maxReported) return;
  const at = path(bytes, depth);
  found.duplicates ??= [];
  if (found.duplicates.length < maxReported && !found.duplicates.includes(at)) found.duplicates.push(at);
}

function noteNumber(found: Scan, bytes: Buffer, start: number, end: number, fraction: boolean, depth: number): void {
  const literal = bytes.toString('latin1', start, end);
  if (!fraction) {
    const number = Number(literal);
    if (Number.isSafeInteger(number)) return;
    if (end - start <= 20 && /^-?[1-9]\d*$/.test(literal)) {
      const exact = BigInt(literal);
      if (exact === BigInt.asIntN(64, exact)) {
        found.longIntegers.push(start, end);
        return;
      }
    }
  }
  if (found.overflow === undefined && (fraction || end - start > 300) && !Number.isFinite(Number(literal))) found.overflow = literal;
  found.literals ??= new Map();
  if (found.literals.size < maxReported) found.literals.set(path(bytes, depth), literal);
}

/** Stands before the digits of a long integer while JSON.parse runs. No client can know it. */
const marker = `\u0001${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}:`;
const markerInJson = JSON.stringify(marker).slice(1, -1);

function markedText(buffer: Buffer, longIntegers: readonly number[]): string {
  let text = '';
  let from = 0;
  for (let k = 0; k < longIntegers.length; k += 2) {
    const start = longIntegers[k]!;
    const end = longIntegers[k + 1]!;
    text += `${buffer.toString('utf8', from, start)}"${markerInJson}${buffer.toString('latin1', start, end)}"`;
    from = end;
  }
  return text + buffer.toString('utf8', from, buffer.length);
}

function restoreText(text: string): unknown {
  if (text.startsWith(marker)) return BigInt(text.slice(marker.length));
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Puts the long integers back, and makes strings and keys well-formed. In place but for objects with malformed keys. */
function restore(root: unknown): unknown {
  const holder: unknown[] = [root];
  const open: (unknown[] | Record<string, unknown>)[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let k = 0; k < container.length; k++) {
        const item: unknown = container[k];
        if (typeof item === 'string') container[k] = restoreText(item);
        else if (item !== null && typeof item === 'object') open.push(item as Record<string, unknown>);
      }
      continue;
    }
    for (const key of Object.keys(container)) {
      const item = container[key];
      let kept = item;
      if (typeof item === 'string') kept = restoreText(item);
      else if (item !== null && typeof item === 'object') open.push(item as Record<string, unknown>);
      if (key.isWellFormed()) {
        // An own property, also if it is called __proto__: this sets no prototype.
        if (kept !== item) container[key] = kept;
      } else {
        delete container[key];
        Object.defineProperty(container, key.toWellFormed(), { value: kept, writable: true, enumerable: true, configurable: true });
      }
    }
  }
  return holder[0];
}

const literalWords: Readonly<Record<number, string>> = { 0x74: 'true', 0x66: 'false', 0x6e: 'null' };
const escapes: ReadonlySet<number> = new Set([...'bfnrt\\/"'].map((char) => char.charCodeAt(0)));
const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;
const isHex = (c: number): boolean => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);
const isSpace = (c: number): boolean => c === 0x20 || c === 0x09 || c === 0x0d || c === 0x0a;

/**
 * The first error of a text as Go's scanner names it; undefined for valid JSON. Upstream: encoding/json/scanner.go, whose states the words come
 * from. At the end of the text that scanner sees one more blank, so a cut literal is an invalid blank and a cut string an unexpected end.
 */
export function findSyntaxError(bytes: Uint8Array): JsonSyntaxError | undefined {
  const length = bytes.length;
  let i = 0;
  const peek = (): number => (i < length ? bytes[i]! : 0x20);
  const unexpectedEnd = (): JsonSyntaxError => new JsonSyntaxError('unexpected end of JSON input', length);
  const bad = (context: string): JsonSyntaxError =>
    new JsonSyntaxError(`invalid character ${quoteCharacter(peek())} ${context}`, Math.min(i + 1, length));
  /** Steps over one byte of a class; past the end, a blank that no class holds is an error, and one that it holds an unexpected end. */
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

  /** The open objects (`{` before a colon is due, `:` after it) and lists. */
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

/** A byte as the scanner's messages show it: taken for a rune, in single quotes. */
function quoteCharacter(byte: number): string {
  if (byte === 0x27) return `'\\''`;
  if (byte === quoteMark) return `'"'`;
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`;
}

const needsEscape = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
const goEscapes = /[<>&\u2028\u2029]/g;
const goEscape: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** A string as json.Marshal writes it, with quotes: `<`, `>`, `&`, U+2028 and U+2029 escaped, lone surrogates as `\ufffd`. */
export function encodeString(text: string): string {
  if (!needsEscape.test(text)) return `"${text}"`;
  if (!text.isWellFormed())
    return `"${text
      .split(/\p{Surrogate}/u)
      .map((part) => encodeString(part).slice(1, -1))
      .join('\\ufffd')}"`;
  return JSON.stringify(text).replace(goEscapes, (char) => goEscape[char]!);
}

/** A number as json.Marshal writes a float64 or an int64: JavaScript's own form, but for `-0` and what is no number of JSON. */
export function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`json: unsupported value: ${value}`);
  return String(value);
}

/** Compares as the bytes of UTF-8 do, which is the order of code points; JavaScript's `<` compares UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates stand for code points above all others.
    const xIsSurrogate = (x & 0xf800) === 0xd800;
    const yIsSurrogate = (y & 0xf800) === 0xd800;
    if (xIsSurrogate !== yIsSurrogate) return xIsSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** The own keys of an object in the order of their UTF-8 bytes. */
export function sortedKeys(object: object): string[] {
  const keys = Object.keys(object);
  for (let i = 1; i < keys.length; i++) {
    if (compareUtf8(keys[i - 1]!, keys[i]!) > 0) return keys.sort(compareUtf8);
  }
  return keys;
}

/** Values nested deeper than this are written with a stack of our own instead of the engine's. */
const recursionLimit = 200;

/**
 * Any JSON as json.Marshal writes a map[string]interface{}: compact, keys sorted, bigint exact. A property that is undefined is left out. Works at any
 * depth. Throws TypeError for values that JSON has no form for. `keysOf`: which keys an object has, where not all are sorted.
 */
export function encodeJson(value: unknown, keysOf: (object: object) => string[] = sortedKeys): string {
  return write(value, 0, keysOf);
}

/**
 * Like `encodeJson`, with the keys in the order that they have: what a RawMessage of Go keeps (RawExtension, FieldsV1). That is JSON.stringify, but for
 * bigints, depth and some characters.
 */
export function encodeRawJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch {
    return write(value, 0, Object.keys);
  }
  return text === undefined || goesOtherwise.test(text) ? write(value, 0, Object.keys) : text;
}

/** What Go escapes and JSON.stringify does not, or writes in another way: lone surrogates. */
const goesOtherwise = /[<>&\u2028\u2029]|\\ud[89a-f]/;

function write(value: unknown, depth: number, keysOf: (object: object) => string[]): string {
  if (value === null || typeof value !== 'object') return writeScalar(value);
  if (depth > recursionLimit) return writeDeep(value, keysOf);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    let out = `[${write(value[0], depth + 1, keysOf)}`;
    for (let i = 1; i < value.length; i++) out += `,${write(value[i], depth + 1, keysOf)}`;
    return `${out}]`;
  }
  let out = '';
  for (const key of keysOf(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) out += `${out === '' ? '{' : ','}${encodeString(key)}:${write(item, depth + 1, keysOf)}`;
  }
  return out === '' ? '{}' : `${out}}`;
}

function writeScalar(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'number':
      return encodeNumber(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value === null || value === undefined) return 'null';
      throw new TypeError(`json: unsupported type: ${typeof value}`);
  }
}

interface OpenValue {
  readonly container: object;
  /** undefined for a list. */
  readonly keys: readonly string[] | undefined;
  next: number;
  /** Whether something has been written inside. */
  started: boolean;
}

/** `write` without recursion. */
function writeDeep(root: object, keysOf: (object: object) => string[]): string {
  const parts: string[] = [];
  const open: OpenValue[] = [];
  const enter = (container: object): void => {
    const keys = Array.isArray(container) ? undefined : keysOf(container);
    parts.push(keys ? '{' : '[');
    open.push({ container, keys, next: 0, started: false });
  };
  enter(root);
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const { container, keys } = current;
    if (current.next >= (keys ?? (container as unknown[])).length) {
      parts.push(keys ? '}' : ']');
      open.pop();
      continue;
    }
    const at = current.next++;
    const item = keys ? (container as Record<string, unknown>)[keys[at]!] : (container as unknown[])[at];
    if (keys && item === undefined) continue;
    if (current.started) parts.push(',');
    current.started = true;
    if (keys) parts.push(encodeString(keys[at]!), ':');
    if (item !== null && typeof item === 'object') enter(item);
    else parts.push(writeScalar(item));
  }
  return parts.join('');
}
