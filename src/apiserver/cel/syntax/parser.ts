/**
 * Recursive descent parser of CEL with the limits and error texts of upstream's generated parser. Upstream: cel-go
 * parser/parser.go, CEL.g4.
 */
import type { Value } from '../runtime/values.ts';
import { Double, intValue, Uint } from '../runtime/values.ts';
import { type Ast, type Expr, type List, type MapEntry, operators, type StructField } from './ast.ts';
import { type Token, type TokenKind, tokenize } from './lexer.ts';
import type { Macro } from './macros.ts';
import { MacroError, MacroFactory, NodeFactory } from './node-factory.ts';
import { Issues, type Source } from './source.ts';
import { unescapeBytes, UnescapeError, unescapeString } from './unescape.ts';

/** Maximum nesting of grammar rules; each link of a chain of selections or sums counts as one. */
const maxRecursionDepth = 250;
/** Maximum length of an expression in code points. */
const expressionSizeCodePointLimit = 100_000;
/** Maximum number of recoveries from syntax errors. */
const maxRecoveries = 30;
/** Number of syntax errors after which parsing stops. */
const errorReportingLimit = 100;

export interface ParserOptions {
  readonly macros: readonly Macro[];
  /** True if `a.?b`, `a[?b]` and `?` in literals are enabled. */
  readonly optionalSyntax: boolean;
}

/** Parses an expression and expands its macros. `ast` is defined if there are no issues. */
export function parse(source: Source, options: ParserOptions): { ast: Ast | undefined; issues: Issues } {
  const issues = new Issues(source);
  // The number of code points cannot exceed the number of UTF-16 units.
  const size = source.text.length > expressionSizeCodePointLimit ? [...source.text].length : 0;
  if (size > expressionSizeCodePointLimit) {
    issues.report(`expression code point size exceeds limit: size: ${size}, limit ${expressionSizeCodePointLimit}`);
    return { ast: undefined, issues };
  }
  const ast = new Parser(source, options, issues).parse();
  return { ast: issues.length > 0 ? undefined : ast, issues };
}

/** Stops parsing after a reported error. */
class Abort extends Error {}

type Rule = 'expr' | 'relation' | 'calc' | 'member';

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
);

const relations: Readonly<Partial<Record<TokenKind, string>>> = {
  '<': operators.less,
  '<=': operators.lessEquals,
  '>=': operators.greaterEquals,
  '>': operators.greater,
  '==': operators.equals,
  '!=': operators.notEquals,
  in: operators.in,
};
const sums: Readonly<Partial<Record<TokenKind, string>>> = { '+': operators.add, '-': operators.subtract };
const products: Readonly<Partial<Record<TokenKind, string>>> = { '*': operators.multiply, '/': operators.divide, '%': operators.modulo };

/** Tokens that an operand can start with. */
const operandStart: readonly TokenKind[] = [
  '[',
  '{',
  '(',
  '.',
  '-',
  '!',
  'true',
  'false',
  'null',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
];
const memberStart: readonly TokenKind[] = operandStart.filter((kind) => kind !== '!');

/** Tokens in the order in which error messages list them. */
const tokenOrder: readonly TokenKind[] = [
  '==',
  '!=',
  'in',
  '<',
  '<=',
  '>=',
  '>',
  '&&',
  '||',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
  'true',
  'false',
  'null',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
];

/** Tokens that can start an entry of a list or map. */
const entryStart: readonly TokenKind[] = [...operandStart, '?'];

/** Tokens that can start a field of a struct. */
const fieldStart: readonly TokenKind[] = ['?', 'IDENTIFIER', 'ESC_IDENTIFIER'];

/** Upstream's error of a field whose name the parser has not found. */
const noIdentifier = 'unsupported ident kind';

/** Tokens that can follow an operand inside an expression. */
const operandFollow: ReadonlySet<TokenKind> = new Set<TokenKind>([
  ...(Object.keys(relations) as TokenKind[]),
  '&&',
  '||',
  '[',
  '.',
  '-',
  '?',
  '+',
  '*',
  '/',
  '%',
]);

/** The end of an open part of the expression. */
interface Closer {
  readonly kind: TokenKind;
  /** True if a comma separates entries of the part. */
  readonly commas: boolean;
  /** True if the part belongs to upstream's rule of primary expressions, after which selections can follow. */
  readonly isPrimary: boolean;
}

const brackets = {
  nested: { kind: ')', commas: false, isPrimary: true },
  list: { kind: ']', commas: true, isPrimary: true },
  map: { kind: '}', commas: true, isPrimary: true },
  globalCall: { kind: ')', commas: true, isPrimary: true },
  memberCall: { kind: ')', commas: true, isPrimary: false },
  index: { kind: ']', commas: false, isPrimary: false },
  colon: { kind: ':', commas: false, isPrimary: false },
} as const satisfies Readonly<Record<string, Closer>>;

class Parser {
  readonly #tokens: readonly Token[];
  readonly #nodes = new NodeFactory();
  readonly #macros = new Map<string, Macro>();
  readonly #depths: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };
  /** Ends of the open parts, the innermost last. */
  readonly #closers: Closer[] = [{ kind: '<EOF>', commas: false, isPrimary: false }];
  /** True if the entries of a literal ended before their closing token. */
  #unended = false;
  /** True if an entry of a literal had no colon. */
  #abandoned = false;
  readonly #optionalSyntax: boolean;
  readonly #text: string;
  readonly #unrecognized: { readonly from: number; readonly to: number }[] = [];
  #at = 0;
  #syntaxErrors = 0;
  /** True if no token was consumed since the last error; further errors would be consequences of it. */
  #recovering = false;
  #recoveries = 0;

  constructor(
    source: Source,
    options: ParserOptions,
    readonly issues: Issues,
  ) {
    for (const macro of options.macros) this.#macros.set(macroKey(macro.name, macro.argCount, macro.receiver), macro);
    this.#optionalSyntax = options.optionalSyntax;
    this.#text = source.text;
    this.#tokens = tokenize(source.text, (offset, text) => {
      this.#unrecognized.push({ from: offset, to: offset + text.length });
      this.#syntaxErrorUnlessTooMany(`token recognition error at: '${text}'`, offset);
    });
  }

  parse(): Ast | undefined {
    try {
      const expr = this.#expr(operandStart);
      this.#require('<EOF>');
      return { expr, offsets: this.#nodes.offsets };
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  #next(): Token {
    const token = this.#token;
    if (this.#at < this.#tokens.length - 1) this.#at++;
    this.#recovering = false;
    return token;
  }

  /** Skips to a possible end of an operand after an error. Returns a placeholder for the skipped text. */
  #recover(rule: 'primary' | 'member' | 'expr' = 'primary'): Expr {
    this.#recoveries++;
    if (this.#recoveries > maxRecoveries) {
      this.#recovering = false;
      this.#syntaxError(`error recovery attempt limit exceeded: ${maxRecoveries}`);
      throw new Abort();
    }
    const { start } = this.#token;
    while (!this.#ends(rule, this.#token.kind)) this.#at++;
    return this.#nodes.make(start, { kind: 'unspecified' });
  }

  /** True if a token can follow a rule of the grammar, or one of those around it. */
  #ends(rule: 'primary' | 'member' | 'expr', kind: TokenKind): boolean {
    if (kind === '<EOF>') return true;
    if (this.#closers.some((closer) => closer.kind === kind || (kind === ',' && closer.commas))) return true;
    if (kind === '.' || kind === '[') return rule === 'primary' || this.#closers.some(({ isPrimary }) => isPrimary);
    return operandFollow.has(kind) && (rule !== 'expr' || this.#closers.length > 1);
  }

  /** Returns the text of the tokens from one to another, with what is between them, as upstream quotes it. */
  #textBetween(from: number, { kind, start, text }: Token): string {
    const end = kind === '<EOF>' ? this.#text.length : start + text.length;
    let shown = '';
    let at = from;
    for (const gap of this.#unrecognized) {
      if (gap.from < at || gap.to > end) continue;
      shown += this.#text.slice(at, gap.from);
      at = gap.to;
    }
    return (shown + this.#text.slice(at, end)).replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  }

  #accept(kind: TokenKind): Token | undefined {
    return this.#token.kind === kind ? this.#next() : undefined;
  }

  /**
   * Consumes a token of one of the kinds, with upstream's recovery: drops one extraneous token, or assumes one missing
   * token.
   */
  #expect(...kinds: readonly [TokenKind, ...TokenKind[]]): boolean {
    const { kind } = this.#token;
    if (kinds.includes(kind)) {
      this.#next();
      return true;
    }
    if (kinds.includes(this.#peek(1).kind) && kind !== '<EOF>') {
      this.#recoveries++;
      this.#syntaxError(`extraneous input ${shown(this.#token)} expecting ${expectation(kinds)}`);
      this.#at++;
      this.#next();
      return true;
    }
    if (kinds.length === 1 && this.#canFollow(kinds[0], kind)) {
      this.#recoveries++;
      this.#syntaxError(`missing '${kinds[0]}' at ${shown(this.#token)}`);
      return true;
    }
    this.#syntaxError(`mismatched input ${shown(this.#token)} expecting ${expectation(kinds)}`);
    return false;
  }

  /** Like `#expect`, but recovers from another token. */
  #require(...kinds: readonly [TokenKind, ...TokenKind[]]): void {
    if (!this.#expect(...kinds)) this.#recover();
  }

  /** True if a token can follow a missing one. */
  #canFollow(missing: TokenKind, kind: TokenKind): boolean {
    if (missing === ':') return operandStart.includes(kind);
    const closer = this.#closers.at(-1)!;
    return missing !== '<EOF>' && (operandFollow.has(kind) || closer.kind === kind || (kind === ',' && closer.commas));
  }

  #syntaxError(message: string, offset = this.#token.start): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#syntaxErrorUnlessTooMany(message, offset);
    if (this.#syntaxErrors > errorReportingLimit) throw new Abort();
  }

  #syntaxErrorUnlessTooMany(message: string, offset: number): void {
    this.#syntaxErrors++;
    if (this.#syntaxErrors <= errorReportingLimit) this.issues.report(`Syntax error: ${message}`, offset);
    else if (this.#syntaxErrors === errorReportingLimit + 1)
      this.issues.report(`Syntax error: More than ${errorReportingLimit} syntax errors`, offset);
  }

  /** Reports an error in grammatical text and continues. */
  #error(message: string, offset: number): Expr {
    this.issues.report(message, offset);
    return this.#nodes.make(offset, { kind: 'unspecified' });
  }

  /** Counts the entry of a grammar rule. The returned function undoes all entries since. */
  #enter(rule: Rule): () => void {
    const before = this.#depths[rule];
    this.#deepen(rule);
    return () => {
      this.#depths[rule] = before;
    };
  }

  #deepen(rule: Rule): void {
    this.#depths[rule]++;
    if (this.#depths[rule] <= maxRecursionDepth) return;
    this.issues.report(`expression recursion limit exceeded: ${maxRecursionDepth}`);
    throw new Abort();
  }

  /** `start` lists the tokens that can start the first operand, for the error message. */
  #expr(start: readonly TokenKind[]): Expr {
    const leave = this.#enter('expr');
    const condition = this.#logical('||', start);
    const question = this.#accept('?');
    if (!question) {
      leave();
      return condition;
    }
    const id = this.#nodes.id(question.start);
    this.#closers.push(brackets.colon);
    const then = this.#logical('||', operandStart);
    this.#closers.pop();
    if (!this.#expect(':')) {
      leave();
      return this.#recover('expr');
    }
    const otherwise = this.#expr(operandStart);
    leave();
    return this.#call(id, operators.conditional, undefined, [condition, then, otherwise]);
  }

  /** Parses a chain of `||` or `&&` into a balanced tree. */
  #logical(operator: '||' | '&&', start: readonly TokenKind[]): Expr {
    const operand = (first: readonly TokenKind[]): Expr => (operator === '||' ? this.#logical('&&', first) : this.#relation(first));
    const terms = [operand(start)];
    const ids: number[] = [];
    for (let token = this.#accept(operator); token; token = this.#accept(operator)) {
      const term = operand(operandStart);
      ids.push(this.#nodes.id(token.start));
      terms.push(term);
    }
    if (ids.length === 0) return terms[0]!;
    const name = operator === '||' ? operators.logicalOr : operators.logicalAnd;
    return this.#balanced(name, terms, ids, 0, ids.length - 1);
  }

  #balanced(name: string, terms: readonly Expr[], ids: readonly number[], low: number, high: number): Expr {
    const middle = Math.floor((low + high + 1) / 2);
    const left = middle === low ? terms[middle]! : this.#balanced(name, terms, ids, low, middle - 1);
    const right = middle === high ? terms[middle + 1]! : this.#balanced(name, terms, ids, middle + 1, high);
    return { id: ids[middle]!, node: { kind: 'call', function: name, target: undefined, args: [left, right] } };
  }

  #relation(start: readonly TokenKind[]): Expr {
    const leave = this.#enter('relation');
    const expr = this.#chain('relation', relations, start, (first) => this.#sum(first));
    leave();
    return expr;
  }

  #sum(start: readonly TokenKind[]): Expr {
    const leave = this.#enter('calc');
    const product = (first: readonly TokenKind[]): Expr => this.#chain('calc', products, first, (operand) => this.#unary(operand));
    const expr = this.#chain('calc', sums, start, product);
    leave();
    return expr;
  }

  /** Parses left-associative operators of the same precedence. */
  #chain(
    rule: Rule,
    names: Readonly<Partial<Record<TokenKind, string>>>,
    start: readonly TokenKind[],
    operand: (start: readonly TokenKind[]) => Expr,
  ): Expr {
    let left = operand(start);
    for (let name = names[this.#token.kind]; name !== undefined; name = names[this.#token.kind]) {
      this.#deepen(rule);
      const id = this.#nodes.id(this.#next().start);
      const leave = this.#enter(rule);
      const right = operand(operandStart);
      leave();
      left = this.#call(id, name, undefined, [left, right]);
    }
    return left;
  }

  /** Drops one token that cannot start an operand if the next one can; otherwise returns a placeholder operand. */
  #checkStart(start: readonly TokenKind[]): Expr | undefined {
    const { kind } = this.#token;
    if (start.includes(kind)) return undefined;
    if (kind !== '<EOF>' && start.includes(this.#peek(1).kind)) {
      this.#recoveries++;
      this.#syntaxError(`extraneous input ${shown(this.#token)} expecting ${expectation(start)}`);
      this.#at++;
      return undefined;
    }
    this.#syntaxError(`mismatched input ${shown(this.#token)} expecting ${expectation(start)}`);
    return this.#recover();
  }

  #unary(start: readonly TokenKind[]): Expr {
    const none = this.#checkStart(start);
    if (none) return none;
    const { kind } = this.#token;
    if (kind === '!') return this.#prefixed('!', operators.logicalNot);
    if (kind === '-' && !isNumber(this.#peek(1).kind)) return this.#signed();
    return this.#member();
  }

  /**
   * Parses an operand with signs. Upstream decides at each sign by looking ahead; where no operand follows, it leaves the last sign, which is
   * then taken for a subtraction.
   */
  #signed(): Expr {
    let signs = 1;
    while (this.#peek(signs).kind === '-') signs++;
    const follower = this.#peek(signs);
    if (memberStart.includes(follower.kind)) return this.#prefixed('-', operators.negate);
    const { start } = this.#token;
    for (let i = 1; i < signs; i++) this.#next();
    this.#syntaxError(`no viable alternative at input '${this.#textBetween(this.#token.start, follower)}'`, follower.start);
    this.#recoveries++;
    return this.#nodes.make(start, { kind: 'unspecified' });
  }

  #prefixed(sign: '!' | '-', name: string): Expr {
    const first = this.#next();
    let count = 1;
    while (this.#accept(sign)) count++;
    if (!operandStart.includes(this.#token.kind)) this.#skipUnwanted(operandStart);
    const none = this.#checkStart(memberStart);
    if (none) return none;
    const id = count % 2 === 1 ? this.#nodes.id(first.start) : 0;
    const operand = this.#member();
    return id === 0 ? operand : this.#call(id, name, undefined, [operand]);
  }

  /** Skips tokens after a loop of the grammar, to one that is expected or ends an operand. */
  #skipUnwanted(expected: readonly TokenKind[]): void {
    this.#recoveries++;
    this.#syntaxError(`extraneous input ${shown(this.#token)} expecting ${expectation(expected)}`);
    while (!expected.includes(this.#token.kind) && !this.#ends('primary', this.#token.kind)) this.#at++;
  }

  #member(): Expr {
    const leave = this.#enter('member');
    let expr = this.#primary();
    for (;;) {
      if (this.#token.kind === '.') expr = this.#selection(expr);
      else if (this.#token.kind === '[') expr = this.#indexing(expr);
      else break;
    }
    leave();
    return expr;
  }

  #selection(operand: Expr): Expr {
    this.#deepen('member');
    const wasRecovering = this.#recovering;
    const dot = this.#next();
    const optional = this.#accept('?');
    if (optional && !isName(this.#token.kind) && isName(this.#peek(1).kind) && this.#token.kind !== '<EOF>')
      this.#dropExtraneous(fieldStart.slice(1));
    const name = this.#token;
    if (!isName(name.kind)) {
      const none = this.#noSelection(dot, name, optional !== undefined, wasRecovering);
      return this.#nodes.make(this.#nodes.offsets.get(operand.id) ?? dot.start, none.node);
    }
    this.#next();
    if (!optional && name.kind === 'IDENTIFIER' && this.#token.kind === '(') {
      const open = this.#next();
      const id = this.#nodes.id(open.start);
      const args = this.#arguments(brackets.memberCall);
      return Array.isArray(args) ? this.#call(id, name.text, operand, args) : args;
    }
    if (name.kind === 'ESC_IDENTIFIER') this.#error("unsupported syntax: '`'", name.start);
    if (!optional) return this.#nodes.make(dot.start, { kind: 'select', operand, field: name.text, testOnly: false });
    if (!this.#optionalSyntax) return this.#error("unsupported syntax '.?'", dot.start);
    const field = this.#nodes.make(name.start, { kind: 'literal', value: name.text });
    return this.#nodes.make(dot.start, { kind: 'call', function: operators.optSelect, target: undefined, args: [operand, field] });
  }

  #noSelection(dot: Token, name: Token, optional: boolean, wasRecovering: boolean): Expr {
    const keyword = name.kind === 'true' || name.kind === 'false' || name.kind === 'null';
    if (keyword) this.#syntaxError(`mismatched input '${name.text}' expecting IDENTIFIER`);
    else if (optional) {
      this.#syntaxError(`mismatched input ${shown(name)} expecting {IDENTIFIER, ESC_IDENTIFIER}`);
      this.#error(noIdentifier, name.start);
      return this.#recover();
    } else return this.#nothingAfterDot(dot, name, wasRecovering);
    return this.#recover('member');
  }

  /** Upstream looks ahead before it consumes the dot, so a recovery that continues does not end at the dot. */
  #nothingAfterDot(dot: Token, name: Token, wasRecovering: boolean): Expr {
    this.#recovering = wasRecovering;
    this.#syntaxError(`no viable alternative at input '${this.#textBetween(dot.start, name)}'`);
    return this.#recover('member');
  }

  #indexing(operand: Expr): Expr {
    this.#deepen('member');
    const open = this.#next();
    const optional = this.#accept('?');
    const id = this.#nodes.id(open.start);
    const index = this.#bracketed(brackets.index, () => this.#expr(optional ? operandStart : entryStart));
    if (optional && !this.#optionalSyntax) return this.#error("unsupported syntax '[?'", open.start);
    return this.#call(id, optional ? operators.optIndex : operators.index, undefined, [operand, index]);
  }

  /** Parses the content before a closing token and consumes the token. */
  #bracketed<T>(closer: Closer, parse: () => T): T {
    this.#closers.push(closer);
    const result = parse();
    this.#closers.pop();
    if (this.#unended) {
      this.#unended = false;
      this.#recover();
    } else if (!this.#expect(closer.kind)) this.#recover(closer.isPrimary ? 'primary' : 'member');
    return result;
  }

  /** Parses arguments after the opening parenthesis; a placeholder for the whole call if none can start. */
  #arguments(closer: Closer): Expr[] | Expr {
    const none = this.#checkStart([...operandStart, ')']);
    if (none) return none;
    return this.#bracketed(closer, () => {
      const args: Expr[] = [];
      if (this.#token.kind === ')') return args;
      args.push(this.#expr(operandStart));
      while (this.#accept(',')) args.push(this.#expr(operandStart));
      return args;
    });
  }

  #primary(): Expr {
    const token = this.#token;
    switch (token.kind) {
      case '(':
        this.#next();
        return this.#bracketed(brackets.nested, () => this.#expr(operandStart));
      case '[':
        return this.#list();
      case '{':
        return this.#map();
      case '.':
      case 'IDENTIFIER':
        return this.#named();
      default:
        return this.#literal();
    }
  }

  #named(): Expr {
    const first = this.#token;
    const wasRecovering = this.#recovering;
    const leadingDot = this.#accept('.') !== undefined;
    const name = this.#token;
    if (name.kind !== 'IDENTIFIER') return this.#nothingNamed(first, name, wasRecovering);
    const parts = this.#structName();
    if (parts > 0) return this.#struct(leadingDot, parts);
    this.#next();
    const prefix = leadingDot ? '.' : '';
    const open = this.#accept('(');
    if (reserved.has(name.text)) {
      if (open) this.#arguments(brackets.globalCall);
      return this.#error(`reserved identifier: ${name.text}`, first.start);
    }
    if (!open) return this.#nodes.make(name.start, { kind: 'ident', name: prefix + name.text });
    const id = this.#nodes.id(open.start);
    const args = this.#arguments(brackets.globalCall);
    return Array.isArray(args) ? this.#call(id, prefix + name.text, undefined, args) : args;
  }

  /** Upstream leaves a dot that nothing can follow; before a question mark, it is taken for a selection then. */
  #nothingNamed(dot: Token, name: Token, wasRecovering: boolean): Expr {
    if (name.kind !== '?') return this.#nothingAfterDot(dot, name, wasRecovering);
    this.#recovering = wasRecovering;
    this.#syntaxError(`no viable alternative at input '${this.#textBetween(dot.start, name)}'`);
    this.#recoveries++;
    this.#at--;
    return this.#nodes.make(dot.start, { kind: 'unspecified' });
  }

  /** Returns the number of identifiers of the struct name at this position; 0 if there is none. */
  #structName(): number {
    for (let ahead = 0; ; ahead += 2) {
      if (this.#peek(ahead).kind !== 'IDENTIFIER') return 0;
      const { kind } = this.#peek(ahead + 1);
      if (kind === '{') return ahead / 2 + 1;
      if (kind !== '.') return 0;
    }
  }

  #struct(leadingDot: boolean, parts: number): Expr {
    const names: string[] = [];
    for (let i = 0; i < parts; i++) {
      names.push(this.#next().text);
      if (i < parts - 1) this.#next();
    }
    const id = this.#nodes.id(this.#next().start);
    const none = this.#checkStart([...fieldStart, '}', ',']);
    if (none) return none;
    const fields = this.#bracketed(brackets.map, () => this.#entries(() => this.#structField(), fieldStart));
    return { id, node: { kind: 'struct', typeName: (leadingDot ? '.' : '') + names.join('.'), fields } };
  }

  #structField(): StructField {
    const { start } = this.#token;
    const optional = this.#optionalMark();
    const name = this.#token;
    if (name.kind === 'ESC_IDENTIFIER') {
      this.#next();
      this.#error("unsupported syntax: '`'", name.start);
    } else {
      this.#closers.push(brackets.colon);
      this.#require('IDENTIFIER', 'ESC_IDENTIFIER');
      this.#closers.pop();
    }
    const id = this.#nodes.id(this.#token.start);
    if (!this.#expect(':')) return { id, name: name.text, value: this.#abandonEntries(), optional };
    if (optional && !isName(name.kind)) this.#error(noIdentifier, start);
    return { id, name: name.text, value: this.#expr(operandStart), optional };
  }

  /** Parses entries separated by commas, with an optional trailing comma, after which only `start` begins an entry. */
  #entries<T>(entry: () => T, start: readonly TokenKind[]): T[] {
    const entries: T[] = [];
    const closer = this.#closers.at(-1)!.kind;
    const ends = [closer, ','] as const;
    if (this.#accept(',')) return entries;
    while (this.#token.kind !== closer) {
      entries.push(entry());
      if (this.#abandoned) {
        this.#abandoned = false;
        this.#accept(',');
        break;
      }
      if (!ends.includes(this.#token.kind) && ends.includes(this.#peek(1).kind) && this.#token.kind !== '<EOF>') {
        this.#dropExtraneous(ends);
        this.#accept(',');
        break;
      }
      if (this.#accept(',')) {
        if (start.includes(this.#token.kind)) continue;
      } else if (this.#token.kind !== closer) {
        this.#syntaxError(`mismatched input ${shown(this.#token)} expecting ${expectation(ends)}`);
        this.#unended = true;
      }
      break;
    }
    return entries;
  }

  /** Leaves the list of entries, whose rule upstream leaves where an entry has no colon. */
  #abandonEntries(): Expr {
    this.#abandoned = true;
    return this.#recover();
  }

  /** Drops a token before an expected one. */
  #dropExtraneous(expected: readonly TokenKind[]): void {
    this.#recoveries++;
    this.#syntaxError(`extraneous input ${shown(this.#token)} expecting ${expectation(expected)}`);
    this.#at++;
  }

  #optionalMark(): boolean {
    const mark = this.#accept('?');
    if (mark && !this.#optionalSyntax) this.#error("unsupported syntax '?'", mark.start);
    return mark !== undefined;
  }

  #list(): Expr {
    const id = this.#nodes.id(this.#next().start);
    const none = this.#checkStart([...operandStart, ']', ',', '?']);
    if (none) return none;
    const optionals = new Set<number>();
    let index = 0;
    const elements = this.#bracketed(brackets.list, () =>
      this.#entries(() => {
        const optional = this.#optionalMark();
        if (optional) optionals.add(index);
        index++;
        return this.#expr(optional ? operandStart : entryStart);
      }, entryStart),
    );
    const node: List = { kind: 'list', elements, optionals };
    return { id, node };
  }

  #map(): Expr {
    const id = this.#nodes.id(this.#next().start);
    const none = this.#checkStart([...operandStart, '}', ',', '?']);
    if (none) return none;
    const entries = this.#bracketed(brackets.map, () =>
      this.#entries((): MapEntry => {
        const optional = this.#optionalMark();
        this.#closers.push(brackets.colon);
        const key = this.#expr(optional ? operandStart : entryStart);
        this.#closers.pop();
        const entryId = this.#nodes.id(this.#token.start);
        if (!this.#expect(':')) return { id: entryId, key, value: this.#abandonEntries(), optional };
        return { id: entryId, key, value: this.#expr(operandStart), optional };
      }, entryStart),
    );
    return { id, node: { kind: 'map', entries } };
  }

  #literal(): Expr {
    const start = this.#token.start;
    if (this.#token.kind === '-' && !isNumber(this.#peek(1).kind)) {
      const follower = this.#peek(1);
      this.#syntaxError(`no viable alternative at input '${this.#textBetween(start, follower)}'`, follower.start);
      return this.#recover();
    }
    const sign = this.#accept('-') ? '-' : '';
    const token = this.#next();
    const value = literalValue(sign, token);
    if (value instanceof LiteralError) return this.#error(value.message, start);
    return this.#nodes.make(start, { kind: 'literal', value });
  }

  #call(id: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const macro = this.#macros.get(macroKey(name, args.length, target !== undefined));
    const offset = this.#nodes.offsets.get(id)!;
    if (macro) {
      try {
        const expanded = macro.expand(new MacroFactory(this.#nodes, offset), target, args);
        if (expanded) return expanded;
      } catch (error) {
        if (!(error instanceof MacroError)) throw error;
        return this.#error(error.message, error.offset);
      }
    }
    return { id, node: { kind: 'call', function: name, target, args } };
  }
}

function macroKey(name: string, argCount: number, receiver: boolean): string {
  return `${name}:${argCount}:${receiver}`;
}

function isName(kind: TokenKind): boolean {
  return kind === 'IDENTIFIER' || kind === 'ESC_IDENTIFIER';
}

function isNumber(kind: TokenKind): boolean {
  return kind === 'NUM_INT' || kind === 'NUM_FLOAT';
}

function shown(token: Token): string {
  return `'${token.text}'`;
}

function expectation(kinds: readonly TokenKind[]): string {
  const names = tokenOrder.filter((kind) => kinds.includes(kind)).map((kind) => (/^[A-Z]/.test(kind) ? kind : `'${kind}'`));
  if (names.length === 0) return '<EOF>';
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}

/** A literal that is grammatical but out of range. */
class LiteralError {
  constructor(readonly message: string) {}
}

function literalValue(sign: string, { kind, text }: Token): Value | LiteralError {
  switch (kind) {
    case 'NUM_INT':
      return intValue(BigInt(text) * (sign === '-' ? -1n : 1n)) ?? new LiteralError('invalid int literal');
    case 'NUM_UINT': {
      const value = BigInt(text.slice(0, -1));
      return value <= 0xffff_ffff_ffff_ffffn ? new Uint(value) : new LiteralError('invalid uint literal');
    }
    case 'NUM_FLOAT': {
      const value = Number(sign + text);
      return Number.isFinite(value) ? new Double(value) : new LiteralError('invalid double literal');
    }
    case 'true':
      return true;
    case 'false':
      return false;
    case 'null':
      return null;
    default:
      return textValue(kind, text);
  }
}

function textValue(kind: TokenKind, text: string): Value | LiteralError {
  try {
    return kind === 'BYTES' ? unescapeBytes(text.slice(1)) : unescapeString(text);
  } catch (error) {
    if (error instanceof UnescapeError) return new LiteralError(error.message);
    throw error;
  }
}
