/**
 * YAML as sigs.k8s.io/yaml reads and writes it: YAML 1.1 whose plain scalars are resolved as go-yaml v2 does, turned into JSON. The syntax is the work of
 * the package `yaml`, loaded at the first use; resolving, merging, alias limits and the whole of writing are here.
 */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { compareUtf8, parseJson } from './json.ts';
import { isSpace, JsonSyntaxError } from './json-syntax.ts';
import { formatFloat, quote } from './quote.ts';

/** No YAML. `message` begins with `yaml: `; upstream puts `error converting YAML to JSON: ` before it where it decodes an apply patch. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

export interface ParsedYaml {
  /** As `parseJson` gives it; the keys of objects are sorted, as upstream passes through a map. */
  readonly value: unknown;
  /** As `parseJson` gives it. */
  readonly duplicateFields: readonly string[];
  /** Upstream's one error for all duplicates of a YAML document: `yaml: unmarshal errors:\n  line 3: key "a" already set in map`. */
  readonly duplicateError: string | undefined;
  /** Only of a body that is JSON; in YAML `1.0` is an integer. */
  readonly literals: ReadonlyMap<string, string> | undefined;
}

let loaded: typeof Yaml | undefined;

function library(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml);
}

/** Reads the first document. A body that begins with `{` and is JSON is read as such. Throws YamlError; DecodeError as `parseJson`. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  if (mayBeJson(bytes)) {
    try {
      return { ...parseJson(bytes), duplicateError: undefined };
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
    }
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  try {
    return new Document(text).convert();
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError('yaml: exceeded max depth of 10000', { cause: error });
    throw error;
  }
}

/** Whether a body begins as a JSON object does: then it is read as JSON, if it is. */
export function mayBeJson(bytes: Uint8Array): boolean {
  return bytes.find((byte) => !isSpace(byte)) === 0x7b;
}

/** Upstream: yaml.v2 scannerc.go (max_flow_level). */
const maxFlowDepth = 10_000;

/** Lists in lists take the package a time that grows with the square of their depth: where so many may be, they are counted first. */
function checkFlowDepth(text: string, { Lexer }: typeof Yaml): void {
  let openers = 0;
  for (let i = 0; i < text.length && openers <= maxFlowDepth; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) openers += 1;
  }
  if (openers <= maxFlowDepth) return;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > maxFlowDepth) throw new YamlError(`yaml: exceeded max depth of ${maxFlowDepth}`);
  }
}

/** go-yaml counts every node that it decodes, and those behind aliases; their share may not exceed this. Upstream: yaml.v2 decode.go. */
function allowedAliasRatio(decodeCount: number): number {
  const low = 400_000;
  const high = 4_000_000;
  if (decodeCount <= low) return 0.99;
  if (decodeCount >= high) return 0.1;
  return 0.99 - 0.89 * ((decodeCount - low) / (high - low));
}

class Document {
  readonly #yaml = library();
  readonly #document: Yaml.Document;
  readonly #lines: Yaml.LineCounter;
  readonly #anchors = new Map<string, Yaml.Node>();
  readonly #openAliases = new Set<Yaml.Node>();
  readonly #duplicates = new Set<string>();
  readonly #duplicateErrors: string[] = [];
  readonly #path: (string | number)[] = [];
  #decodeCount = 0;
  #aliasCount = 0;
  #aliasDepth = 0;

  constructor(text: string) {
    checkFlowDepth(text, this.#yaml);
    this.#lines = new this.#yaml.LineCounter();
    const composed = this.#yaml.parseAllDocuments(text, {
      version: '1.1',
      schema: 'failsafe',
      merge: false,
      uniqueKeys: false,
      logLevel: 'silent',
      lineCounter: this.#lines,
      prettyErrors: false,
      keepSourceTokens: false,
      stringKeys: false,
    });
    const document = 'empty' in composed ? undefined : composed[0];
    this.#document = document ?? new this.#yaml.Document(null);
    const error = this.#document.errors[0];
    if (error) throw new YamlError(`yaml: ${this.#errorLine(text, error)}${this.#goMessage(error)}`);
  }

  convert(): ParsedYaml {
    const value = this.#value(this.#document.contents as Yaml.Node | null);
    const duplicateError =
      this.#duplicateErrors.length > 0
        ? `yaml: unmarshal errors:\n${this.#duplicateErrors.map((line) => `  ${line}`).join('\n')}`
        : undefined;
    return { value, duplicateFields: [...this.#duplicates], duplicateError, literals: undefined };
  }

  /** go-yaml's scanner counts lines from 1, its parser from 0 (and does not name line 0). */
  #errorLine(text: string, { code, pos }: Yaml.YAMLParseError): string {
    if (code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY') {
      const colon = text.slice(pos[0]).search(/:(?:\s|$)/);
      return this.#line(colon < 0 ? pos[0] : pos[0] + colon);
    }
    if (code === 'TAB_AS_INDENT' || code === 'BAD_DQ_ESCAPE') return this.#line(pos[0]);
    const line = this.#lines.linePos(pos[0]).line - 1;
    return line > 0 ? `line ${line}: ` : '';
  }

  /** The words of go-yaml for the errors of the package, as far as they have a counterpart. */
  #goMessage(error: Yaml.YAMLParseError): string {
    switch (error.code) {
      case 'BLOCK_AS_IMPLICIT_KEY':
      case 'MULTILINE_IMPLICIT_KEY':
        return 'mapping values are not allowed in this context';
      case 'TAB_AS_INDENT':
        return 'found character that cannot start any token';
      case 'BAD_INDENT':
        return 'did not find expected key';
      case 'BAD_DIRECTIVE':
        return 'found unknown directive name';
      case 'BAD_ALIAS':
        return 'did not find expected alphabetic or numeric character';
      case 'BAD_DQ_ESCAPE':
        return 'found unknown escape character';
      case 'TAG_RESOLVE_FAILED':
        return 'found undefined tag handle';
      case 'MISSING_CHAR':
        if (/closing ["']/.test(error.message)) return 'found unexpected end of stream';
        if (error.message.includes(']')) return "did not find expected ',' or ']'";
        if (error.message.includes('}')) return "did not find expected ',' or '}'";
        return "could not find expected ':'";
      default:
        if (this.#yaml.isSeq(this.#document.contents)) return "did not find expected '-' indicator";
        return this.#yaml.isMap(this.#document.contents) ? 'did not find expected key' : 'did not find expected node content';
    }
  }

  #line(offset: number): string {
    const { line } = this.#lines.linePos(offset);
    return line > 0 ? `line ${line}: ` : '';
  }

  #value(node: Yaml.Node | null | undefined): unknown {
    this.#decodeCount++;
    if (this.#aliasDepth > 0) this.#aliasCount++;
    if (this.#aliasCount > 100 && this.#decodeCount > 1000 && this.#aliasCount / this.#decodeCount > allowedAliasRatio(this.#decodeCount)) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
    if (!node) return null;
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml;
    if (isAlias(node)) return this.#alias(node);
    if (node.anchor) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node);
    if (isSeq(node)) {
      return node.items.map((item, i) => {
        this.#path.push(i);
        const value = this.#value(item as Yaml.Node | null);
        this.#path.pop();
        return value;
      });
    }
    return isMap(node) ? this.#map(node as Yaml.YAMLMap) : null;
  }

  #alias(node: Yaml.Alias): unknown {
    const target = this.#anchors.get(node.source);
    if (!target) throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`);
    if (this.#openAliases.has(target)) throw new YamlError(`yaml: anchor '${node.source}' value contains itself`);
    this.#openAliases.add(target);
    this.#aliasDepth++;
    const value = this.#value(target);
    this.#aliasDepth--;
    this.#openAliases.delete(target);
    return value;
  }

  #scalar(node: Yaml.Scalar): unknown {
    const text = typeof node.value === 'string' ? node.value : (node.source ?? '');
    const plain = node.type === undefined || node.type === 'PLAIN';
    const tag = node.tag ?? '';
    if (tag === 'tag:yaml.org,2002:binary') return Buffer.from(text, 'base64').toString('utf8');
    const kind = shortTags[tag];
    if (kind === '!!str' || (tag !== '' && kind === undefined)) return text;
    if (!plain && kind === undefined) return text;
    const value = resolveScalar(text);
    if (kind === undefined) return jsonNumber(value);
    const found = tagOf(value);
    if (found !== kind && !(kind === '!!float' && found === '!!int') && kind !== '!!timestamp') {
      throw new YamlError(`yaml: cannot decode ${found} \`${text}\` as a ${kind}`);
    }
    return kind === '!!timestamp' ? text : jsonNumber(value);
  }

  #map(node: Yaml.YAMLMap): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    const merges: unknown[] = [];
    for (const { key, value } of node.items as Yaml.Pair<Yaml.Node | null, Yaml.Node | null>[]) {
      if (isMergeKey(key)) {
        merges.push(this.#merged(value));
        continue;
      }
      const name = this.#key(key);
      this.#path.push(name);
      if (entries.has(name)) this.#duplicate(name, key);
      entries.set(name, this.#value(value));
      this.#path.pop();
    }
    for (const merge of merges) {
      for (const source of Array.isArray(merge) ? merge : [merge]) {
        for (const key of Object.keys(source as object)) if (!entries.has(key)) entries.set(key, (source as Record<string, unknown>)[key]);
      }
    }
    const object: Record<string, unknown> = {};
    for (const key of [...entries.keys()].sort(compareUtf8)) {
      if (key === '__proto__')
        Object.defineProperty(object, key, { value: entries.get(key), writable: true, enumerable: true, configurable: true });
      else object[key] = entries.get(key);
    }
    return object;
  }

  #merged(node: Yaml.Node | null): unknown {
    const value = this.#value(node);
    const isObject = (item: unknown): boolean => item !== null && typeof item === 'object' && !Array.isArray(item);
    if (isObject(value) || (Array.isArray(value) && value.every(isObject))) return value;
    throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
  }

  #duplicate(name: string, key: Yaml.Node | null): void {
    let path = '';
    for (const step of this.#path) path += typeof step === 'number' ? `[${step}]` : `${path && '.'}${step}`;
    this.#duplicates.add(path);
    this.#duplicateErrors.push(`${this.#line(key?.range?.[0] ?? 0)}key ${quote(name)} already set in map`);
  }

  #key(node: Yaml.Node | null): string {
    const value = this.#value(node);
    switch (typeof value) {
      case 'string':
        return value;
      case 'bigint':
      case 'boolean':
        return String(value);
      case 'number':
        return Number.isInteger(value) ? String(value) : formatFloat(Math.fround(value) === value ? value : Number(value.toPrecision(8)));
      default:
        if (value !== null) throw new YamlError('yaml: invalid map key');
        throw new YamlError('unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>');
    }
  }
}

function isMergeKey(key: Yaml.Node | null): boolean {
  const scalar = key as Yaml.Scalar | null;
  return (
    scalar !== null &&
    scalar.value === '<<' &&
    scalar.type === 'PLAIN' &&
    (scalar.tag === undefined || scalar.tag === 'tag:yaml.org,2002:merge')
  );
}

const shortTags: Readonly<Record<string, string | undefined>> = {
  'tag:yaml.org,2002:str': '!!str',
  'tag:yaml.org,2002:bool': '!!bool',
  'tag:yaml.org,2002:int': '!!int',
  'tag:yaml.org,2002:float': '!!float',
  'tag:yaml.org,2002:null': '!!null',
  'tag:yaml.org,2002:timestamp': '!!timestamp',
};

/** A float64 of go-yaml, apart from the integers. */
class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

function tagOf(value: unknown): string {
  if (value === null) return '!!null';
  if (value instanceof Float) return '!!float';
  switch (typeof value) {
    case 'boolean':
      return '!!bool';
    case 'bigint':
      return '!!int';
    default:
      return '!!str';
  }
}

const words = new Map<string, unknown>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, unknown] => [word, true]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, unknown] => [word, false]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, unknown] => [word, null]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, unknown] => [word, new Float(Number.NaN)]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, unknown] => [word, new Float(Number.POSITIVE_INFINITY)]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, unknown] => [word, new Float(Number.NEGATIVE_INFINITY)]),
]);

const floatForm = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** What a plain scalar is: a string, boolean, null, a bigint for an integer, or a Float. Upstream: yaml.v2 resolve.go. */
function resolveScalar(text: string): unknown {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const isSign = first === 0x2b || first === 0x2d;
  if (first === 0x2e) return /^\.[0-9]+([eE][-+]?[0-9]+)?$/.test(text) ? new Float(Number(text)) : text;
  if (!isSign && !(first >= 0x30 && first <= 0x39)) return text;
  const digits = text.replaceAll('_', '');
  const integer = parseInteger(digits);
  if (integer !== undefined) return integer;
  return floatForm.test(digits) && Number.isFinite(Number(digits)) ? new Float(Number(digits)) : text;
}

/** strconv.ParseInt(text, 0, 64), or ParseUint. */
function parseInteger(text: string): bigint | undefined {
  const match = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/.exec(text);
  if (!match || text.length > 80) return undefined;
  const [, sign, body = ''] = match;
  const value = BigInt(/^0[0-7]/.test(body) ? `0o${body.slice(1)}` : body);
  const signed = sign === '-' ? -value : value;
  const fits = signed === BigInt.asIntN(64, signed) || (sign === '' && signed === BigInt.asUintN(64, signed));
  return fits ? signed : undefined;
}

/** As a number has passed through JSON: integers that fit a double are numbers, other int64 bigints, all else doubles. */
function jsonNumber(value: unknown): unknown {
  if (value instanceof Float) {
    if (!Number.isFinite(value.value)) throw new YamlError(`json: unsupported value: ${formatFloat(value.value)}`);
    return value.value;
  }
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) || value !== BigInt.asIntN(64, value) ? number : value;
}

/** A JSON value as sigs.k8s.io/yaml writes it: keys in go-yaml's natural order, two blanks a level, long lines folded. Ends in a line end. */
export function encodeYaml(value: unknown): string {
  const emitter = new Emitter();
  emitter.node(value, -2, false);
  return emitter.text;
}

const bestWidth = 80;

/** Writes block style as libyaml's emitter does. Upstream: yaml.v2 emitterc.go. */
class Emitter {
  text = '';
  #column = 0;
  /** Whether the text ends with a line end: to look at the text's end would join its pieces each time. */
  #lineEnded = false;

  #put(text: string): void {
    this.text += text;
    this.#lineEnded = text.endsWith('\n');
    this.#column += text.length === 1 ? 1 : [...text].length;
  }

  #newline(indent: number): void {
    this.text += `\n${' '.repeat(indent)}`;
    this.#lineEnded = indent === 0;
    this.#column = indent;
  }

  /**
   * Writes a value where the cursor is. `indent` is that of the container around, -2 for none; `afterKey`: the value stands behind `key:`, so a container starts on
   * the next line, and a list there is not indented. Ends with a line end.
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
    if (value !== null && typeof value === 'object') {
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

  /** Plain and single quoted text: a blank beyond the best width becomes a line end. */
  #folded(text: string, indent: number, simpleKey: boolean, quoted = false): void {
    const chars = [...text];
    let afterBlank = false;
    for (const [i, char] of chars.entries()) {
      const inside = !quoted || (i > 0 && i < chars.length - 1);
      if (char === ' ' && !simpleKey && !afterBlank && inside && this.#column > bestWidth && chars[i + 1] !== ' ') this.#newline(indent);
      else this.#put(quoted && char === "'" ? "''" : char);
      afterBlank = char === ' ';
    }
  }

  #doubleQuoted(text: string, indent: number, simpleKey: boolean): void {
    this.#put('"');
    const chars = [...text];
    let afterBlank = false;
    for (const [i, char] of chars.entries()) {
      if (char === ' ' && !simpleKey && !afterBlank && i > 0 && i < chars.length - 1 && this.#column > bestWidth) {
        this.#newline(indent);
        if (chars[i + 1] === ' ') this.#put('\\');
      } else {
        this.#put(escapeDouble(char));
      }
      afterBlank = char === ' ';
    }
    this.#put('"');
  }

  #literal(text: string, indent: number): void {
    this.#put('|');
    if (/^[ \n]/.test(text)) this.#put('2');
    if (!text.endsWith('\n')) this.#put('-');
    else if (text === '\n' || text.endsWith('\n\n')) this.#put('+');
    const body = text.endsWith('\n') ? text.slice(0, -1) : text;
    for (const line of body.split('\n')) this.text += line === '' ? '\n' : `\n${' '.repeat(indent)}${line}`;
    // An empty last line has no character of its own that could end it.
    if (text.endsWith('\n')) this.text += '\n';
    this.#lineEnded = text.endsWith('\n');
    this.#column = 0;
  }
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? BigInt(value).toString() : formatFloat(value);
  return String(value);
}

const base60Float = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
/** go-yaml reads such a text as a time; whether its numbers are in range makes no difference here. */
const timestamp = /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;
const breaks = /[\n\r\u0085\u2028\u2029]/;
/** What libyaml takes for printable, but for line ends; characters beyond the basic plane are not. */
const printableText = /^[\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

interface ScalarForm {
  readonly plainAllowed: boolean;
  readonly singleQuotedAllowed: boolean;
  readonly blockAllowed: boolean;
}

/** Which styles can hold a text. Upstream: yaml_emitter_analyze_scalar. */
function analyze(text: string): ScalarForm {
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

const doubleEscapes: Readonly<Record<string, string>> = {
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
};

function escapeDouble(char: string): string {
  const known = doubleEscapes[char];
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

/** go-yaml's order of keys: numbers inside by value, letters after all else. Upstream: yaml.v2 sorter.go. */
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

/** Whether the digits right before a place have one that is not zero. */
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
