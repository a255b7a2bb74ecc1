/**
 * Recursive descent parser of CEL with the limits and error texts of upstream's generated parser. Upstream: cel-go
 * parser/parser.go, CEL.g4.
 */
import { type Ast, type Expr, type List, type MapEntry, operators, type StructField } from './ast.ts';
import type { Token, TokenKind } from './lexer.ts';
import { LiteralError, literalValue } from './literals.ts';
import type { Macro } from './macros.ts';
import { MacroError, MacroFactory, NodeFactory } from './node-factory.ts';
import { Issues, type Source } from './source.ts';
import { Abort, brackets, type Closer, TokenReader } from './token-reader.ts';
import { entryStart, fieldStart, isName, isNumber, memberStart, operandStart } from './token-sets.ts';

/** Maximum nesting of grammar rules; each link of a chain of selections or sums counts as one. */
const maxRecursionDepth = 250;
/** Maximum length of an expression in code points. */
const expressionSizeCodePointLimit = 100_000;
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

/** Upstream's error of a field whose name the parser has not found. */
const noIdentifier = 'unsupported ident kind';

class Parser {
  readonly #input: TokenReader;
  readonly #nodes = new NodeFactory();
  readonly #macros = new Map<string, Macro>();
  readonly #depths: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };
  /** True if the entries of a literal ended before their closing token. */
  #unended = false;
  /** True if an entry of a literal had no colon. */
  #abandoned = false;
  readonly #optionalSyntax: boolean;

  constructor(
    source: Source,
    options: ParserOptions,
    readonly issues: Issues,
  ) {
    for (const macro of options.macros) this.#macros.set(macroKey(macro.name, macro.argCount, macro.receiver), macro);
    this.#optionalSyntax = options.optionalSyntax;
    this.#input = new TokenReader(source.text, issues);
  }

  parse(): Ast | undefined {
    try {
      const expr = this.#expr(operandStart);
      this.#input.require('<EOF>');
      return { expr, offsets: this.#nodes.offsets };
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  get #token(): Token {
    return this.#input.token;
  }

  /** Skips to a possible end of an operand after an error. Returns a placeholder for the skipped text. */
  #recover(...rule: Parameters<TokenReader['recover']>): Expr {
    return this.#placeholder(this.#input.recover(...rule));
  }

  #placeholder(offset: number): Expr {
    return this.#nodes.make(offset, { kind: 'unspecified' });
  }

  /** Reports an error in grammatical text and continues. */
  #error(message: string, offset: number): Expr {
    this.issues.report(message, offset);
    return this.#placeholder(offset);
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
    const question = this.#input.accept('?');
    if (!question) {
      leave();
      return condition;
    }
    const id = this.#nodes.id(question.start);
    const then = this.#input.within(brackets.colon, () => this.#logical('||', operandStart));
    if (!this.#input.expect(':')) {
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
    for (let token = this.#input.accept(operator); token; token = this.#input.accept(operator)) {
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
      const id = this.#nodes.id(this.#input.next().start);
      const leave = this.#enter(rule);
      const right = operand(operandStart);
      leave();
      left = this.#call(id, name, undefined, [left, right]);
    }
    return left;
  }

  /** Drops one token that cannot start an operand if the next one can; otherwise returns a placeholder operand. */
  #checkStart(start: readonly TokenKind[]): Expr | undefined {
    if (start.includes(this.#token.kind) || this.#input.dropUnless(start)) return undefined;
    this.#input.reportMismatch(start);
    return this.#recover();
  }

  #unary(start: readonly TokenKind[]): Expr {
    const none = this.#checkStart(start);
    if (none) return none;
    const { kind } = this.#token;
    if (kind === '!') return this.#prefixed('!', operators.logicalNot);
    if (kind === '-' && !isNumber(this.#input.peek(1).kind)) return this.#signed();
    return this.#member();
  }

  /**
   * Parses an operand with signs. Upstream decides at each sign by looking ahead; where no operand follows, it leaves the last sign, which
   * is then taken for a subtraction.
   */
  #signed(): Expr {
    let signs = 1;
    while (this.#input.peek(signs).kind === '-') signs++;
    const follower = this.#input.peek(signs);
    if (memberStart.includes(follower.kind)) return this.#prefixed('-', operators.negate);
    const { start } = this.#token;
    for (let i = 1; i < signs; i++) this.#input.next();
    this.#input.reportNoAlternative(this.#token.start, follower, follower.start);
    this.#input.recoverInPlace();
    return this.#placeholder(start);
  }

  #prefixed(sign: '!' | '-', name: string): Expr {
    const first = this.#input.next();
    let count = 1;
    while (this.#input.accept(sign)) count++;
    if (!operandStart.includes(this.#token.kind)) this.#input.skipUnwanted(operandStart);
    const none = this.#checkStart(memberStart);
    if (none) return none;
    const id = count % 2 === 1 ? this.#nodes.id(first.start) : 0;
    const operand = this.#member();
    return id === 0 ? operand : this.#call(id, name, undefined, [operand]);
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
    const wasRecovering = this.#input.isRecovering;
    const dot = this.#input.next();
    const optional = this.#input.accept('?');
    if (optional) this.#input.dropUnless(fieldStart.slice(1));
    const name = this.#token;
    if (!isName(name.kind)) {
      const none = this.#noSelection(dot, name, optional !== undefined, wasRecovering);
      return this.#nodes.make(this.#nodes.offsets.get(operand.id) ?? dot.start, none.node);
    }
    this.#input.next();
    if (!optional && name.kind === 'IDENTIFIER' && this.#token.kind === '(') {
      const open = this.#input.next();
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
    if (keyword) this.#input.report(`mismatched input '${name.text}' expecting IDENTIFIER`);
    else if (optional) {
      this.#input.reportMismatch(fieldStart.slice(1));
      this.#error(noIdentifier, name.start);
      return this.#recover();
    } else return this.#nothingAfterDot(dot, name, wasRecovering);
    return this.#recover('member');
  }

  /** Upstream looks ahead before it consumes the dot, so a recovery that continues does not end at the dot. */
  #nothingAfterDot(dot: Token, name: Token, wasRecovering: boolean): Expr {
    this.#input.isRecovering = wasRecovering;
    this.#input.reportNoAlternative(dot.start, name);
    return this.#recover('member');
  }

  #indexing(operand: Expr): Expr {
    this.#deepen('member');
    const open = this.#input.next();
    const optional = this.#input.accept('?');
    const id = this.#nodes.id(open.start);
    const index = this.#bracketed(brackets.index, () => this.#expr(optional ? operandStart : entryStart));
    if (optional && !this.#optionalSyntax) return this.#error("unsupported syntax '[?'", open.start);
    return this.#call(id, optional ? operators.optIndex : operators.index, undefined, [operand, index]);
  }

  /** Parses the content before a closing token and consumes the token. */
  #bracketed<T>(closer: Closer, parse: () => T): T {
    const result = this.#input.within(closer, parse);
    if (this.#unended) {
      this.#unended = false;
      this.#recover();
    } else if (!this.#input.expect(closer.kind)) this.#recover(closer.isPrimary ? 'primary' : 'member');
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
      while (this.#input.accept(',')) args.push(this.#expr(operandStart));
      return args;
    });
  }

  #primary(): Expr {
    const token = this.#token;
    switch (token.kind) {
      case '(':
        this.#input.next();
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
    const wasRecovering = this.#input.isRecovering;
    const leadingDot = this.#input.accept('.') !== undefined;
    const name = this.#token;
    if (name.kind !== 'IDENTIFIER') return this.#nothingNamed(first, name, wasRecovering);
    const parts = this.#structName();
    if (parts > 0) return this.#struct(leadingDot, parts);
    this.#input.next();
    const prefix = leadingDot ? '.' : '';
    const open = this.#input.accept('(');
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
    this.#input.isRecovering = wasRecovering;
    this.#input.reportNoAlternative(dot.start, name);
    this.#input.recoverInPlace();
    this.#input.unread();
    return this.#placeholder(dot.start);
  }

  /** Returns the number of identifiers of the struct name at this position; 0 if there is none. */
  #structName(): number {
    for (let ahead = 0; ; ahead += 2) {
      if (this.#input.peek(ahead).kind !== 'IDENTIFIER') return 0;
      const { kind } = this.#input.peek(ahead + 1);
      if (kind === '{') return ahead / 2 + 1;
      if (kind !== '.') return 0;
    }
  }

  #struct(leadingDot: boolean, parts: number): Expr {
    const names: string[] = [];
    for (let i = 0; i < parts; i++) {
      names.push(this.#input.next().text);
      if (i < parts - 1) this.#input.next();
    }
    const id = this.#nodes.id(this.#input.next().start);
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
      this.#input.next();
      this.#error("unsupported syntax: '`'", name.start);
    } else {
      this.#input.within(brackets.colon, () => this.#input.require('IDENTIFIER', 'ESC_IDENTIFIER'));
    }
    const id = this.#nodes.id(this.#token.start);
    if (!this.#input.expect(':')) return { id, name: name.text, value: this.#abandonEntries(), optional };
    if (optional && !isName(name.kind)) this.#error(noIdentifier, start);
    return { id, name: name.text, value: this.#expr(operandStart), optional };
  }

  /** Parses entries separated by commas, with an optional trailing comma, after which only `start` begins an entry. */
  #entries<T>(entry: () => T, start: readonly TokenKind[]): T[] {
    const entries: T[] = [];
    const closer = this.#input.closer.kind;
    const ends = [closer, ','] as const;
    if (this.#input.accept(',')) return entries;
    while (this.#token.kind !== closer) {
      entries.push(entry());
      if (this.#abandoned) {
        this.#abandoned = false;
        this.#input.accept(',');
        break;
      }
      if (this.#input.dropUnless(ends)) {
        this.#input.accept(',');
        break;
      }
      if (this.#input.accept(',')) {
        if (start.includes(this.#token.kind)) continue;
      } else if (this.#token.kind !== closer) {
        this.#input.reportMismatch(ends);
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

  #optionalMark(): boolean {
    const mark = this.#input.accept('?');
    if (mark && !this.#optionalSyntax) this.#error("unsupported syntax '?'", mark.start);
    return mark !== undefined;
  }

  #list(): Expr {
    const id = this.#nodes.id(this.#input.next().start);
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
    const id = this.#nodes.id(this.#input.next().start);
    const none = this.#checkStart([...operandStart, '}', ',', '?']);
    if (none) return none;
    const entries = this.#bracketed(brackets.map, () =>
      this.#entries((): MapEntry => {
        const optional = this.#optionalMark();
        const key = this.#input.within(brackets.colon, () => this.#expr(optional ? operandStart : entryStart));
        const entryId = this.#nodes.id(this.#token.start);
        if (!this.#input.expect(':')) return { id: entryId, key, value: this.#abandonEntries(), optional };
        return { id: entryId, key, value: this.#expr(operandStart), optional };
      }, entryStart),
    );
    return { id, node: { kind: 'map', entries } };
  }

  #literal(): Expr {
    const start = this.#token.start;
    if (this.#token.kind === '-' && !isNumber(this.#input.peek(1).kind)) {
      const follower = this.#input.peek(1);
      this.#input.reportNoAlternative(start, follower, follower.start);
      return this.#recover();
    }
    const sign = this.#input.accept('-') ? '-' : '';
    const token = this.#input.next();
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
