/**
 * Tokens of YAML 1.1, with go-yaml's limits and error texts, in linear time. Upstream: go.yaml.in/yaml/v2 scannerc.go (a port of libyaml).
 *
 * A text such as `a: 1` becomes `[block-mapping-start] [key] [scalar a] [value] [scalar 1] [block-end] [stream-end]`. Only at the `:` does
 * the scanner know that `a` is a key: until then `a` is a possible simple key, and tokens from there on are queued, so that `[key]` can be
 * inserted before it. A simple key has at most 1,024 characters on one line, which bounds the queue.
 */
import { YamlError } from './yaml-error.ts';

export type YamlTokenType =
  | 'version-directive'
  | 'tag-directive'
  | 'document-start'
  | 'document-end'
  | 'stream-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'block-entry'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface YamlToken {
  readonly type: YamlTokenType;
  /** Line of the first character, counted from 0. */
  readonly line: number;
  /** Text of a scalar, name of an anchor or alias, handle of a tag or of its directive, or `1.1` of a version directive. */
  readonly value: string;
  /** Suffix of a tag, or prefix of its directive. */
  readonly suffix: string;
  /** True for an unquoted scalar that is not a block. */
  readonly isPlain: boolean;
}

interface SimpleKey {
  isPossible: boolean;
  /** True if only a key is valid here: the column is that of the open block mapping. */
  readonly isRequired: boolean;
  /** Number of the token after it, counted from the start of the stream. */
  readonly token: number;
  readonly line: number;
  readonly column: number;
  /** Number of characters before it. */
  readonly index: number;
}

/** Returns the state of brackets without a key so far. Upstream forgets the key of that token when they are closed. */
function noKey(token: number): SimpleKey {
  return { isPossible: false, isRequired: false, token, line: 0, column: 0, index: 0 };
}

/** Maximum depth of brackets and of indentation. Upstream: scannerc.go (max_flow_level, max_indents). */
const maxDepth = 10_000;

/** Maximum length of a simple key in characters. */
const maxSimpleKey = 1_024;

/** Maximum number of returned tokens that remain in the queue. */
const maxGone = 1_024;

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** True for NaN, the code of an index past the end. */
function isEnd(code: number): boolean {
  return Number.isNaN(code);
}

function isBreak(code: number): boolean {
  return code === lineFeed || code === carriageReturn || code === 0x85 || code === 0x2028 || code === 0x2029;
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

function isBreakOrEnd(code: number): boolean {
  return isBreak(code) || isEnd(code);
}

function isBlankOrEnd(code: number): boolean {
  return isBlank(code) || isBreak(code) || isEnd(code);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code === 0x2d;
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

/** Characters that end a plain scalar within brackets. */
const flowIndicators = codesOf(',?[]{}');
/** Characters that cannot start a plain scalar, apart from the exceptions for `-`, `?` and `:`. */
const indicators = codesOf('-?:,[]{}#&*!|>\'"%@`');
const uriCharacters = codesOf(";/?:@&=+$,.!~*'()[]%");
const behindAnchor = codesOf('?:,]}%@`');

const escapes: Readonly<Record<string, string | undefined>> = {
  __proto__: null as unknown as undefined,
  0: '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

const hexLengths: Readonly<Record<string, number | undefined>> = { x: 2, u: 4, U: 8 };

/** Folds a line break between two parts of a scalar into a space, unless empty lines follow, which are kept. */
function folded(leadingBreak: string, emptyLines: string): string {
  if (!leadingBreak.startsWith('\n')) return leadingBreak + emptyLines;
  return emptyLines === '' ? ' ' : emptyLines;
}

export class YamlScanner {
  readonly #text: string;
  #at = 0;
  #line = 0;
  /** Number of characters before the line. */
  #lineIndex = 0;
  /** Number of surrogate pairs before `#paired`: each is one character. */
  #pairs = 0;
  #paired = 0;
  readonly #hasPairs: boolean;
  /** Column of the innermost block. */
  #indent = -1;
  /** Columns of its ancestors. */
  readonly #indents: number[] = [];
  #flowLevel = 0;
  #simpleKeyAllowed = true;
  /** Possible simple key of each bracket level. */
  readonly #simpleKeys: SimpleKey[] = [noKey(-1)];
  /** Levels by the token number of their possible simple key. */
  readonly #levelOfToken = new Map<number, number>();
  readonly #tokens: YamlToken[] = [];
  #head = 0;
  /** Number of returned tokens. */
  #given = 0;
  #hasToken = false;

  constructor(text: string) {
    this.#text = text;
    this.#hasPairs = /[\ud800-\udbff]/.test(text);
  }

  /** Number of UTF-16 code units read so far. */
  get offset(): number {
    return this.#at;
  }

  /** Returns the next token; `stream-end` is the last. Throws YamlError. */
  peek(): YamlToken {
    if (!this.#hasToken) {
      while (this.#needsMore()) this.#fetch();
      this.#hasToken = true;
    }
    return this.#tokens[this.#head]!;
  }

  /** Advances to the token after that of `peek`. */
  skip(): void {
    this.#hasToken = false;
    this.#given += 1;
    this.#head += 1;
    if (this.#head < maxGone) return;
    this.#tokens.splice(0, this.#head);
    this.#head = 0;
  }

  #needsMore(): boolean {
    if (this.#head === this.#tokens.length) return true;
    const level = this.#levelOfToken.get(this.#given);
    if (level === undefined) return false;
    return this.#isStillPossible(this.#simpleKeys[level]!);
  }

  // Position

  #code(offset = 0): number {
    return this.#text.charCodeAt(this.#at + offset);
  }

  /** Number of characters before the current one. */
  #index(): number {
    if (!this.#hasPairs) return this.#at;
    for (; this.#paired < this.#at; this.#paired += 1) {
      if ((this.#text.charCodeAt(this.#paired) & 0xfc00) === 0xdc00) this.#pairs += 1;
    }
    return this.#at - this.#pairs;
  }

  #column(): number {
    return this.#index() - this.#lineIndex;
  }

  /** Skips a line break, and returns its value in a scalar. */
  #readLine(): string {
    const code = this.#code();
    this.#at += code === carriageReturn && this.#code(1) === lineFeed ? 2 : 1;
    this.#line += 1;
    this.#lineIndex = this.#index();
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n';
  }

  #skipBlanks(): void {
    while (isBlank(this.#code())) this.#at += 1;
  }

  #skipComment(): void {
    if (this.#code() === 0x23) while (!isBreakOrEnd(this.#code())) this.#at += 1;
  }

  #isDocumentIndicator(): boolean {
    const code = this.#code();
    if (code !== 0x2d && code !== 0x2e) return false;
    return this.#column() === 0 && this.#code(1) === code && this.#code(2) === code && isBlankOrEnd(this.#code(3));
  }

  #error(problem: string): YamlError {
    return new YamlError(`yaml: ${this.#line === 0 ? '' : `line ${this.#line + 1}: `}${problem}`);
  }

  // Tokens

  #token(type: YamlTokenType, line = this.#line, value = '', suffix = '', isPlain = false): YamlToken {
    return { type, line, value, suffix, isPlain };
  }

  #push(token: YamlToken): void {
    this.#tokens.push(token);
  }

  /** Number of the next token. */
  #nextNumber(): number {
    return this.#given + this.#tokens.length - this.#head;
  }

  /** Inserts a token before the token with that number, or, as upstream, at the end if that was already returned (`[]: 1`). */
  #insert(number: number, token: YamlToken): void {
    if (number < this.#given) this.#tokens.push(token);
    else this.#tokens.splice(this.#head + number - this.#given, 0, token);
  }

  #pushIndicator(type: YamlTokenType, length = 1): void {
    this.#at += length;
    this.#push(this.#token(type));
  }

  #fetch(): void {
    this.#skipToToken();
    const column = this.#column();
    this.#unrollIndent(column);
    const code = this.#code();
    if (isEnd(code)) return this.#endStream();
    if (column === 0) {
      if (code === 0x25) return this.#directive();
      if (this.#isDocumentIndicator()) return this.#documentIndicator(code === 0x2d ? 'document-start' : 'document-end');
    }
    switch (code) {
      case 0x5b:
        return this.#openFlow('flow-sequence-start');
      case 0x7b:
        return this.#openFlow('flow-mapping-start');
      case 0x5d:
        return this.#closeFlow('flow-sequence-end');
      case 0x7d:
        return this.#closeFlow('flow-mapping-end');
      case 0x2c:
        return this.#flowEntry();
      case 0x2d:
        if (isBlankOrEnd(this.#code(1))) return this.#blockEntry();
        break;
      case 0x3f:
        if (this.#flowLevel > 0 || isBlankOrEnd(this.#code(1))) return this.#key();
        break;
      case 0x3a:
        if (this.#flowLevel > 0 || isBlankOrEnd(this.#code(1))) return this.#value();
        break;
      case 0x2a:
        return this.#anchor('alias');
      case 0x26:
        return this.#anchor('anchor');
      case 0x21:
        return this.#tag();
      case 0x7c:
      case 0x3e:
        if (this.#flowLevel === 0) return this.#blockScalar(code === 0x7c);
        break;
      case 0x27:
      case 0x22:
        return this.#quotedScalar(code);
    }
    if (this.#beginsPlain(code)) return this.#plainScalar();
    throw this.#error('found character that cannot start any token');
  }

  #beginsPlain(code: number): boolean {
    if (!indicators.has(code)) return !isBlankOrEnd(code);
    // A possible indicator was one if a blank follows, or, for these two, within brackets.
    return code === 0x2d || (this.#flowLevel === 0 && (code === 0x3f || code === 0x3a));
  }

  #skipToToken(): void {
    for (;;) {
      const takesTabs = this.#flowLevel > 0 || !this.#simpleKeyAllowed;
      while (this.#code() === space || (takesTabs && this.#code() === tab)) this.#at += 1;
      this.#skipComment();
      if (!isBreak(this.#code())) return;
      this.#readLine();
      if (this.#flowLevel === 0) this.#simpleKeyAllowed = true;
    }
  }

  // Simple keys

  #isStillPossible(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    if (key.line === this.#line && key.index + maxSimpleKey >= this.#index()) return true;
    if (key.isRequired) throw this.#error("could not find expected ':'");
    key.isPossible = false;
    return false;
  }

  #saveSimpleKey(): void {
    if (!this.#simpleKeyAllowed) return;
    this.#removeSimpleKey();
    const column = this.#column();
    const level = this.#simpleKeys.length - 1;
    const token = this.#nextNumber();
    const isRequired = this.#flowLevel === 0 && this.#indent === column;
    this.#simpleKeys[level] = { isPossible: true, isRequired, token, line: this.#line, column, index: this.#index() };
    this.#levelOfToken.set(token, level);
  }

  #removeSimpleKey(): void {
    const key = this.#simpleKeys.at(-1)!;
    if (!key.isPossible) return;
    if (key.isRequired) throw this.#error("could not find expected ':'");
    key.isPossible = false;
    this.#levelOfToken.delete(key.token);
  }

  // Depth

  /** Starts a block that is indented further than its parent; its token goes before the token with that number, or to the end. */
  #rollIndent(column: number, type: YamlTokenType, line = this.#line, before?: number): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > maxDepth) throw this.#error(`exceeded max depth of ${maxDepth}`);
    const token = this.#token(type, line);
    if (before === undefined) this.#push(token);
    else this.#insert(before, token);
  }

  #unrollIndent(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#push(this.#token('block-end'));
      this.#indent = this.#indents.pop()!;
    }
  }

  // Indicators

  #endStream(): void {
    if (this.#column() !== 0) {
      this.#line += 1;
      this.#lineIndex = this.#index();
    }
    this.#endBlocks();
    this.#push(this.#token('stream-end'));
  }

  #endBlocks(): void {
    this.#unrollIndent(-1);
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = false;
  }

  #documentIndicator(type: YamlTokenType): void {
    this.#endBlocks();
    this.#pushIndicator(type, 3);
  }

  #openFlow(type: YamlTokenType): void {
    this.#saveSimpleKey();
    this.#simpleKeys.push(noKey(this.#nextNumber()));
    this.#flowLevel += 1;
    if (this.#flowLevel > maxDepth) throw this.#error(`exceeded max depth of ${maxDepth}`);
    this.#simpleKeyAllowed = true;
    this.#pushIndicator(type);
  }

  #closeFlow(type: YamlTokenType): void {
    this.#removeSimpleKey();
    if (this.#flowLevel > 0) {
      this.#flowLevel -= 1;
      this.#levelOfToken.delete(this.#simpleKeys.pop()!.token);
    }
    this.#simpleKeyAllowed = false;
    this.#pushIndicator(type);
  }

  #flowEntry(): void {
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    this.#pushIndicator('flow-entry');
  }

  #blockEntry(): void {
    if (this.#flowLevel === 0) {
      if (!this.#simpleKeyAllowed) throw this.#error('block sequence entries are not allowed in this context');
      this.#rollIndent(this.#column(), 'block-sequence-start');
    }
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    this.#pushIndicator('block-entry');
  }

  #key(): void {
    if (this.#flowLevel === 0) {
      if (!this.#simpleKeyAllowed) throw this.#error('mapping keys are not allowed in this context');
      this.#rollIndent(this.#column(), 'block-mapping-start');
    }
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = this.#flowLevel === 0;
    this.#pushIndicator('key');
  }

  #value(): void {
    const key = this.#simpleKeys.at(-1)!;
    if (this.#isStillPossible(key)) {
      this.#insert(key.token, this.#token('key', key.line));
      this.#rollIndent(key.column, 'block-mapping-start', key.line, key.token);
      key.isPossible = false;
      this.#levelOfToken.delete(key.token);
      this.#simpleKeyAllowed = false;
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#simpleKeyAllowed) throw this.#error('mapping values are not allowed in this context');
        this.#rollIndent(this.#column(), 'block-mapping-start');
      }
      this.#simpleKeyAllowed = this.#flowLevel === 0;
    }
    this.#pushIndicator('value');
  }

  // Directives, anchors and tags

  #directive(): void {
    this.#endBlocks();
    const line = this.#line;
    this.#at += 1;
    const name = this.#directiveName();
    let token: YamlToken;
    if (name === 'YAML') token = this.#token('version-directive', line, this.#version());
    else if (name === 'TAG') token = this.#tagDirective(line);
    else throw this.#error('found unknown directive name');
    this.#skipBlanks();
    this.#skipComment();
    if (!isBreakOrEnd(this.#code())) throw this.#error('did not find expected comment or line break');
    if (!isEnd(this.#code())) this.#readLine();
    this.#push(token);
  }

  #word(): string {
    const from = this.#at;
    while (isAlphanumeric(this.#code())) this.#at += 1;
    return this.#text.slice(from, this.#at);
  }

  #directiveName(): string {
    const name = this.#word();
    if (name === '') throw this.#error('could not find expected directive name');
    if (!isBlankOrEnd(this.#code())) throw this.#error('found unexpected non-alphabetical character');
    return name;
  }

  #version(): string {
    this.#skipBlanks();
    const major = this.#versionNumber();
    if (this.#code() !== 0x2e) throw this.#error("did not find expected digit or '.' character");
    this.#at += 1;
    return `${major}.${this.#versionNumber()}`;
  }

  #versionNumber(): number {
    const from = this.#at;
    for (; isDigit(this.#code()); this.#at += 1) if (this.#at - from >= 2) throw this.#error('found extremely long version number');
    if (this.#at === from) throw this.#error('did not find expected version number');
    return Number(this.#text.slice(from, this.#at));
  }

  #tagDirective(line: number): YamlToken {
    this.#skipBlanks();
    const handle = this.#tagHandle(true);
    if (!isBlank(this.#code())) throw this.#error('did not find expected whitespace');
    this.#skipBlanks();
    const prefix = this.#tagUri('');
    if (!isBlankOrEnd(this.#code())) throw this.#error('did not find expected whitespace or line break');
    return this.#token('tag-directive', line, handle, prefix);
  }

  #anchor(type: 'anchor' | 'alias'): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    this.#at += 1;
    const name = this.#word();
    if (name === '' || !(isBlankOrEnd(this.#code()) || behindAnchor.has(this.#code())))
      throw this.#error('did not find expected alphabetic or numeric character');
    this.#push(this.#token(type, line, name));
  }

  #tag(): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    let handle = '';
    let suffix: string;
    if (this.#code(1) === 0x3c) {
      this.#at += 2;
      suffix = this.#tagUri('');
      if (this.#code() !== 0x3e) throw this.#error("did not find the expected '>'");
      this.#at += 1;
    } else {
      handle = this.#tagHandle(false);
      if (handle.length > 1 && handle.endsWith('!')) suffix = this.#tagUri('');
      else {
        const rest = this.#tagUri(handle);
        suffix = rest || '!';
        handle = rest && '!';
      }
    }
    if (!isBlankOrEnd(this.#code())) throw this.#error('did not find expected whitespace or line break');
    this.#push(this.#token('tag', line, handle, suffix));
  }

  #tagHandle(isDirective: boolean): string {
    if (this.#code() !== 0x21) throw this.#error("did not find expected '!'");
    const from = this.#at;
    this.#at += 1;
    this.#word();
    if (this.#code() === 0x21) this.#at += 1;
    else if (isDirective && this.#at - from > 1) throw this.#error("did not find expected '!'");
    return this.#text.slice(from, this.#at);
  }

  /** Reads the rest of a tag; `head` is the part read as its handle. */
  #tagUri(head: string): string {
    const parts = [head.slice(1)];
    const from = this.#at;
    for (;;) {
      const plain = this.#at;
      while (isAlphanumeric(this.#code()) || (uriCharacters.has(this.#code()) && this.#code() !== 0x25)) this.#at += 1;
      parts.push(this.#text.slice(plain, this.#at));
      if (this.#code() !== 0x25) break;
      parts.push(this.#uriEscape());
    }
    if (this.#at === from && head === '') throw this.#error('did not find expected tag URI');
    return parts.join('');
  }

  /** Reads one character in escaped UTF-8 octets. */
  #uriEscape(): string {
    const octets: number[] = [];
    let width = 1;
    while (octets.length < width) {
      const digits = this.#text.slice(this.#at + 1, this.#at + 3);
      if (this.#code() !== 0x25 || !/^[0-9a-fA-F]{2}$/.test(digits)) throw this.#error('did not find URI escaped octet');
      const octet = Number.parseInt(digits, 16);
      if (octets.length === 0) {
        width = utf8Width(octet);
        if (width === 0) throw this.#error('found an incorrect leading UTF-8 octet');
      } else if ((octet & 0xc0) !== 0x80) throw this.#error('found an incorrect trailing UTF-8 octet');
      octets.push(octet);
      this.#at += 3;
    }
    return Buffer.from(octets).toString('utf8');
  }

  // Scalars

  #blockScalar(isLiteral: boolean): void {
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    const line = this.#line;
    this.#at += 1;
    const { chomping, increment } = this.#blockHeader();
    let indent = increment > 0 ? Math.max(this.#indent, 0) + increment : 0;
    const parts: string[] = [];
    let leadingBreak = '';
    let breaks: string;
    ({ breaks, indent } = this.#blockBreaks(indent));
    let afterBlank = false;
    while (this.#column() === indent && !isEnd(this.#code())) {
      const beforeBlank = isBlank(this.#code());
      if (!isLiteral && !afterBlank && !beforeBlank && leadingBreak.startsWith('\n')) parts.push(breaks === '' ? ' ' : '');
      else parts.push(leadingBreak);
      parts.push(breaks);
      afterBlank = beforeBlank;
      const from = this.#at;
      while (!isBreakOrEnd(this.#code())) this.#at += 1;
      parts.push(this.#text.slice(from, this.#at));
      leadingBreak = isEnd(this.#code()) ? '' : this.#readLine();
      ({ breaks, indent } = this.#blockBreaks(indent));
    }
    if (chomping !== '-') parts.push(leadingBreak);
    if (chomping === '+') parts.push(breaks);
    this.#push(this.#token('scalar', line, parts.join('')));
  }

  #blockHeader(): { readonly chomping: string; readonly increment: number } {
    let chomping = this.#chomping();
    let increment = 0;
    if (isDigit(this.#code())) {
      increment = this.#code() - 0x30;
      if (increment === 0) throw this.#error('found an indentation indicator equal to 0');
      this.#at += 1;
      if (chomping === '') chomping = this.#chomping();
    }
    this.#skipBlanks();
    this.#skipComment();
    if (!isBreakOrEnd(this.#code())) throw this.#error('did not find expected comment or line break');
    if (!isEnd(this.#code())) this.#readLine();
    return { chomping, increment };
  }

  #chomping(): string {
    const code = this.#code();
    if (code !== 0x2b && code !== 0x2d) return '';
    this.#at += 1;
    return String.fromCharCode(code);
  }

  /** Skips indentation and returns empty lines; detects the indentation if `indent` is 0. */
  #blockBreaks(indent: number): { readonly breaks: string; readonly indent: number } {
    const breaks: string[] = [];
    let widest = 0;
    for (;;) {
      while (this.#code() === space && (indent === 0 || this.#column() < indent)) this.#at += 1;
      const column = this.#column();
      widest = Math.max(widest, column);
      if (this.#code() === tab && (indent === 0 || column < indent))
        throw this.#error('found a tab character where an indentation space is expected');
      if (!isBreak(this.#code())) break;
      breaks.push(this.#readLine());
    }
    return { breaks: breaks.join(''), indent: indent || Math.max(widest, this.#indent + 1, 1) };
  }

  #quotedScalar(quote: number): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    const parts: string[] = [];
    this.#at += 1;
    for (;;) {
      if (this.#isDocumentIndicator()) throw this.#error('found unexpected document indicator');
      if (isEnd(this.#code())) throw this.#error('found unexpected end of stream');
      const afterBreak = this.#quotedText(quote, parts);
      if (this.#code() === quote) break;
      parts.push(this.#quotedBlanks(afterBreak));
    }
    this.#at += 1;
    this.#push(this.#token('scalar', line, parts.join('')));
  }

  /** Reads up to a blank, a line break or the closing quote. Returns true after an escaped line break. */
  #quotedText(quote: number, parts: string[]): boolean {
    const isSingle = quote === 0x27;
    for (;;) {
      const from = this.#at;
      let code = this.#code();
      while (code !== quote && (isSingle || code !== 0x5c) && !isBlankOrEnd(code)) {
        this.#at += 1;
        code = this.#code();
      }
      if (this.#at > from) parts.push(this.#text.slice(from, this.#at));
      if (isSingle && code === quote && this.#code(1) === quote) {
        parts.push("'");
        this.#at += 2;
      } else if (!isSingle && code === 0x5c) {
        this.#at += 1;
        if (isBreak(this.#code())) {
          this.#readLine();
          return true;
        }
        parts.push(this.#escape());
      } else return false;
    }
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at);
    const known = escapes[letter];
    if (known !== undefined) {
      this.#at += 1;
      return known;
    }
    const length = Object.hasOwn(hexLengths, letter) ? hexLengths[letter]! : 0;
    if (length === 0) throw this.#error('found unknown escape character');
    const digits = this.#text.slice(this.#at + 1, this.#at + 1 + length);
    if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) throw this.#error('did not find expected hexdecimal number');
    const value = Number.parseInt(digits, 16);
    if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) throw this.#error('found invalid Unicode character escape code');
    this.#at += 1 + length;
    return String.fromCodePoint(value);
  }

  /** Skips blanks and line breaks, and returns their value in a quoted scalar. */
  #quotedBlanks(afterBreak: boolean): string {
    let leadingBreak = '';
    let hasBreak = afterBreak;
    const emptyLines: string[] = [];
    let from = this.#at;
    let to = from;
    for (;;) {
      this.#skipBlanks();
      if (!hasBreak) to = this.#at;
      if (!isBreak(this.#code())) break;
      if (hasBreak) emptyLines.push(this.#readLine());
      else {
        leadingBreak = this.#readLine();
        hasBreak = true;
        from = to;
      }
    }
    return hasBreak ? folded(leadingBreak, emptyLines.join('')) : this.#text.slice(from, to);
  }

  #plainScalar(): void {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    const line = this.#line;
    const parts: string[] = [];
    let between = '';
    let hasBreak = false;
    for (;;) {
      if (this.#isDocumentIndicator() || this.#code() === 0x23) break;
      const from = this.#at;
      this.#plainText();
      if (this.#at > from) {
        if (between !== '') parts.push(between);
        parts.push(this.#text.slice(from, this.#at));
        between = '';
        hasBreak = false;
      }
      const code = this.#code();
      if (!isBlank(code) && !isBreak(code)) break;
      const blanks = this.#plainBlanks();
      between = blanks.text;
      hasBreak = blanks.hasBreak;
      if (this.#flowLevel === 0 && this.#column() <= this.#indent) break;
    }
    if (hasBreak) this.#simpleKeyAllowed = true;
    this.#push(this.#token('scalar', line, parts.length === 1 ? parts[0] : parts.join(''), '', true));
  }

  #plainText(): void {
    const inFlow = this.#flowLevel > 0;
    for (;;) {
      const code = this.#code();
      if (isBlankOrEnd(code)) return;
      if (code === 0x3a && isBlankOrEnd(this.#code(1))) return;
      if (inFlow && flowIndicators.has(code)) return;
      this.#at += 1;
    }
  }

  /** Skips blanks and line breaks, and returns their value in a plain scalar that continues after them. */
  #plainBlanks(): { readonly text: string; readonly hasBreak: boolean } {
    const from = this.#at;
    this.#skipBlanks();
    if (!isBreak(this.#code())) return { text: this.#text.slice(from, this.#at), hasBreak: false };
    const leadingBreak = this.#readLine();
    const emptyLines: string[] = [];
    for (;;) {
      while (isBlank(this.#code())) {
        if (this.#code() === tab && this.#column() <= this.#indent) throw this.#error('found a tab character that violates indentation');
        this.#at += 1;
      }
      if (!isBreak(this.#code())) return { text: folded(leadingBreak, emptyLines.join('')), hasBreak: true };
      emptyLines.push(this.#readLine());
    }
  }
}

/** Returns the number of octets of a character by its first octet; 0 if that is invalid. */
function utf8Width(octet: number): number {
  if ((octet & 0x80) === 0) return 1;
  if ((octet & 0xe0) === 0xc0) return 2;
  if ((octet & 0xf0) === 0xe0) return 3;
  return (octet & 0xf8) === 0xf0 ? 4 : 0;
}
