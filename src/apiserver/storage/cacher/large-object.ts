import { Buffer } from 'node:buffer';
import { backslash, maxNestingDepth, quoteMark } from '#apimachinery/runtime/json/json-scan';
import { parseEncoded } from '#apimachinery/runtime/json/json';

/** So many members of a map or list are enough for whoever does not need it whole. */
const fewMembers = 1_000;
/** Labels of fewer bytes are parsed. */
const fewBytes = 16 * 1024;
/** So many labels are looked up one by one in what is longer. */
const fewLookups = 16;

const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Of what is open, by depth from 1 on. */
const members = new Int32Array(maxNestingDepth + 2);
const paths: (string | undefined)[] = [];

/** Where the labels of an object are in its JSON, from brace to brace; both 0 where it has none. */
export interface LabelsPlace {
  readonly start: number;
  readonly end: number;
}

/** A large object as selectors see it, which do not parse it whole: that takes 60 to 500 ms where it has 285,000 keys. */
export interface NarrowedObject {
  /** Its JSON, with no more than a thousand members of a map or list. */
  readonly json: Buffer;
  readonly labels: LabelsPlace;
}

/**
 * The maps that are around fields, in which no member may be missing: `spec.a.b` -> '' (the object itself), `metadata`, `spec` and `spec.a`. Names of
 * selectable fields are the paths of what they read, or as good as.
 */
export function pathsAround(fields: Iterable<string>): ReadonlySet<string> {
  const paths = new Set(['', 'metadata']);
  for (const field of fields) for (let at = field.indexOf('.'); at >= 0; at = field.indexOf('.', at + 1)) paths.add(field.slice(0, at));
  return paths;
}

/** `kept`: see `pathsAround`. `bytes`: JSON as the storage has it, compact. */
export function narrow(bytes: Buffer, kept: ReadonlySet<string>): NarrowedObject {
  const { length } = bytes;
  const pieces: Buffer[] = [];
  let taken = 0;
  let depth = 0;
  /** How deep what is left out is open, and where it began. */
  let droppedDepth = 0;
  let droppedFrom = 0;
  let keyStart = 0;
  let keyEnd = 0;
  let labelsDepth = 0;
  let labelsStart = 0;
  let labelsEnd = 0;
  for (let at = 0; at < length; at += 1) {
    const code = bytes[at]!;
    switch (code) {
      case quoteMark:
        keyStart = at + 1;
        for (at += 1; bytes[at] !== quoteMark && at < length; at += 1) if (bytes[at] === backslash) at += 1;
        keyEnd = at;
        break;
      case openBrace:
      case openBracket: {
        const outer = paths[depth];
        depth += 1;
        members[depth] = 1;
        paths[depth] = undefined;
        if (code === openBracket || (depth > 1 && outer === undefined)) break;
        const key = depth === 1 ? '' : bytes.toString('utf8', keyStart, keyEnd);
        const path = outer ? `${outer}.${key}` : key;
        if (kept.has(path)) paths[depth] = path;
        if (outer === 'metadata' && key === 'labels') {
          labelsStart = at;
          labelsDepth = depth;
        }
        break;
      }
      case comma:
        members[depth]! += 1;
        if (droppedDepth > 0 || members[depth]! <= fewMembers || paths[depth] !== undefined) break;
        droppedDepth = depth;
        droppedFrom = at;
        break;
      case closeBrace:
      case closeBracket:
        if (depth === droppedDepth) {
          pieces.push(bytes.subarray(taken, droppedFrom));
          taken = at;
          droppedDepth = 0;
        }
        if (depth === labelsDepth) {
          labelsEnd = at + 1;
          labelsDepth = 0;
        }
        depth -= 1;
        break;
    }
  }
  pieces.push(bytes.subarray(taken));
  return { json: pieces.length === 1 ? bytes : Buffer.concat(pieces), labels: { start: labelsStart, end: labelsEnd } };
}

/** What a label's key is made of. */
const labelKey = /^[\w./-]+$/;

/** The labels with these keys, and perhaps others, of a map of strings, as JSON of the server's own writing. */
export function labelsOf(json: Buffer, keys: readonly string[]): Readonly<Record<string, string>> {
  if (json.length < fewBytes || keys.length > fewLookups || !keys.every((key) => labelKey.test(key)))
    return parseEncoded(json) as Record<string, string>;
  const found: Record<string, string> = {};
  for (const key of keys) {
    const value = lookUp(json, key);
    if (value !== undefined) found[key] = value;
  }
  return found;
}

function lookUp(json: Buffer, key: string): string | undefined {
  const name = Buffer.from(`"${key}":`);
  for (let at = json.indexOf(name); at >= 0; at = json.indexOf(name, at + 1)) {
    // Else the quote is one of a text.
    if (json[at - 1] === backslash) continue;
    const start = at + name.length;
    let end = start + 1;
    while (json[end] !== quoteMark) end += json[end] === backslash ? 2 : 1;
    return JSON.parse(json.toString('utf8', start, end + 1)) as string;
  }
  return undefined;
}
