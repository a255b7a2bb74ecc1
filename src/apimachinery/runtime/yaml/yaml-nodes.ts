/**
 * Parses the first document of a YAML text into nodes. The parser is a state machine, not recursive. Upstream: go.yaml.in/yaml/v2
 * parserc.go.
 */
import { Buffer, isUtf8 } from 'node:buffer';
import { YamlError } from './yaml-error.ts';
import { YamlScanner, type YamlToken, type YamlTokenType } from './yaml-scanner.ts';

export interface YamlNode {
  readonly kind: 'scalar' | 'sequence' | 'mapping' | 'alias';
  /** Counted from 0. */
  readonly line: number;
  /** `tag:yaml.org,2002:str` for `!!str`; empty without a tag. */
  readonly tag: string;
  /** Text of a scalar, or anchor of an alias. */
  readonly value: string;
  /** True for a scalar whose type follows from its form. */
  readonly isImplicit: boolean;
  /** Items of a sequence; alternating keys and values of a mapping. */
  readonly children: YamlNode[];
  /** The node to which an alias refers. */
  readonly target: YamlNode | undefined;
}

type State =
  | 'end'
  | 'block-node'
  | 'block-node-or-sequence'
  | 'flow-node'
  | 'block-sequence-entry'
  | 'indentless-sequence-entry'
  | 'block-mapping-key'
  | 'block-mapping-value'
  | 'flow-sequence-first-entry'
  | 'flow-sequence-entry'
  | 'flow-sequence-entry-key'
  | 'flow-sequence-entry-value'
  | 'flow-sequence-entry-end'
  | 'flow-mapping-first-key'
  | 'flow-mapping-key'
  | 'flow-mapping-value'
  | 'flow-mapping-empty-value';

interface Properties {
  readonly line: number;
  readonly anchor: string;
  readonly tag: string;
}

const noChildren: YamlNode[] = [];

const defaultTags: readonly (readonly [handle: string, prefix: string])[] = [
  ['!', '!'],
  ['!!', 'tag:yaml.org,2002:'],
];

/** Parses the first document; undefined if there is none. Throws YamlError. */
export function parseYamlNodes(bytes: Uint8Array): YamlNode | undefined {
  const { text, failure } = decodeText(bytes);
  const scanner = new YamlScanner(text);
  // Upstream reads ahead: an undecodable character is reported before an error right before it.
  const isReached = (): boolean => scanner.offset >= text.length - lookahead;
  try {
    const root = new Parser(scanner).document();
    if (failure !== undefined && isReached()) throw new YamlError(`yaml: ${failure}`);
    return root;
  } catch (error) {
    if (failure !== undefined && isReached()) throw new YamlError(`yaml: ${failure}`, { cause: error });
    throw error;
  }
}

/** Number of characters that upstream's scanner decodes ahead. */
const lookahead = 4;

/** Number of bytes that upstream reads at a time. Upstream: yamlprivateh.go (input_raw_buffer_size). */
const readBytes = 512;

/** Returns the text up to the first undecodable or forbidden character, and the error about it. Upstream: readerc.go. */
function decodeText(bytes: Uint8Array): { readonly text: string; readonly failure: string | undefined } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeWide(buffer.subarray(2));
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeWide(Buffer.from(buffer.subarray(2, buffer.length & ~1)).swap16());
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const from = hasMark ? 3 : 0;
  const text = buffer.toString('utf8', from);
  if (isUtf8(buffer) && !forbidden.test(text)) return { text, failure: undefined };
  const { at, problem } = findInvalid(buffer, from)!;
  return { text: buffer.toString('utf8', from, Math.max(from, at - (at % readBytes))), failure: problem };
}

/** Characters that YAML does not allow. */
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;
const unprintable = 'control characters are not allowed';

function decodeWide(buffer: Buffer): { readonly text: string; readonly failure: string | undefined } {
  const text = buffer.toString('utf16le');
  if (!text.isWellFormed()) return { text: '', failure: 'expected low surrogate area' };
  const failure = forbidden.test(text) ? unprintable : undefined;
  return { text: failure === undefined ? text : '', failure };
}

function findInvalid(bytes: Buffer, from: number): { readonly at: number; readonly problem: string } | undefined {
  for (let at = from; at < bytes.length; ) {
    const octet = bytes[at]!;
    if (octet < 0x80) {
      if (octet < 0x20 ? octet !== 0x0a && octet !== 0x0d && octet !== 0x09 : octet === 0x7f) return { at, problem: unprintable };
      at += 1;
      continue;
    }
    const width = (octet & 0xe0) === 0xc0 ? 2 : (octet & 0xf0) === 0xe0 ? 3 : (octet & 0xf8) === 0xf0 ? 4 : 0;
    if (width === 0) return { at, problem: 'invalid leading UTF-8 octet' };
    if (at + width > bytes.length) return { at, problem: 'incomplete UTF-8 octet sequence' };
    let value = octet & (0x7f >> width);
    for (let next = at + 1; next < at + width; next += 1) {
      if ((bytes[next]! & 0xc0) !== 0x80) return { at, problem: 'invalid trailing UTF-8 octet' };
      value = (value << 6) | (bytes[next]! & 0x3f);
    }
    const problem = problemOf(value, width);
    if (problem) return { at, problem };
    at += width;
  }
  return undefined;
}

function problemOf(value: number, width: number): string | undefined {
  if (value < (width === 2 ? 0x80 : width === 3 ? 0x800 : 0x10000)) return 'invalid length of a UTF-8 sequence';
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) return 'invalid Unicode character';
  return (value < 0xa0 && value !== 0x85) || value === 0xfffe || value === 0xffff ? unprintable : undefined;
}

class Parser {
  readonly #scanner: YamlScanner;
  readonly #tags = new Map<string, string>();
  readonly #anchors = new Map<string, YamlNode>();
  /** Continuations of open nodes, innermost last. */
  readonly #states: State[] = [];
  #state: State = 'block-node';
  /** Open containers, innermost last. */
  readonly #open: YamlNode[] = [];
  #root: YamlNode | undefined;

  constructor(scanner: YamlScanner) {
    this.#scanner = scanner;
  }

  document(): YamlNode | undefined {
    const { type } = this.#scanner.peek();
    if (type === 'stream-end') return undefined;
    const isExplicit = type === 'version-directive' || type === 'tag-directive' || type === 'document-start';
    this.#directives();
    this.#states.push('end');
    if (isExplicit) {
      const start = this.#scanner.peek();
      if (start.type !== 'document-start') throw parserError('did not find expected <document start>', start.line);
      this.#scanner.skip();
      const first = this.#scanner.peek();
      if (endsContent.has(first.type)) this.#emptyScalar(first.line, this.#states.pop()!);
    }
    while (this.#state !== 'end') this.#step();
    // Upstream looks for the end of the document, and so reports scanner errors there.
    this.#scanner.peek();
    return this.#root;
  }

  #step(): void {
    switch (this.#state) {
      case 'end':
        return;
      case 'block-node':
        return this.#node(true, false);
      case 'block-node-or-sequence':
        return this.#node(true, true);
      case 'flow-node':
        return this.#node(false, false);
      case 'block-sequence-entry':
        return this.#blockSequenceEntry();
      case 'indentless-sequence-entry':
        return this.#indentlessSequenceEntry();
      case 'block-mapping-key':
        return this.#blockMappingKey();
      case 'block-mapping-value':
        return this.#blockMappingValue();
      case 'flow-sequence-first-entry':
        return this.#flowSequenceEntry(true);
      case 'flow-sequence-entry':
        return this.#flowSequenceEntry(false);
      case 'flow-sequence-entry-key':
        return this.#flowSequenceEntryKey();
      case 'flow-sequence-entry-value':
        return this.#flowValue(flowSequenceEnds, 'flow-sequence-entry-end');
      case 'flow-sequence-entry-end':
        this.#open.pop();
        this.#state = 'flow-sequence-entry';
        return;
      case 'flow-mapping-first-key':
        return this.#flowMappingKey(true);
      case 'flow-mapping-key':
        return this.#flowMappingKey(false);
      case 'flow-mapping-value':
        return this.#flowValue(flowMappingEnds, 'flow-mapping-key');
      case 'flow-mapping-empty-value':
        return this.#emptyScalar(this.#scanner.peek().line, 'flow-mapping-key');
    }
  }

  /** Returns the token after the current one. */
  #next(): YamlToken {
    this.#scanner.skip();
    return this.#scanner.peek();
  }

  /** Adds a node to its parent. */
  #add(node: YamlNode, anchor = ''): void {
    if (anchor !== '') this.#anchors.set(anchor, node);
    const parent = this.#open.at(-1);
    if (parent) parent.children.push(node);
    else this.#root = node;
  }

  #scalar(line: number, value: string, isImplicit: boolean, tag = '', anchor = ''): void {
    this.#add({ kind: 'scalar', line, tag, value, isImplicit, children: noChildren, target: undefined }, anchor);
  }

  #emptyScalar(line: number, state: State): void {
    this.#scalar(line, '', true);
    this.#state = state;
  }

  #begin(kind: 'sequence' | 'mapping', { line, tag, anchor }: Properties, state: State): void {
    const node: YamlNode = { kind, line, tag, value: '', isImplicit: tag === '', children: [], target: undefined };
    this.#add(node, anchor);
    this.#open.push(node);
    this.#state = state;
  }

  /** Closes the innermost container. */
  #end(): void {
    this.#open.pop();
    this.#state = this.#states.pop()!;
  }

  /** Parses a node now, and continues with `state`. */
  #nodeThen(state: State, node: State): void {
    this.#states.push(state);
    this.#state = node;
  }

  #node(isBlock: boolean, allowsIndentless: boolean): void {
    const first = this.#scanner.peek();
    if (first.type === 'alias') return this.#alias(first);
    const properties = this.#properties(first);
    const { line, tag, anchor } = properties;
    const token = this.#scanner.peek();
    if (allowsIndentless && token.type === 'block-entry') return this.#begin('sequence', properties, 'indentless-sequence-entry');
    switch (token.type) {
      case 'scalar':
        this.#state = this.#states.pop()!;
        this.#scalar(line, token.value, (tag === '' && token.isPlain) || tag === '!', tag, anchor);
        return this.#scanner.skip();
      case 'flow-sequence-start':
        this.#begin('sequence', properties, 'flow-sequence-first-entry');
        return this.#scanner.skip();
      case 'flow-mapping-start':
        this.#begin('mapping', properties, 'flow-mapping-first-key');
        return this.#scanner.skip();
      case 'block-sequence-start':
        if (!isBlock) break;
        this.#begin('sequence', properties, 'block-sequence-entry');
        return this.#scanner.skip();
      case 'block-mapping-start':
        if (!isBlock) break;
        this.#begin('mapping', properties, 'block-mapping-key');
        return this.#scanner.skip();
      default:
        break;
    }
    if (anchor === '' && tag === '') throw parserError('did not find expected node content', token.line);
    this.#state = this.#states.pop()!;
    this.#scalar(line, '', tag === '', tag, anchor);
  }

  #alias({ line, value }: YamlToken): void {
    const target = this.#anchors.get(value);
    if (!target) throw new YamlError(`yaml: unknown anchor '${value}' referenced`);
    this.#state = this.#states.pop()!;
    this.#add({ kind: 'alias', line, tag: '', value, isImplicit: false, children: noChildren, target });
    this.#scanner.skip();
  }

  /** Parses an anchor, a tag, or both in either order. */
  #properties(first: YamlToken): Properties {
    if (first.type !== 'anchor' && first.type !== 'tag') return { line: first.line, anchor: '', tag: '' };
    const second = this.#next();
    const isPair = second.type === (first.type === 'tag' ? 'anchor' : 'tag');
    if (isPair) this.#scanner.skip();
    const [tag, anchor] = first.type === 'tag' ? [first, isPair && second] : [isPair && second, first];
    return { line: first.line, anchor: anchor ? anchor.value : '', tag: tag ? this.#resolveTag(tag) : '' };
  }

  #resolveTag({ value: handle, suffix, line }: YamlToken): string {
    if (handle === '') return suffix;
    const prefix = this.#tags.get(handle);
    if (prefix === undefined || prefix + suffix === '') throw parserError('found undefined tag handle', line);
    return prefix + suffix;
  }

  #blockSequenceEntry(): void {
    const token = this.#scanner.peek();
    if (token.type === 'block-entry') {
      const { type } = this.#next();
      if (type === 'block-entry' || type === 'block-end') this.#emptyScalar(token.line, 'block-sequence-entry');
      else this.#nodeThen('block-sequence-entry', 'block-node');
      return;
    }
    if (token.type !== 'block-end') throw parserError("did not find expected '-' indicator", token.line);
    this.#end();
    this.#scanner.skip();
  }

  #indentlessSequenceEntry(): void {
    const token = this.#scanner.peek();
    if (token.type !== 'block-entry') return this.#end();
    const { type } = this.#next();
    if (type === 'block-entry' || endsBlockMappingPart.has(type)) this.#emptyScalar(token.line, 'indentless-sequence-entry');
    else this.#nodeThen('indentless-sequence-entry', 'block-node');
  }

  #blockMappingKey(): void {
    const token = this.#scanner.peek();
    if (token.type === 'key') return this.#blockMappingPart(token, 'block-mapping-value');
    if (token.type !== 'block-end') throw parserError('did not find expected key', token.line);
    this.#end();
    this.#scanner.skip();
  }

  #blockMappingValue(): void {
    const token = this.#scanner.peek();
    if (token.type === 'value') this.#blockMappingPart(token, 'block-mapping-key');
    else this.#emptyScalar(token.line, 'block-mapping-key');
  }

  #blockMappingPart({ line }: YamlToken, state: State): void {
    if (endsBlockMappingPart.has(this.#next().type)) this.#emptyScalar(line, state);
    else this.#nodeThen(state, 'block-node-or-sequence');
  }

  #flowSequenceEntry(isFirst: boolean): void {
    const token = this.#flowEntry(isFirst, 'flow-sequence-end', "',' or ']'");
    if (token.type === 'flow-sequence-end') {
      this.#end();
      return this.#scanner.skip();
    }
    if (token.type !== 'key') return this.#nodeThen('flow-sequence-entry', 'flow-node');
    this.#begin('mapping', { line: token.line, tag: '', anchor: '' }, 'flow-sequence-entry-key');
    this.#scanner.skip();
  }

  /** Skips the comma before all entries except the first. */
  #flowEntry(isFirst: boolean, end: YamlTokenType, expected: string): YamlToken {
    const token = this.#scanner.peek();
    if (isFirst || token.type === end) return token;
    if (token.type !== 'flow-entry') throw parserError(`did not find expected ${expected}`, token.line);
    return this.#next();
  }

  #flowSequenceEntryKey(): void {
    const token = this.#scanner.peek();
    if (token.type !== 'value' && !flowSequenceEnds.has(token.type)) return this.#nodeThen('flow-sequence-entry-value', 'flow-node');
    // Upstream skips the token, so that another one must follow `[?`.
    this.#scanner.skip();
    this.#emptyScalar(token.line, 'flow-sequence-entry-value');
  }

  #flowValue(ends: ReadonlySet<YamlTokenType>, state: State): void {
    let token = this.#scanner.peek();
    if (token.type === 'value') {
      token = this.#next();
      if (!ends.has(token.type)) return this.#nodeThen(state, 'flow-node');
    }
    this.#emptyScalar(token.line, state);
  }

  #flowMappingKey(isFirst: boolean): void {
    let token = this.#flowEntry(isFirst, 'flow-mapping-end', "',' or '}'");
    if (token.type === 'flow-mapping-end') {
      this.#end();
      return this.#scanner.skip();
    }
    if (token.type !== 'key') return this.#nodeThen('flow-mapping-empty-value', 'flow-node');
    token = this.#next();
    if (token.type === 'value' || flowMappingEnds.has(token.type)) this.#emptyScalar(token.line, 'flow-mapping-value');
    else this.#nodeThen('flow-mapping-value', 'flow-node');
  }

  #directives(): void {
    let hasVersion = false;
    for (let token = this.#scanner.peek(); ; token = this.#next()) {
      if (token.type === 'version-directive') {
        if (hasVersion) throw parserError('found duplicate %YAML directive', token.line);
        if (token.value !== '1.1') throw parserError('found incompatible YAML document', token.line);
        hasVersion = true;
      } else if (token.type === 'tag-directive') {
        if (this.#tags.has(token.value)) throw parserError('found duplicate %TAG directive', token.line);
        this.#tags.set(token.value, token.suffix);
      } else break;
    }
    for (const [handle, prefix] of defaultTags) if (!this.#tags.has(handle)) this.#tags.set(handle, prefix);
  }
}

const endsContent: ReadonlySet<YamlTokenType> = new Set([
  'version-directive',
  'tag-directive',
  'document-start',
  'document-end',
  'stream-end',
]);
const endsBlockMappingPart: ReadonlySet<YamlTokenType> = new Set(['key', 'value', 'block-end']);
const flowSequenceEnds: ReadonlySet<YamlTokenType> = new Set(['flow-entry', 'flow-sequence-end']);
const flowMappingEnds: ReadonlySet<YamlTokenType> = new Set(['flow-entry', 'flow-mapping-end']);

/** Upstream counts the lines of parser errors from 0, and leaves out the first. */
function parserError(problem: string, line: number): YamlError {
  return new YamlError(`yaml: ${line === 0 ? '' : `line ${line}: `}${problem}`);
}
