/**
 * Reads and writes JSON like Go. Upstream: sigs.k8s.io/json (case-sensitive, integers kept, duplicates reported) and encoding/json's
 * Marshal.
 *
 * Reading scans the bytes once for what JSON.parse does not report (depth, duplicate keys, types of numbers), and then calls JSON.parse. If
 * that rejects the text, another scan finds Go's message.
 */
import { randomUUID } from 'node:crypto';
import { setOwn } from '#apimachinery/patch/own-property';
import { JsonScan } from './json-scan.ts';
import { findSyntaxError, isDigit, isSpace, JsonSyntaxError } from './json-syntax.ts';
import { inOrder, sortedSteps } from '../sorting.ts';
import { encodeNumber, Float64, isContainer, type JsonNumber, literalOf, numberOf, rawJson, rereadFloat } from '../numbers.ts';
import { atOnce, oneStep, type Steps } from '../steps.ts';
import { keysOf, noteKeys } from '../wide-objects.ts';

/** Error for JSON of the wrong type. `message` is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface ParsedJson {
  /** Plain objects and lists, with the numbers of numbers.ts. `__proto__` is an ordinary own property. */
  readonly value: unknown;
  /** Paths of repeated keys (`spec.containers[0].name`), without duplicates, at most 100. The last value wins. */
  readonly duplicateFields: readonly string[];
  /** Byte offsets of repeated keys, each occurrence except the first, at most 1,000 (see `mergeRepeatedKeys`). */
  readonly repeatedKeys?: readonly number[] | undefined;
  /** True if the value contains a Float64. */
  readonly hasFloats: boolean;
  /** The first number literal that overflows a double, with `keep`. */
  readonly overflow?: string | undefined;
}

/** Handling of numbers that overflow a double: only the type determines whether they are errors. */
type Overflow = 'refuse' | 'keep';

/** A run of this many digits may be an unsafe integer. */
const longDigits = 16;

/**
 * Parses JSON that this server has written (`encode`), so that only long integers are checked: there are no duplicates, odd literals or
 * excessive depth. The value is equal to that of `parseJson`. `hasRaw` is true if it contains raw content (`hasRawContent`), which may have
 * any literal.
 */
export function parseEncoded(bytes: Buffer, hasRaw = false): unknown {
  return parseEncodedText(bytes.toString('utf8'), hasRaw);
}

/** Like `parseEncoded`, for a string. */
export function parseEncodedText(text: string, hasRaw = false): unknown {
  return hasRaw || hasLongDigits(text) ? parseJson(Buffer.from(text)).value : (JSON.parse(text) as unknown);
}

/** Checks one character in every `longDigits`: every long run contains one of them. Ten times faster than a regular expression. */
function hasLongDigits(text: string): boolean {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let from = at;
    while (isDigit(text.charCodeAt(from - 1))) from -= 1;
    let to = at + 1;
    while (isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= longDigits) return true;
  }
  return false;
}

export function newOverflowError(literal: string): DecodeError {
  return new DecodeError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
}

/** Parses one JSON document. Invalid UTF-8 and lone surrogates become U+FFFD. Throws JsonSyntaxError; DecodeError for a number that overflows a double. */
export function parseJson(bytes: Uint8Array, overflow: Overflow = 'refuse'): ParsedJson {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = JsonScan.of(buffer);
  checkDepth(found);
  const value = parsePart(found, 0, buffer.length, '', '');
  return parsed(found, restored(found, value), overflow);
}

/**
 * Like `parseJson`, but yields after each chunk of at least `partBytes` bytes; a text of one chunk is parsed at once. The text is cut after commas; containers that are open at a
 * cut are reopened before the next chunk and closed after it, and the results are merged into the existing containers. `{"a":[1,2],"b":3}`
 * in three chunks: `{"a":[1` + `]}`, then `{"…":[` + `2]` + `}`, whose 2 is appended to `a`, then `{` + `"b":3}`.
 */
export function* parseJsonSteps(bytes: Buffer, partBytes = 64 * 1024, overflow: Overflow = 'refuse'): Steps<ParsedJson> {
  if (bytes.length <= partBytes) return parseJson(bytes, overflow);
  const scan = JsonScan.begin(bytes);
  let from = 0;
  let opening = '';
  let root: unknown;
  let open: readonly Container[] = [];
  const grown: GrownKeys = new Map();
  for (let more = true; more; ) {
    more = scan.next(from + partBytes);
    checkDepth(scan);
    const part = parsePart(scan, from, more ? scan.at - 1 : bytes.length, opening, more ? closingOf(scan) : '');
    const shadows = leftmost(part, open);
    const last = more ? presentOf(scan, shadows, part) : [];
    const whole = restored(scan, part);
    if (open.length === 0) root = whole;
    else {
      // Growing a key table gets its own chunk.
      yield;
      graft(shadows, open, grown);
    }
    open = last.map((container, at) => (container === shadows[at] ? open[at]! : container));
    from = scan.at;
    opening = more ? openingOf(scan) : '';
    scan.surrogates = false;
    yield;
  }
  for (const [object, keys] of grown) noteKeys(object, keys);
  return parsed(scan, root, overflow);
}

type Container = unknown[] | Record<string, unknown>;

/** Keys of objects that span several chunks. */
type GrownKeys = Map<Record<string, unknown>, string[]>;

/** Returns the parts of a chunk that stand for the reopened containers, outermost first. */
function leftmost(part: unknown, open: readonly Container[]): Container[] {
  const shadows: Container[] = [];
  for (let inner = part as Container; shadows.length < open.length; inner = (Array.isArray(inner) ? inner[0] : inner[marker]) as Container)
    shadows.push(inner);
  return shadows;
}

/** Returns the containers that are open after a chunk, outermost first. */
function presentOf(scan: JsonScan, shadows: readonly Container[], part: unknown): Container[] {
  const open = shadows.length > 0 ? shadows.slice(0, Math.max(scan.lowest, 1)) : [part as Container];
  for (let depth = open.length; depth < scan.depth; depth++) {
    const outer = open[depth - 1]!;
    open.push((Array.isArray(outer) ? outer.at(-1) : outer[scan.keyAt(depth)]) as Container);
  }
  return open;
}

/** Merges a chunk's reopened containers into the existing ones, except those that are still open. */
function graft(shadows: readonly Container[], open: readonly Container[], grown: GrownKeys): void {
  shadows.forEach((shadow, at) => {
    const container = open[at]!;
    const inner = shadows[at + 1];
    if (Array.isArray(shadow)) {
      for (const item of shadow) if (inner === undefined || item !== inner) (container as unknown[]).push(item);
      return;
    }
    const object = container as Record<string, unknown>;
    let keys = grown.get(object);
    if (!keys) grown.set(object, (keys = Object.keys(object)));
    for (const key of Object.keys(shadow)) {
      if (key === marker) continue;
      if (!Object.hasOwn(object, key)) keys.push(key);
      setOwn(object, key, shadow[key]);
    }
  });
}

function openingOf(scan: JsonScan): string {
  let text = '';
  for (let depth = 1; depth <= scan.depth; depth++) {
    if (!scan.isObject(depth)) text += '[';
    else text += depth < scan.depth ? `{"${markerInJson}":` : '{';
  }
  return text;
}

function closingOf(scan: JsonScan): string {
  let text = '';
  for (let depth = scan.depth; depth > 0; depth--) text += scan.isObject(depth) ? '}' : ']';
  return text;
}

const none: readonly string[] = [];

function checkDepth({ tooDeep, bytes }: JsonScan): void {
  if (tooDeep) throw findSyntaxError(bytes) ?? new JsonSyntaxError('exceeded max depth', bytes.length);
}

function parsed({ overflow, duplicates, repeatedKeys, hasFloats }: JsonScan, value: unknown, found: Overflow): ParsedJson {
  if (overflow !== undefined && found === 'refuse') throw newOverflowError(overflow);
  return repeatedKeys
    ? { value, duplicateFields: duplicates ?? none, repeatedKeys, hasFloats, overflow }
    : { value, duplicateFields: none, hasFloats, overflow };
}

/** Parses a chunk with its opening and closing brackets; odd numbers are marked. Throws JsonSyntaxError for the whole text. */
function parsePart({ bytes, ascii, oddNumbers }: JsonScan, from: number, to: number, opening: string, closing: string): unknown {
  try {
    // A trailing comma would not be noticed at a cut.
    if (opening && closesAt(bytes, from)) throw new SyntaxError('unexpected end of a list or an object');
    if (oddNumbers.length > 0) return JSON.parse(`${opening}${markedText(bytes, from, to, oddNumbers)}${closing}`);
    const text = ascii ? bytes.toString('latin1', from, to) : bytes.toString('utf8', from, to);
    return JSON.parse(opening || closing ? `${opening}${text}${closing}` : text);
  } catch (error) {
    throw findSyntaxError(bytes) ?? error;
  }
}

function closesAt(bytes: Buffer, at: number): boolean {
  while (at < bytes.length && isSpace(bytes[at]!)) at++;
  return bytes[at] === 0x5d || bytes[at] === 0x7d;
}

/** Returns a chunk with odd numbers and malformed strings repaired; the chunk itself if it has none. */
function restored({ oddNumbers, surrogates }: JsonScan, value: unknown): unknown {
  if (oddNumbers.length === 0 && !surrogates) return value;
  oddNumbers.length = 0;
  return restore(value);
}

/** Prefix of odd number literals during JSON.parse; clients cannot guess it. */
const marker = `\u0001${randomUUID()}:`;
const markerInJson = JSON.stringify(marker).slice(1, -1);

function markedText(buffer: Buffer, from: number, to: number, oddNumbers: readonly number[]): string {
  let text = '';
  for (let k = 0; k < oddNumbers.length; k += 2) {
    const start = oddNumbers[k]!;
    const end = oddNumbers[k + 1]!;
    text += `${buffer.toString('utf8', from, start)}"${markerInJson}${buffer.toString('latin1', start, end)}"`;
    from = end;
  }
  return text + buffer.toString('utf8', from, to);
}

function restoreText(text: string): unknown {
  if (text.startsWith(marker)) return numberOf(text.slice(marker.length));
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Restores odd numbers, and makes strings and keys well-formed. In place, except for objects with malformed keys. */
function restore(root: unknown): unknown {
  const holder: unknown[] = [root];
  const open: (unknown[] | Record<string, unknown>)[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) {
      for (let k = 0; k < container.length; k++) {
        const item: unknown = container[k];
        if (typeof item === 'string') container[k] = restoreText(item);
        else if (isContainer(item)) open.push(item as Record<string, unknown>);
      }
      continue;
    }
    for (const key of Object.keys(container)) {
      const item = container[key];
      let kept = item;
      if (typeof item === 'string') kept = restoreText(item);
      else if (isContainer(item)) open.push(item as Record<string, unknown>);
      if (key.isWellFormed()) {
        // An own property, also if the key is `__proto__`: this sets no prototype.
        if (kept !== item) container[key] = kept;
      } else {
        delete container[key];
        Object.defineProperty(container, key.toWellFormed(), { value: kept, writable: true, enumerable: true, configurable: true });
      }
    }
  }
  return holder[0];
}

/** Characters that Go escapes in JSON strings. */
export const needsEscape = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
const goEscapes: readonly (readonly [char: RegExp, escape: string])[] = [
  [/</g, '\\u003c'],
  [/>/g, '\\u003e'],
  [/&/g, '\\u0026'],
  [/\u2028/g, '\\u2028'],
  [/\u2029/g, '\\u2029'],
];

const escapedByGo = /[<>&\u2028\u2029]/;

/** Encodes a string like json.Marshal, with quotes: `<`, `>`, `&`, U+2028 and U+2029 escaped, lone surrogates as `\ufffd`. */
export function encodeString(text: string): string {
  if (!needsEscape.test(text)) return `"${text}"`;
  if (!text.isWellFormed())
    return `"${text
      .split(/\p{Surrogate}/u)
      .map((part) => encodeString(part).slice(1, -1))
      .join('\\ufffd')}"`;
  let json = JSON.stringify(text);
  // V8 does these without a call per character, which would take a tenth of a second for a text of the maximum size.
  if (escapedByGo.test(json)) for (const [char, escape] of goEscapes) json = json.replace(char, escape);
  return json;
}

/** Compares by UTF-8 bytes, which is the order of code points; JavaScript's `<` compares UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates are above all other code units.
    const xIsSurrogate = (x & 0xf800) === 0xd800;
    const yIsSurrogate = (y & 0xf800) === 0xd800;
    if (xIsSurrogate !== yIsSurrogate) return xIsSurrogate ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}

/** Returns the own keys of an object sorted by their UTF-8 bytes. */
export function sortedKeys(object: object): string[] {
  return inOrder([...keysOf(object)], compareUtf8);
}

/** Deeper values are encoded with an explicit stack. */
const recursionLimit = 200;

/** Differences between JSON that Go makes of maps and JSON that it keeps raw. */
interface JsonForm {
  readonly listKeys: (object: object) => readonly string[];
  readonly number: (value: JsonNumber) => string;
}

const ofMaps: JsonForm = { listKeys: sortedKeys, number: encodeNumber };
const asItWas: JsonForm = { listKeys: keysOf, number: literalOf };

/**
 * Encodes JSON like json.Marshal of a map[string]interface{}: compact, keys sorted, integers exact. Undefined properties are left out. Any
 * depth. Throws TypeError for values without a JSON form.
 */
export function encodeJson(value: unknown): string {
  return write(value, 0, ofMaps);
}

/**
 * Like `encodeJson`, but keeps the order of keys and the literals of numbers, like a RawMessage of Go (RawExtension, FieldsV1). It differs
 * from JSON.stringify in bigints, depth and some characters.
 */
export function encodeRawJson(value: unknown): string {
  const known = rememberedRawJson(value);
  if (known !== undefined) return known;
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch {
    return write(value, 0, asItWas);
  }
  return text === undefined || goesOtherwise.test(text) ? write(value, 0, asItWas) : text;
}

/** Returns JSON as Go's json.Marshal and json.Unmarshal round-trip it: keys sorted, `1.0` an integer. */
export function remarshaled(value: unknown): unknown {
  return parseEncodedText(encodeJson(value));
}

/** Returns JSON with sorted keys. */
export function withSortedKeys(value: unknown): unknown {
  return parseEncodedText(write(value, 0, { ...asItWas, listKeys: sortedKeys }), true);
}

/** Returns JSON with each Float64 as it reads back after encoding: `1.0` becomes an integer. In place, except for the Float64 itself. */
export function withoutFloats(root: unknown): unknown {
  const holder: unknown[] = [root];
  const open: object[] = [holder];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const members = container as Record<string, unknown>;
    for (const key in members) {
      const member = members[key];
      if (member instanceof Float64) members[key] = rereadFloat(member.value);
      else if (isContainer(member)) open.push(member);
    }
  }
  return holder[0];
}

/** Returns a replacer's value for JSON.stringify, which writes an unsafe integer exactly. */
export function rawInteger(value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(String(value)) : value;
}

const rememberedTexts = new WeakMap<object, string>();

/** Caches the `encodeRawJson` of a deeply frozen value for the value's lifetime. */
export function rememberRawJson(value: object): void {
  rememberedTexts.set(value, encodeRawJson(value));
}

/** Like `rememberRawJson` for a large value, but yields to the event loop. The value must not change any more. */
export function* rememberRawJsonSteps(value: object): Steps<void> {
  const pieces = yield* encodeRawJsonSteps(value);
  yield;
  rememberedTexts.set(value, Buffer.concat(pieces).toString());
}

/** Returns the cached text of a value. */
export function rememberedRawJson(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? rememberedTexts.get(value) : undefined;
}

/** Characters that Go escapes and JSON.stringify does not, and lone surrogates, which it escapes differently. */
const goesOtherwise = /[<>&\u2028\u2029]|\\ud[89a-f]/;

function write(value: unknown, depth: number, form: JsonForm): string {
  if (!isContainer(value)) return writeScalar(value, form);
  if (depth > recursionLimit) return writeDeep(value, form);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    let out = `[${write(value[0], depth + 1, form)}`;
    for (let i = 1; i < value.length; i++) out += `,${write(value[i], depth + 1, form)}`;
    return `${out}]`;
  }
  let out = '';
  for (const key of form.listKeys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) out += `${out === '' ? '{' : ','}${encodeString(key)}:${write(item, depth + 1, form)}`;
  }
  return out === '' ? '{}' : `${out}}`;
}

function writeScalar(value: unknown, { number }: Pick<JsonForm, 'number'>): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'number':
      return encodeNumber(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      if (value instanceof Float64) return number(value);
      if (value === null || value === undefined) return 'null';
      throw new TypeError(`json: unsupported type: ${typeof value}`);
  }
}

interface OpenValue {
  readonly container: object;
  /** undefined for a list. */
  readonly keys: readonly string[] | undefined;
  next: number;
  /** True if content has been written. */
  started: boolean;
}

/** Like `write`, without recursion. */
function writeDeep(root: object, form: JsonForm): string {
  let out = '';
  const take = (text: string): void => {
    out += text;
  };
  atOnce(writeSteps(root, inOneStep(form), take));
  return out;
}

/** A `JsonForm` that lists the keys of an object in chunks. */
interface SteppedForm {
  readonly listKeys: (object: object) => Steps<readonly string[]>;
  readonly number: (value: JsonNumber) => string;
}

const inOneStep = ({ listKeys, number }: JsonForm): SteppedForm => ({ number, listKeys: (object) => oneStep(() => listKeys(object)) });

/** Number of values between two yields. */
const stepValues = 512;

/** Like `encodeJson`, but yields to the event loop; returns pieces in UTF-8. */
export function encodeJsonSteps(value: object): Steps<Buffer[]> {
  return writePieces(value, { ...ofMaps, listKeys: sortedKeysSteps });
}

/** Like `encodeRawJson`, but yields to the event loop; returns pieces in UTF-8. */
export function encodeRawJsonSteps(value: object): Steps<Buffer[]> {
  return writePieces(value, inOneStep(asItWas));
}

/**
 * Encodes JSON of which Go has parsed only some objects and keeps the rest raw: `listKeys` returns the keys of an object in order. Yields to
 * the event loop; returns UTF-8.
 */
export function* encodePartlyRawJsonSteps(value: unknown, listKeys: SteppedForm['listKeys']): Steps<Buffer> {
  if (!isContainer(value)) return Buffer.from(write(value, 0, asItWas));
  return Buffer.concat(yield* writePieces(value, { ...asItWas, listKeys }));
}

function* writePieces(value: object, form: SteppedForm): Steps<Buffer[]> {
  const pieces: Buffer[] = [];
  yield* writeSteps(value, form, (text) => pieces.push(Buffer.from(text)));
  return pieces;
}

/** Passes the text to `take` before each yield, and at the end. */
function* writeSteps(root: object, form: SteppedForm, take: (text: string) => void): Steps<void> {
  let out = '';
  let written = 0;
  const open: OpenValue[] = [];
  let entered: object | undefined = root;
  for (;;) {
    if (entered) {
      const keys: readonly string[] | undefined = Array.isArray(entered) ? undefined : yield* form.listKeys(entered);
      out += keys ? '{' : '[';
      open.push({ container: entered, keys, next: 0, started: false });
      entered = undefined;
    }
    const current = open.at(-1);
    if (!current) return take(out);
    const { container, keys } = current;
    if (current.next >= (keys ?? (container as unknown[])).length) {
      out += keys ? '}' : ']';
      open.pop();
      continue;
    }
    const at = current.next++;
    const item = keys ? (container as Record<string, unknown>)[keys[at]!] : (container as unknown[])[at];
    if (keys && item === undefined) continue;
    if (current.started) out += ',';
    current.started = true;
    if (keys) out += `${encodeString(keys[at]!)}:`;
    if (isContainer(item)) entered = item;
    else out += writeScalar(item, form);
    if (++written % stepValues !== 0) continue;
    take(out);
    out = '';
    yield;
  }
}

/** Like `sortedKeys`, but yields to the event loop: runs of keys are sorted and merged in pairs. */
export function sortedKeysSteps(object: object): Steps<string[]> {
  return sortedSteps([...keysOf(object)], compareUtf8);
}
