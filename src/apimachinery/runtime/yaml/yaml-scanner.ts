/**
 * Tokens of YAML 1.1, with go-yaml's limits and error texts, in linear time. Upstream: go.yaml.in/yaml/v2 scannerc.go (a port of libyaml).
 *
 * A text such as `a: 1` becomes `[block-mapping-start] [key] [scalar a] [value] [scalar 1] [block-end] [stream-end]`. Only at the `:` does
 * the scanner know that `a` is a key: until then `a` is a possible simple key, and tokens from there on are queued, so that `[key]` can be
 * inserted before it. A simple key has at most 1,024 characters on one line, which bounds the queue.
 */
import { indicators, isBlankOrEnd, isBreak, isEnd, space, tab } from './yaml-characters.ts';
import { readBlockScalar, readPlainScalar, readQuotedScalar } from './yaml-scalar-text.ts';
import { readAnchor, readDirective, readTag } from './yaml-tag-text.ts';
import { YamlText } from './yaml-text.ts';

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

export class YamlScanner {
  readonly #text: YamlText;
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
    this.#text = new YamlText(text);
  }

  /** Number of UTF-16 code units read so far. */
  get offset(): number {
    return this.#text.at;
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

  // Tokens

  #token(type: YamlTokenType, line = this.#text.line, value = '', suffix = '', isPlain = false): YamlToken {
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
    this.#text.at += length;
    this.#push(this.#token(type));
  }

  #fetch(): void {
    this.#skipToToken();
    const column = this.#text.column();
    this.#unrollIndent(column);
    const code = this.#text.code();
    if (isEnd(code)) return this.#endStream();
    if (column === 0) {
      if (code === 0x25) return this.#directive();
      if (this.#text.isDocumentIndicator()) return this.#documentIndicator(code === 0x2d ? 'document-start' : 'document-end');
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
        if (isBlankOrEnd(this.#text.code(1))) return this.#blockEntry();
        break;
      case 0x3f:
        if (this.#flowLevel > 0 || isBlankOrEnd(this.#text.code(1))) return this.#key();
        break;
      case 0x3a:
        if (this.#flowLevel > 0 || isBlankOrEnd(this.#text.code(1))) return this.#value();
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
    throw this.#text.error('found character that cannot start any token');
  }

  #beginsPlain(code: number): boolean {
    if (!indicators.has(code)) return !isBlankOrEnd(code);
    // A possible indicator was one if a blank follows, or, for these two, within brackets.
    return code === 0x2d || (this.#flowLevel === 0 && (code === 0x3f || code === 0x3a));
  }

  #skipToToken(): void {
    for (;;) {
      const takesTabs = this.#flowLevel > 0 || !this.#simpleKeyAllowed;
      while (this.#text.code() === space || (takesTabs && this.#text.code() === tab)) this.#text.at += 1;
      this.#text.skipComment();
      if (!isBreak(this.#text.code())) return;
      this.#text.readLine();
      if (this.#flowLevel === 0) this.#simpleKeyAllowed = true;
    }
  }

  // Simple keys

  #isStillPossible(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    if (key.line === this.#text.line && key.index + maxSimpleKey >= this.#text.index()) return true;
    if (key.isRequired) throw this.#text.error("could not find expected ':'");
    key.isPossible = false;
    return false;
  }

  #saveSimpleKey(): void {
    if (!this.#simpleKeyAllowed) return;
    this.#removeSimpleKey();
    const column = this.#text.column();
    const level = this.#simpleKeys.length - 1;
    const token = this.#nextNumber();
    const isRequired = this.#flowLevel === 0 && this.#indent === column;
    this.#simpleKeys[level] = { isPossible: true, isRequired, token, line: this.#text.line, column, index: this.#text.index() };
    this.#levelOfToken.set(token, level);
  }

  #removeSimpleKey(): void {
    const key = this.#simpleKeys.at(-1)!;
    if (!key.isPossible) return;
    if (key.isRequired) throw this.#text.error("could not find expected ':'");
    key.isPossible = false;
    this.#levelOfToken.delete(key.token);
  }

  // Depth

  /** Starts a block that is indented further than its parent; its token goes before the token with that number, or to the end. */
  #rollIndent(column: number, type: YamlTokenType, line = this.#text.line, before?: number): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > maxDepth) throw this.#text.error(`exceeded max depth of ${maxDepth}`);
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
    this.#text.endLine();
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
    if (this.#flowLevel > maxDepth) throw this.#text.error(`exceeded max depth of ${maxDepth}`);
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
      if (!this.#simpleKeyAllowed) throw this.#text.error('block sequence entries are not allowed in this context');
      this.#rollIndent(this.#text.column(), 'block-sequence-start');
    }
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    this.#pushIndicator('block-entry');
  }

  #key(): void {
    if (this.#flowLevel === 0) {
      if (!this.#simpleKeyAllowed) throw this.#text.error('mapping keys are not allowed in this context');
      this.#rollIndent(this.#text.column(), 'block-mapping-start');
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
        if (!this.#simpleKeyAllowed) throw this.#text.error('mapping values are not allowed in this context');
        this.#rollIndent(this.#text.column(), 'block-mapping-start');
      }
      this.#simpleKeyAllowed = this.#flowLevel === 0;
    }
    this.#pushIndicator('value');
  }

  // Texts

  #directive(): void {
    this.#endBlocks();
    const { line } = this.#text;
    const directive = readDirective(this.#text);
    if (directive.name === 'YAML') this.#push(this.#token('version-directive', line, directive.version));
    else this.#push(this.#token('tag-directive', line, directive.handle, directive.prefix));
  }

  /** Saves the next token as a possible simple key; a second one cannot begin right after it. Returns its line. */
  #beginKey(): number {
    this.#saveSimpleKey();
    this.#simpleKeyAllowed = false;
    return this.#text.line;
  }

  #anchor(type: 'anchor' | 'alias'): void {
    const line = this.#beginKey();
    this.#push(this.#token(type, line, readAnchor(this.#text)));
  }

  #tag(): void {
    const line = this.#beginKey();
    const { handle, suffix } = readTag(this.#text);
    this.#push(this.#token('tag', line, handle, suffix));
  }

  #blockScalar(isLiteral: boolean): void {
    this.#removeSimpleKey();
    this.#simpleKeyAllowed = true;
    const { line } = this.#text;
    this.#push(this.#token('scalar', line, readBlockScalar(this.#text, isLiteral, this.#indent)));
  }

  #quotedScalar(quote: number): void {
    const line = this.#beginKey();
    this.#push(this.#token('scalar', line, readQuotedScalar(this.#text, quote)));
  }

  #plainScalar(): void {
    const line = this.#beginKey();
    const { value, endsWithBreak } = readPlainScalar(this.#text, this.#flowLevel > 0, this.#indent);
    if (endsWithBreak) this.#simpleKeyAllowed = true;
    this.#push(this.#token('scalar', line, value, '', true));
  }
}
