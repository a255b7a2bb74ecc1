import { compareUtf8, parseEncodedText } from '#apimachinery/runtime/json/json';
import { encodeNumber, formatNumber, isNumber } from '#apimachinery/runtime/numbers';
import { quote } from '#apimachinery/runtime/quote';
import { sortedSteps } from '#apimachinery/runtime/sorting';
import type { Steps } from '#apimachinery/runtime/steps';

/**
 * One element of a field path in its serialized form, which is also its identity:
 *
 * | form                | selects                                                      | printed      |
 * |---------------------|--------------------------------------------------------------|--------------|
 * | `f:name`            | a field of a struct or a key of a map                        | `.name`      |
 * | `k:{"name":"a"}`    | the item of a map list with these key fields, sorted by name | `[name="a"]` |
 * | `v:"x"`             | the item of a set                                            | `[="x"]`     |
 * | `i:0`               | an item by its index                                         | `[0]`        |
 *
 * structured-merge-diff/fieldpath/serialize-pe.go.
 */
export type PathElement = string;

/** A path from the root of an object, which itself has the empty path. */
export type FieldPath = readonly PathElement[];

export const fieldElement = (name: string): PathElement => `f:${name}`;
export const valueElement = (value: unknown): PathElement => `v:${encodeScalar(value)}`;

/** Returns the element of a map list's item; the names must be sorted. */
export function keyElement(names: readonly string[], values: readonly unknown[]): PathElement {
  let out = 'k:{';
  for (let i = 0; i < names.length; i++) out += `${i > 0 ? ',' : ''}"${names[i]!}":${encodeScalar(values[i])}`;
  return `${out}}`;
}

/** Number of elements that are parsed between two yields. */
const stepElements = 4_096;

const plain = /^[ !#-%'-;=?-[\]-~]*$/;

/** Encodes JSON as jsoniter does in path elements: like encoding/json, but with \b and \f in the long form. */
export function encodeScalar(value: unknown): string {
  if (typeof value === 'string') {
    if (plain.test(value)) return `"${value}"`;
    return JSON.stringify(value.toWellFormed()).replace(/[<>&\u2028\u2029]|\\[bf]/g, (char) =>
      char === '\\b' ? '\\u0008' : char === '\\f' ? '\\u000c' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  if (isNumber(value)) return encodeNumber(value);
  return JSON.stringify(value) ?? 'null';
}

/** Compares like upstream: fields, keys, values, indexes; each kind by its content, numbers by value. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  return isField(a) && isField(b) ? compareUtf8(a, b) : compareParsed(parsedElement(a), parsedElement(b));
}

/** Sorts by `comparePathElements`, in place. */
export function sortPathElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements;
  const parsed = elements.map(parsedElement).sort(compareParsed);
  for (let i = 0; i < parsed.length; i++) elements[i] = parsed[i]!.element;
  return elements;
}

const isField = (element: PathElement): boolean => element.charCodeAt(0) === 0x66;

/** Returns a sorted copy, and yields to the event loop. */
export function* sortedElementsSteps(elements: readonly PathElement[]): Steps<PathElement[]> {
  const parsed: ParsedElement[] = [];
  for (const element of elements) {
    parsed.push(parsedElement(element));
    if (parsed.length % stepElements === 0) yield;
  }
  const sorted = yield* sortedSteps(parsed, compareParsed);
  yield;
  return sorted.map(({ element }) => element);
}

interface ParsedElement {
  readonly element: PathElement;
  readonly kind: number;
  /** The content by kind: none, a Key, any scalar, a number. */
  readonly content: unknown;
}

function parsedElement(element: PathElement): ParsedElement {
  const kind = rank(element.charCodeAt(0));
  switch (kind) {
    case 0:
      return { element, kind, content: undefined };
    case 1:
      return { element, kind, content: parseKey(element) };
    case 2:
      return { element, kind, content: parseEncodedText(element.slice(2)) };
    default:
      return { element, kind, content: Number(element.slice(2)) };
  }
}

function compareParsed(a: ParsedElement, b: ParsedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind;
  switch (a.kind) {
    case 0:
      return compareUtf8(a.element, b.element);
    case 1:
      return compareKeys(a.content as Key, b.content as Key);
    case 2:
      return compareScalars(a.content, b.content);
    default:
      return (a.content as number) - (b.content as number);
  }
}

/** Returns the rank of a kind: f < k < v < i. */
function rank(kind: number): number {
  switch (kind) {
    case 0x66:
      return 0;
    case 0x6b:
      return 1;
    case 0x76:
      return 2;
    default:
      return 3;
  }
}

type Key = readonly (readonly [name: string, value: unknown])[];

function parseKey(element: PathElement): Key {
  return Object.entries(parseEncodedText(element.slice(2)) as object).sort(([a], [b]) => compareUtf8(a, b));
}

function compareKeys(a: Key, b: Key): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareUtf8(a[i]![0], b[i]![0]) || compareScalars(a[i]![1], b[i]![1]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Compares numbers < strings < booleans < others < null; structured-merge-diff/value.Compare. */
export function compareScalars(a: unknown, b: unknown): number {
  const kindA = scalarRank(a);
  const kindB = scalarRank(b);
  if (kindA !== kindB) return kindA - kindB;
  if (typeof a === 'string') return compareUtf8(a, b as string);
  if (kindA === 3) return compareUtf8(JSON.stringify(a), JSON.stringify(b));
  if (kindA === 4) return 0;
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

function scalarRank(value: unknown): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 0;
    case 'string':
      return 1;
    case 'boolean':
      return 2;
    default:
      return value === null ? 4 : 3;
  }
}

/**
 * Returns the canonical form of the element; undefined for an unknown kind, which a later version may have. Throws an Error for malformed
 * input.
 */
export function parsePathElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return `v:${encodeScalar(parseEncodedText(text.slice(2)))}`;
    case 'i':
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new Error(`strconv.Atoi: parsing ${quote(text.slice(2))}: invalid syntax`);
      return `i:${Number(text.slice(2))}`;
    case 'k': {
      const key: unknown = parseEncodedText(text.slice(2));
      if (typeof key !== 'object' || key === null || Array.isArray(key)) throw new Error(`expect { or n, but found ${text.slice(2, 3)}`);
      const fields = Object.entries(key).sort(([a], [b]) => compareUtf8(a, b));
      return `k:{${fields.map(([name, value]) => `${encodeScalar(name)}:${encodeScalar(value)}`).join(',')}}`;
    }
    default:
      return undefined;
  }
}

/** Formats a path for conflicts: `.spec.containers[name="a"].image`. */
export function formatPath(path: FieldPath): string {
  return path.map(formatPathElement).join('');
}

export function formatPathElement(element: PathElement): string {
  switch (element[0]) {
    case 'f':
      return `.${element.slice(2)}`;
    case 'k':
      return `[${parseKey(element)
        .map(([name, value]) => `${name}=${formatScalar(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${formatScalar(parseEncodedText(element.slice(2)))}]`;
    default:
      return `[${element.slice(2)}]`;
  }
}

/** Formats a scalar. An invalid key may have any value. Upstream: structured-merge-diff/value/value.go (ToString). */
function formatScalar(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(formatScalar).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, item]) => `${key}=${formatScalar(item)}`)
      .join('');
  return isNumber(value) ? formatNumber(value) : String(value);
}
