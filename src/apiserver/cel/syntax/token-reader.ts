import { type Token, type TokenKind, tokenize } from './lexer.ts';
import type { Issues } from './source.ts';
import { expectation, operandFollow, operandStart, shown } from './token-sets.ts';

/** Maximum number of recoveries from syntax errors. */
const maxRecoveries = 30;
/** Number of syntax errors after which parsing stops. */
const errorReportingLimit = 100;

/** Stops parsing after a reported error. */
export class Abort extends Error {}

/** The end of an open part of the expression. */
export interface Closer {
  readonly kind: TokenKind;
  /** True if a comma separates entries of the part. */
  readonly commas: boolean;
  /** True if the part belongs to upstream's rule of primary expressions, after which selections can follow. */
  readonly isPrimary: boolean;
}

export const brackets = {
  nested: { kind: ')', commas: false, isPrimary: true },
  list: { kind: ']', commas: true, isPrimary: true },
  map: { kind: '}', commas: true, isPrimary: true },
  globalCall: { kind: ')', commas: true, isPrimary: true },
  memberCall: { kind: ')', commas: true, isPrimary: false },
  index: { kind: ']', commas: false, isPrimary: false },
  colon: { kind: ':', commas: false, isPrimary: false },
} as const satisfies Readonly<Record<string, Closer>>;

/** Rules of the grammar after which a recovery ends at different tokens. */
type RecoveringRule = 'primary' | 'member' | 'expr';

/**
 * The tokens of an expression, read with the error recovery of upstream's generated parser. After an error, the parser continues at a token
 * that can follow the rule, or one of those around it; until it consumes one, further errors are consequences and not reported. Upstream:
 * antlr4, DefaultErrorStrategy; cel-go parser/parser.go, recoveryLimitErrorStrategy.
 */
export class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #text: string;
  readonly #unrecognized: { readonly from: number; readonly to: number }[] = [];
  /** Ends of the open parts, the innermost last. */
  readonly #closers: Closer[] = [{ kind: '<EOF>', commas: false, isPrimary: false }];
  #at = 0;
  #syntaxErrors = 0;
  #recoveries = 0;
  /** True if no token was consumed since the last error; further errors would be consequences of it. */
  isRecovering = false;

  constructor(
    text: string,
    private readonly issues: Issues,
  ) {
    this.#text = text;
    this.#tokens = tokenize(text, (offset, unrecognized) => {
      this.#unrecognized.push({ from: offset, to: offset + unrecognized.length });
      this.#reportUnlessTooMany(`token recognition error at: '${unrecognized}'`, offset);
    });
  }

  /** The current token. */
  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  /** The end of the innermost open part. */
  get closer(): Closer {
    return this.#closers.at(-1)!;
  }

  peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const { token } = this;
    if (this.#at < this.#tokens.length - 1) this.#at++;
    this.isRecovering = false;
    return token;
  }

  /** Returns to the token before the current one. */
  unread(): void {
    this.#at--;
  }

  accept(kind: TokenKind): Token | undefined {
    return this.token.kind === kind ? this.next() : undefined;
  }

  /** Parses a part that a token ends; does not consume the token. */
  within<T>(closer: Closer, parse: () => T): T {
    this.#closers.push(closer);
    const result = parse();
    this.#closers.pop();
    return result;
  }

  /**
   * Consumes a token of one of the kinds, with upstream's recovery: drops one extraneous token, or assumes one missing
   * token. Returns false, without a recovery, if there is none.
   */
  expect(...kinds: readonly [TokenKind, ...TokenKind[]]): boolean {
    const { kind } = this.token;
    if (kinds.includes(kind)) {
      this.next();
      return true;
    }
    if (this.#isFollowedBy(kinds)) {
      this.dropExtraneous(kinds);
      this.next();
      return true;
    }
    if (kinds.length === 1 && this.#canFollow(kinds[0], kind)) {
      this.recoverInPlace();
      this.report(`missing '${kinds[0]}' at ${shown(this.token)}`);
      return true;
    }
    this.reportMismatch(kinds);
    return false;
  }

  /** Like `expect`, but recovers from another token. */
  require(...kinds: readonly [TokenKind, ...TokenKind[]]): void {
    if (!this.expect(...kinds)) this.recover();
  }

  /** Drops one token that is not among those expected if the next one is. Returns true if it did. */
  dropUnless(expected: readonly TokenKind[]): boolean {
    if (expected.includes(this.token.kind) || !this.#isFollowedBy(expected)) return false;
    this.dropExtraneous(expected);
    return true;
  }

  /** Drops a token before an expected one. */
  dropExtraneous(expected: readonly TokenKind[]): void {
    this.recoverInPlace();
    this.#reportExtraneous(expected);
    this.#at++;
  }

  /** Skips tokens after a loop of the grammar, to one that is expected or ends an operand. */
  skipUnwanted(expected: readonly TokenKind[]): void {
    this.recoverInPlace();
    this.#reportExtraneous(expected);
    while (!expected.includes(this.token.kind) && !this.#ends('primary', this.token.kind)) this.#at++;
  }

  /** Skips to a possible end of a rule after an error. Returns the offset of the skipped text. */
  recover(rule: RecoveringRule = 'primary'): number {
    this.recoverInPlace();
    if (this.#recoveries > maxRecoveries) {
      this.isRecovering = false;
      this.report(`error recovery attempt limit exceeded: ${maxRecoveries}`);
      throw new Abort();
    }
    const { start } = this.token;
    while (!this.#ends(rule, this.token.kind)) this.#at++;
    return start;
  }

  /** Counts a recovery that skips nothing. */
  recoverInPlace(): void {
    this.#recoveries++;
  }

  reportMismatch(expected: readonly TokenKind[]): void {
    this.report(`mismatched input ${shown(this.token)} expecting ${expectation(expected)}`);
  }

  /** Reports that no rule fits the tokens from an offset to another token. */
  reportNoAlternative(from: number, last: Token, offset = this.token.start): void {
    this.report(`no viable alternative at input '${this.#textBetween(from, last)}'`, offset);
  }

  /** Reports a syntax error, unless it is a consequence of the one before. */
  report(message: string, offset = this.token.start): void {
    if (this.isRecovering) return;
    this.isRecovering = true;
    this.#reportUnlessTooMany(message, offset);
    if (this.#syntaxErrors > errorReportingLimit) throw new Abort();
  }

  #reportExtraneous(expected: readonly TokenKind[]): void {
    this.report(`extraneous input ${shown(this.token)} expecting ${expectation(expected)}`);
  }

  #reportUnlessTooMany(message: string, offset: number): void {
    this.#syntaxErrors++;
    if (this.#syntaxErrors <= errorReportingLimit) this.issues.report(`Syntax error: ${message}`, offset);
    else if (this.#syntaxErrors === errorReportingLimit + 1)
      this.issues.report(`Syntax error: More than ${errorReportingLimit} syntax errors`, offset);
  }

  #isFollowedBy(kinds: readonly TokenKind[]): boolean {
    return this.token.kind !== '<EOF>' && kinds.includes(this.peek(1).kind);
  }

  /** True if a token can follow a rule of the grammar, or one of those around it. */
  #ends(rule: RecoveringRule, kind: TokenKind): boolean {
    if (kind === '<EOF>') return true;
    if (this.#closers.some((closer) => closer.kind === kind || (kind === ',' && closer.commas))) return true;
    if (kind === '.' || kind === '[') return rule === 'primary' || this.#closers.some(({ isPrimary }) => isPrimary);
    return operandFollow.has(kind) && (rule !== 'expr' || this.#closers.length > 1);
  }

  /** True if a token can follow a missing one. */
  #canFollow(missing: TokenKind, kind: TokenKind): boolean {
    if (missing === ':') return operandStart.includes(kind);
    const { closer } = this;
    return missing !== '<EOF>' && (operandFollow.has(kind) || closer.kind === kind || (kind === ',' && closer.commas));
  }

  /** Returns the text of the tokens from one to another, with what is between them, as upstream quotes it. */
  #textBetween(from: number, { kind, start, text }: Token): string {
    const end = kind === '<EOF>' ? this.#text.length : start + text.length;
    let quoted = '';
    let at = from;
    for (const gap of this.#unrecognized) {
      if (gap.from < at || gap.to > end) continue;
      quoted += this.#text.slice(at, gap.from);
      at = gap.to;
    }
    return (quoted + this.#text.slice(at, end)).replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');
  }
}
