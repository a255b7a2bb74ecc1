/**
 * JSON as Go reads and writes it. Upstream: sigs.k8s.io/json (case sensitive, integers kept, duplicates reported) and encoding/json's Marshal.
 *
 * Reading is one scan over the bytes, for what JSON.parse cannot say (depth, duplicate keys, the type of numbers), and then JSON.parse itself. A text that JSON.parse refuses is scanned a second time for Go's words.
 */
import { setOwn } from '#apimachinery/patch/own-property';
import { JsonScan } from './json-scan.ts';
import { findSyntaxError, isDigit, isSpace, JsonSyntaxError } from './json-syntax.ts';
import { inOrder, sortedSteps } from '../sorting.ts';
import { encodeNumber, Float64, isContainer, type JsonNumber, literalOf, numberOf, rawJson, rereadFloat } from '../numbers.ts';
import { atOnce, oneStep, type Steps } from '../steps.ts';
import { keysOf, noteKeys } from '../wide-objects.ts';

/** JSON that does not fit the type that it is read into. `message` is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

export interface ParsedJson {
  /**
   * Plain objects and lists; numbers are those of numbers.ts. `__proto__` is an own property like any other.
   */
  readonly value: unknown;
  /** Paths of keys that an object has more than once (`spec.containers[0].name`), each path once, at most 100. The last value counts. */
  readonly duplicateFields: readonly string[];
  /** Where those keys are, each occurrence but the first, at most 1,000: the offsets of their first bytes (`mergeRepeatedKeys`). */
  readonly repeatedKeys?: readonly number[] | undefined;
  /** True if a Float64 is in the value. */
  readonly hasFloats: boolean;
  /** The literal of the first number that overflows a double, if that was asked for. */
  readonly overflow?: string | undefined;
}

/** What becomes of numbers that overflow a double: it depends on the type whether they matter. */
type Overflow = 'refuse' | 'keep';

/** A run of so many digits may be an integer beyond the safe range. */
const longDigits = 16;

/**
 * Reads JSON that this server has written (`encode`), so that nothing but long integers needs a look: no duplicates, no odd literals, no depth. The
 * value is as that of `parseJson`. `hasRaw`: content is in it that was kept as it was written (`hasRawContent`), where any literal may be.
 */
export function parseEncoded(bytes: Buffer, hasRaw = false): unknown {
  return parseEncodedText(bytes.toString('utf8'), hasRaw);
}

/** `parseEncoded` of a text. */
export function parseEncodedText(text: string, hasRaw = false): unknown {
  return hasRaw || hasLongDigits(text) ? parseJson(Buffer.from(text)).value : (JSON.parse(text) as unknown);
}

/** Looks at one character of `longDigits` each: every long run has one of them. A tenth of what a regular expression takes. */
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

/** Reads one JSON document. Invalid UTF-8 and lone surrogates become U+FFFD. Throws JsonSyntaxError; DecodeError for a number that overflows a double. */
export function parseJson(bytes: Uint8Array, overflow: Overflow = 'refuse'): ParsedJson {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = JsonScan.of(buffer);
  checkDepth(found);
  const value = parsePart(found, 0, buffer.length, '', '');
  return parsed(found, restored(found, value), overflow);
}

/**
 * `parseJson` in steps, each of a part of so many bytes or more. The text is cut behind commas; what is open at a cut is opened before the next part and closed behind the last, and what comes out
 * is put into the containers that are there. `{"a":[1,2],"b":3}` in three parts: `{"a":[1` + `]}`, then `{"…":[` + `2]` + `}`, whose 2 goes to the list of
 * `a`, then `{` + `"b":3}`.
 */
export function* parseJsonSteps(bytes: Buffer, partBytes = 64 * 1024, overflow: Overflow = 'refuse'): Steps<ParsedJson> {
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
      // Where a table of keys has to grow, that is a step of its own.
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

/** The keys of objects that more than one part had something of. */
type GrownKeys = Map<Record<string, unknown>, string[]>;

/** What of a part stands for the containers that were open before it, the outermost first. */
function leftmost(part: unknown, open: readonly Container[]): Container[] {
  const shadows: Container[] = [];
  for (let inner = part as Container; shadows.length < open.length; inner = (Array.isArray(inner) ? inner[0] : inner[marker]) as Container)
    shadows.push(inner);
  return shadows;
}

/** What is open behind a part, the outermost first: what stayed open in it, and what was opened last. */
function presentOf(scan: JsonScan, shadows: readonly Container[], part: unknown): Container[] {
  const open = shadows.length > 0 ? shadows.slice(0, Math.max(scan.lowest, 1)) : [part as Container];
  for (let depth = open.length; depth < scan.depth; depth++) {
    const outer = open[depth - 1]!;
    open.push((Array.isArray(outer) ? outer.at(-1) : outer[scan.keyAt(depth)]) as Container);
  }
  return open;
}

/** Puts what a part has of open containers into them, but for the open containers themselves. */
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

/** Reads a part between what opens and what closes it; odd numbers are marked. Throws JsonSyntaxError, of the whole text. */
function parsePart({ bytes, ascii, oddNumbers }: JsonScan, from: number, to: number, opening: string, closing: string): unknown {
  try {
    // No comma may end a list or an object, which nobody would see at a cut.
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

/** Returns a part with its odd numbers and malformed strings put right; the part itself if it has none. */
function restored({ oddNumbers, surrogates }: JsonScan, value: unknown): unknown {
  if (oddNumbers.length === 0 && !surrogates) return value;
  oddNumbers.length = 0;
  return restore(value);
}

/** Stands before the literal of an odd number while JSON.parse runs. No client can know it. */
const marker = `\u0001${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}:`;
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

/** Puts the odd numbers back, and makes strings and keys well-formed. In place but for objects with malformed keys. */
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

/** What is in no JSON string of Go as it stands. */
export const needsEscape = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
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
  return inOrder([...keysOf(object)], compareUtf8);
}

/** Values nested deeper than this are written with a stack of our own instead of the engine's. */
const recursionLimit = 200;

/** How JSON that Go makes of maps differs from JSON that it has kept as it was. */
interface JsonForm {
  readonly listKeys: (object: object) => readonly string[];
  readonly number: (value: JsonNumber) => string;
}

const ofMaps: JsonForm = { listKeys: sortedKeys, number: encodeNumber };
const asItWas: JsonForm = { listKeys: keysOf, number: literalOf };

/**
 * Any JSON as json.Marshal writes a map[string]interface{}: compact, keys sorted, integers exact. A property that is undefined is left out. Works at any
 * depth. Throws TypeError for values that JSON has no form for.
 */
export function encodeJson(value: unknown): string {
  return write(value, 0, ofMaps);
}

/** Any JSON of which Go has read only some objects, and kept the rest as it was: `listKeys` says in which order those have their keys. */
export function encodePartlyRawJson(value: unknown, listKeys: (object: object) => readonly string[]): string {
  return write(value, 0, { ...asItWas, listKeys });
}

/**
 * Like `encodeJson`, with the keys in the order that they have, and numbers as they were written: what a RawMessage of Go keeps (RawExtension,
 * FieldsV1). That is JSON.stringify, but for bigints, depth and some characters.
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

/** JSON as it is once Go's json.Marshal has written it and json.Unmarshal read it: keys sorted, `1.0` an integer. */
export function remarshaled(value: unknown): unknown {
  return parseEncodedText(encodeJson(value));
}

/** JSON with the keys of its objects sorted. */
export function withSortedKeys(value: unknown): unknown {
  return parseEncodedText(encodePartlyRawJson(value, sortedKeys), true);
}

/** JSON with each Float64 as it is read back after it was written: `1.0` becomes an integer. In place but for a Float64 itself. */
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

/** A replacer's value for JSON.stringify, which writes an integer beyond a double as it is. */
export function rawInteger(value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(String(value)) : value;
}

const rememberedTexts = new WeakMap<object, string>();

/** Lets `encodeRawJson` of a deeply frozen value be a look at what it was, as long as the value lives. */
export function rememberRawJson(value: object): void {
  rememberedTexts.set(value, encodeRawJson(value));
}

/** `rememberRawJson` of a large value in steps. It must not change any more. */
export function* rememberRawJsonSteps(value: object): Steps<void> {
  const pieces = yield* encodeRawJsonSteps(value);
  yield;
  rememberedTexts.set(value, Buffer.concat(pieces).toString());
}

/** What is remembered of a value. */
export function rememberedRawJson(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? rememberedTexts.get(value) : undefined;
}

/** What Go escapes and JSON.stringify does not, or writes in another way: lone surrogates. */
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
  /** Whether something has been written inside. */
  started: boolean;
}

/** `write` without recursion. */
function writeDeep(root: object, form: JsonForm): string {
  let out = '';
  const take = (text: string): void => {
    out += text;
  };
  atOnce(writeSteps(root, inOneStep(form), take));
  return out;
}

/** `JsonForm` that lists the keys of an object in steps. */
interface SteppedForm {
  readonly listKeys: (object: object) => Steps<readonly string[]>;
  readonly number: (value: JsonNumber) => string;
}

const inOneStep = ({ listKeys, number }: JsonForm): SteppedForm => ({ number, listKeys: (object) => oneStep(() => listKeys(object)) });

/** So many values are written in a step. */
const stepValues = 512;

/** `encodeJson` of an object or a list in steps: pieces of its text in UTF-8. */
export function encodeJsonSteps(value: object): Steps<Buffer[]> {
  return writePieces(value, { ...ofMaps, listKeys: sortedKeysSteps });
}

/** `encodeRawJson` in the same way. */
export function encodeRawJsonSteps(value: object): Steps<Buffer[]> {
  return writePieces(value, inOneStep(asItWas));
}

function* writePieces(value: object, form: SteppedForm): Steps<Buffer[]> {
  const pieces: Buffer[] = [];
  yield* writeSteps(value, form, (text) => pieces.push(Buffer.from(text)));
  return pieces;
}

/** Gives the text away before each step, and at the end. */
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

/** `sortedKeys` in steps: runs of keys are sorted, and merged two by two. */
export function sortedKeysSteps(object: object): Steps<string[]> {
  return sortedSteps([...keysOf(object)], compareUtf8);
}
