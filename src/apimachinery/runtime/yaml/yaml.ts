/** Parses YAML like sigs.k8s.io/yaml: YAML 1.1 whose plain scalars are resolved like go-yaml v2, converted to JSON. Takes linear time. */
import { isAscii, isUtf8 } from 'node:buffer';
import { setOwn } from '#apimachinery/patch/own-property';
import { compareUtf8, DecodeError, parseJsonSteps } from '../json/json.ts';
import { isSpace, JsonSyntaxError } from '../json/json-syntax.ts';
import { formatFloat, quote } from '../quote.ts';
import { atOnce, type Steps } from '../steps.ts';
import { YamlError } from './yaml-error.ts';
import { parseYamlNodes, type YamlNode } from './yaml-nodes.ts';
import { Float, jsonNumber, resolveTagged } from './yaml-scalars.ts';

export { YamlError } from './yaml-error.ts';

export interface ParsedYaml {
  /** Like the value of `parseJson`; if the text is not JSON, the keys of objects are sorted, since upstream converts through maps. */
  readonly value: unknown;
  /** Upstream's single error for all duplicates of a document: `yaml: unmarshal errors:\n  line 3: key "a" already set in map`. */
  readonly duplicateError: string | undefined;
}

/** Parses the first document. Throws YamlError, and JsonSyntaxError beyond the maximum depth of JSON. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  const json = atOnce(readAsJson(bytes));
  if (json) return json;
  const root = parseYamlNodes(bytes);
  const decoder = new Decoder();
  const value = root ? decoder.decode(root) : null;
  return { value, duplicateError: decoder.duplicateError() };
}

/**
 * Parses a body that is JSON with the same meaning as YAML, ten times faster; undefined for any other. Yields to the event loop if it is
 * large.
 */
export function* readAsJson(bytes: Uint8Array): Steps<ParsedYaml | undefined> {
  if (bytes.find((byte) => !isSpace(byte)) !== 0x7b) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!hasPlainStrings(buffer)) return undefined;
  try {
    const { value, duplicateFields, hasFloats } = yield* parseJsonSteps(buffer);
    return duplicateFields.length > 0 || hasFloats ? undefined : { value, duplicateError: undefined };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Maximum bytes of a key up to its colon. Upstream: scannerc.go (yaml_simple_key_is_valid), which counts 1,024 characters. */
const maxKeyBytes = 1_000;

/** Escapes that YAML does not have, or that it refuses. */
const otherEscapes = ['\\/', '\\ud', '\\uD', '\\ufff', '\\uFFF'];

/** Characters that YAML refuses, or takes for the end of a line. Upstream: readerc.go (yaml_parser_update_buffer). */
const otherCharacters = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

const quotationMark = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const deleteCharacter = 0x7f;

/** True if all strings of a JSON text have the same value in YAML, and its keys are keys there. */
function hasPlainStrings(json: Buffer): boolean {
  if (otherEscapes.some((escape) => json.includes(escape)) || json.includes(deleteCharacter)) return false;
  if (!isAscii(json) && (!isUtf8(json) || otherCharacters.test(json.toString()))) return false;
  for (let start = json.indexOf(quotationMark); start >= 0; ) {
    const end = endOfString(json, start);
    if (end < 0) return false;
    let next = end + 1;
    let isSameLine = true;
    for (; next < json.length && isSpace(json[next]!); next += 1) isSameLine &&= json[next] !== lineFeed && json[next] !== carriageReturn;
    if (json[next] === colon && (!isSameLine || next - start > maxKeyBytes)) return false;
    start = json.indexOf(quotationMark, next);
  }
  return true;
}

/** Returns the place of the quotation mark that ends the string which begins at `start`, or -1. */
function endOfString(json: Buffer, start: number): number {
  for (let end = json.indexOf(quotationMark, start + 1); end >= 0; end = json.indexOf(quotationMark, end + 1)) {
    let escaping = end;
    while (json[escaping - 1] === backslash) escaping -= 1;
    if ((end - escaping) % 2 === 0) return end;
  }
  return -1;
}

/** Maximum depth of JSON. Upstream: sigs.k8s.io/json scanner.go (maxNestingDepth). */
const maxJsonDepth = 10_000;

/** Returns the maximum share of decoded nodes that may come from aliases. Upstream: yaml.v2 decode.go. */
function allowedAliasRatio(decodeCount: number): number {
  const low = 400_000;
  const high = 4_000_000;
  if (decodeCount <= low) return 0.99;
  if (decodeCount >= high) return 0.1;
  return 0.99 - 0.89 * ((decodeCount - low) / (high - low));
}

/** A child to decode; `into` has the entries of the mapping that merges it. */
interface Child {
  readonly node: YamlNode;
  readonly into?: Map<unknown, unknown> | undefined;
}

/** A node whose children are being decoded. */
interface Frame {
  readonly node: YamlNode;
  /** Returns the next child; undefined at the end. */
  next(): Child | undefined;
  /** Receives the value of the last child. */
  take(value: unknown): void;
  /** Returns the value of the node. */
  value(): unknown;
}

/** Converts nodes to values, with an explicit stack. Upstream: yaml.v2 decode.go. */
class Decoder {
  readonly #frames: Frame[] = [];
  readonly #openAliases = new Set<YamlNode>();
  readonly #duplicates: string[] = [];
  #depth = 0;
  /** The first container beyond the maximum depth of JSON. */
  #tooDeep: YamlNode | undefined;
  #decodeCount = 0;
  #aliasCount = 0;

  decode(root: YamlNode): unknown {
    let value = this.#enter({ node: root });
    while (this.#frames.length > 0) {
      const frame = this.#frames.at(-1)!;
      if (value !== undefined) frame.take(value);
      const child = frame.next();
      if (child) value = this.#enter(child);
      else {
        this.#leave(frame.node);
        value = frame.value();
      }
    }
    if (this.#tooDeep)
      throw new JsonSyntaxError(`invalid character '${this.#tooDeep.kind === 'sequence' ? '[' : '{'}' exceeded max depth`, 0);
    return jsonNumber(value);
  }

  duplicateError(): string | undefined {
    return this.#duplicates.length === 0 ? undefined : `yaml: unmarshal errors:\n  ${this.#duplicates.join('\n  ')}`;
  }

  /** Returns the value of a scalar; undefined for a node with children, which are decoded next. */
  #enter({ node, into }: Child): unknown {
    this.#count();
    switch (node.kind) {
      case 'scalar':
        return resolveTagged(node.value, node.tag, node.isImplicit);
      case 'alias':
        if (this.#openAliases.has(node)) throw new YamlError(`yaml: anchor '${node.value}' value contains itself`);
        this.#openAliases.add(node);
        this.#frames.push(new AliasFrame(node, into));
        return undefined;
      case 'sequence':
        this.#frames.push(new SequenceFrame(node));
        break;
      case 'mapping':
        this.#frames.push(new MappingFrame(node, into, this.#duplicates));
    }
    this.#depth += 1;
    if (this.#depth > maxJsonDepth) this.#tooDeep ??= node;
    return undefined;
  }

  #leave(node: YamlNode): void {
    this.#frames.pop();
    if (node.kind === 'alias') this.#openAliases.delete(node);
    else this.#depth -= 1;
  }

  #count(): void {
    this.#decodeCount += 1;
    if (this.#openAliases.size > 0) this.#aliasCount += 1;
    if (this.#aliasCount <= 100 || this.#decodeCount <= 1000) return;
    if (this.#aliasCount / this.#decodeCount > allowedAliasRatio(this.#decodeCount))
      throw new YamlError('yaml: document contains excessive aliasing');
  }
}

class AliasFrame implements Frame {
  readonly node: YamlNode;
  #child: Child | undefined;
  #value: unknown;

  constructor(node: YamlNode, into: Map<unknown, unknown> | undefined) {
    this.node = node;
    this.#child = { node: node.target!, into };
  }

  next(): Child | undefined {
    const child = this.#child;
    this.#child = undefined;
    return child;
  }

  take(value: unknown): void {
    this.#value = value;
  }

  value(): unknown {
    return this.#value;
  }
}

class SequenceFrame implements Frame {
  readonly node: YamlNode;
  readonly #items: unknown[] = [];
  #next = 0;

  constructor(node: YamlNode) {
    this.node = node;
  }

  next(): Child | undefined {
    const node = this.node.children[this.#next];
    this.#next += 1;
    return node && { node };
  }

  take(value: unknown): void {
    this.#items.push(jsonNumber(value));
  }

  value(): unknown {
    return this.#items;
  }
}

/** Marks the absence of a key whose value comes next. */
const noKey = Symbol('no key');

class MappingFrame implements Frame {
  readonly node: YamlNode;
  /** Entries by go-yaml keys: `1` and `"1"` differ. */
  readonly #entries: Map<unknown, unknown>;
  readonly #isMerged: boolean;
  readonly #duplicates: string[];
  /** Mappings to merge before the next key. */
  #merges: YamlNode[] = [];
  #takesMerged = false;
  #next = 0;
  #key: unknown = noKey;

  constructor(node: YamlNode, into: Map<unknown, unknown> | undefined, duplicates: string[]) {
    this.node = node;
    this.#entries = into ?? new Map();
    this.#isMerged = into !== undefined;
    this.#duplicates = duplicates;
  }

  next(): Child | undefined {
    const { children } = this.node;
    while (this.#key === noKey && this.#merges.length === 0 && isMergeKey(children[this.#next])) {
      this.#merges = mergedBy(children[this.#next + 1]!);
      this.#next += 2;
    }
    const merged = this.#merges.pop();
    this.#takesMerged = merged !== undefined;
    if (merged) return { node: merged, into: this.#entries };
    const node = children[this.#next];
    this.#next += 1;
    return node && { node };
  }

  take(value: unknown): void {
    if (this.#takesMerged) return;
    if (this.#key === noKey) {
      this.#key = checkKey(value);
      return;
    }
    const key = this.#key;
    this.#key = noKey;
    if (this.#entries.has(key)) {
      const { line } = this.node.children[this.#next - 1]!;
      this.#duplicates.push(`line ${line + 1}: key ${keySyntax(key)} already set in map`);
    }
    this.#entries.set(key, jsonNumber(value));
  }

  /** Not used for a merged mapping, whose entries are in the other one. */
  value(): unknown {
    return this.#isMerged ? null : objectOf(this.#entries);
  }
}

function isMergeKey(key: YamlNode | undefined): boolean {
  return key?.kind === 'scalar' && key.value === '<<' && (key.isImplicit || key.tag === 'tag:yaml.org,2002:merge');
}

/** Returns the mappings of a merge key. The last is merged first, since earlier ones take precedence. */
function mergedBy(value: YamlNode): YamlNode[] {
  const isMapping = ({ kind, target }: YamlNode): boolean => kind === 'mapping' || (kind === 'alias' && target!.kind === 'mapping');
  const all = value.kind === 'sequence' ? value.children : [value];
  if (!all.every(isMapping)) throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
  // Upstream iterates backwards, since earlier ones take precedence; `next` takes them from the end.
  return [...all];
}

/** Returns the key of an entry: a string, a boolean, null, a bigint for an integer, or a number for a float. */
function checkKey(value: unknown): unknown {
  if (value instanceof Float) return value.value;
  if (typeof value === 'object' && value !== null) throw new YamlError(`yaml: invalid map key: ${goSyntax(value)}`);
  return value;
}

function objectOf(entries: ReadonlyMap<unknown, unknown>): Record<string, unknown> {
  const named = new Map<string, unknown>();
  for (const [key, value] of entries) named.set(nameOf(key, value), value);
  const object: Record<string, unknown> = {};
  for (const name of [...named.keys()].sort(compareUtf8)) setOwn(object, name, named.get(name));
  return object;
}

/** Returns the JSON form of a key. Upstream: sigs.k8s.io/yaml yaml.go (convertToJSONableObject). */
function nameOf(key: unknown, value: unknown): string {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
      return String(key);
    case 'number':
      return floatName(key);
    case 'bigint':
      if (key === BigInt.asIntN(64, key)) return String(key);
      throw new YamlError(`unsupported map key of type: uint64, key: 0x${key.toString(16)}, value: ${goSyntax(value)}`);
    default:
      throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
  }
}

/** Formats a key as a 32-bit float, in YAML's form if it is not finite. */
function floatName(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  const narrow = Math.fround(value);
  if (!Number.isFinite(narrow)) return narrow > 0 ? '.inf' : '-.inf';
  return formatFloat(narrow === value ? value : Number(value.toPrecision(8)));
}

/** Formats a key like Go's `%#v`. */
function keySyntax(key: unknown): string {
  return typeof key === 'number' ? formatFloat(key) : goSyntax(key);
}

/** Maximum depth of formatted containers; deeper ones are left out. */
const maxSyntaxDepth = 100;

/** Formats a value like Go's `%#v`. */
function goSyntax(value: unknown, depth = 0): string {
  if (value === null) return depth === 0 ? '<nil>' : 'interface {}(nil)';
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object') return String(value);
  if (depth === maxSyntaxDepth) return '...';
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, depth + 1)).join(', ')}}`;
  const entries = Object.entries(value).map(([key, item]) => `${quote(key)}:${goSyntax(item, depth + 1)}`);
  return `map[interface {}]interface {}{${entries.join(', ')}}`;
}
