/** Label selectors: `app=web,tier in (a,b),!canary`. Upstream: apimachinery/pkg/labels/selector.go, metav1.LabelSelectorAsSelector. */
import { compareUtf8 } from '../runtime/json/json.ts';
import { quote } from '../runtime/quote.ts';
import { inOrder, sortedSteps } from '../runtime/sorting.ts';
import { atOnce, type Steps } from '../runtime/steps.ts';
import { type FieldError, type Path, aggregate, fieldPath, invalid, notSupported } from '../validation/field.ts';
import { isQualifiedName, isValidLabelValue } from '../validation/names.ts';

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

/** Error for a malformed label selector. `message` is upstream's. */
export class LabelSelectorError extends Error {
  override readonly name = 'LabelSelectorError';
}

/** metav1.LabelSelector. */
export interface LabelSelectorSource {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirementSource[] | undefined;
}

export interface LabelSelectorRequirementSource {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export type Labels = Readonly<Record<string, string>>;

const binaryOperators = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];
const operators = [...binaryOperators, 'exists', '!'];

/**
 * Number of matches after which many values are indexed: most selectors match a few times, and an index costs as much as dozens of matches.
 */
const matchesBeforeIndex = 24;
/** Number of values that are compared as fast as they are looked up in a set. */
const fewValues = 8;

/** One requirement. Its values are in the given order. */
export class LabelRequirement {
  /** The values, if they are many and often compared. */
  #index: ReadonlySet<string> | undefined;
  #matches = 0;
  /** The bound of `gt` and `lt`. */
  readonly #bound: bigint | undefined;

  constructor(
    readonly key: string,
    readonly operator: LabelOperator,
    readonly values: readonly string[],
  ) {
    this.#bound = operator === 'gt' || operator === 'lt' ? parseInt64(values[0] ?? '') : undefined;
  }

  matches(labels: Labels | undefined): boolean {
    const value = labels !== undefined && Object.hasOwn(labels, this.key) ? labels[this.key] : undefined;
    switch (this.operator) {
      case 'in':
      case '=':
      case '==':
        return value !== undefined && this.#hasValue(value);
      case 'notin':
      case '!=':
        return value === undefined || !this.#hasValue(value);
      case 'exists':
        return value !== undefined;
      case '!':
        return value === undefined;
      case 'gt':
      case 'lt': {
        const number = value === undefined ? undefined : parseInt64(value);
        if (number === undefined || this.#bound === undefined) return false;
        return this.operator === 'gt' ? number > this.#bound : number < this.#bound;
      }
    }
  }

  #hasValue(value: string): boolean {
    if (this.#index) return this.#index.has(value);
    if (this.values.length > fewValues && ++this.#matches > matchesBeforeIndex) this.#index = new Set(this.values);
    return this.values.includes(value);
  }

  toString(): string {
    const { key, operator } = this;
    const values = this.values.length > 1 ? inOrder([...this.values], compareUtf8).join(',') : (this.values[0] ?? '');
    switch (operator) {
      case 'exists':
        return key;
      case '!':
        return `!${key}`;
      case 'in':
      case 'notin':
        return `${key} ${operator} (${values})`;
      case 'gt':
        return `${key}>${values}`;
      case 'lt':
        return `${key}<${values}`;
      default:
        return `${key}${operator}${values}`;
    }
  }
}

/** Selectors with more requirements are compiled when they are used often. */
const fewRequirements = 8;
/**
 * Number of evaluations of each requirement, on average, after which a selector is compiled: this takes as long as a few whole matches,
 * which most selectors with many requirements never have, as the first ones exclude the object.
 */
const evaluationsBeforeCompilation = 2;

/** Values that a label must have; an undefined part is not restricted. */
interface WantedValues {
  readonly allowed: ReadonlySet<string> | undefined;
  readonly above: bigint | undefined;
  readonly below: bigint | undefined;
}

/**
 * Requirements by label, so that a match takes time linear in the number of labels, not of requirements: `a!=1,a!=2,b in (x,y),b in (y,z)`
 * excludes the values 1 and 2 of `a`, and requires `b` to be y.
 */
class CompiledRequirements {
  readonly #wanted = new Map<string, WantedValues>();
  /** Excluded values by label; undefined if the label must be absent. */
  readonly #refused = new Map<string, Set<string> | undefined>();

  constructor(requirements: readonly LabelRequirement[]) {
    for (const requirement of requirements) this.#add(requirement);
  }

  matches(labels: Labels): boolean {
    const keys = Object.keys(labels);
    if (this.#wanted.size > keys.length) return false;
    for (const key of keys) {
      if (!this.#refused.has(key)) continue;
      const values = this.#refused.get(key);
      if (!values || values.has(labels[key]!)) return false;
    }
    for (const [key, wanted] of this.#wanted) if (!Object.hasOwn(labels, key) || !isWanted(labels[key]!, wanted)) return false;
    return true;
  }

  #add({ key, operator, values }: LabelRequirement): void {
    switch (operator) {
      case '!':
        this.#refused.set(key, undefined);
        return;
      case 'notin':
      case '!=':
        return this.#refuse(key, values);
      default:
        this.#wanted.set(key, narrower(this.#wanted.get(key), operator, values));
    }
  }

  #refuse(key: string, values: readonly string[]): void {
    const refused = this.#refused.get(key);
    if (refused) for (const value of values) refused.add(value);
    else if (!this.#refused.has(key)) this.#refused.set(key, new Set(values));
  }
}

const anyValue: WantedValues = { allowed: undefined, above: undefined, below: undefined };

function narrower(wanted: WantedValues = anyValue, operator: LabelOperator, values: readonly string[]): WantedValues {
  switch (operator) {
    case 'gt':
    case 'lt': {
      const bound = parseInt64(values[0] ?? '');
      if (bound === undefined) return { ...wanted, allowed: new Set() };
      if (operator === 'gt') return wanted.above !== undefined && wanted.above >= bound ? wanted : { ...wanted, above: bound };
      return wanted.below !== undefined && wanted.below <= bound ? wanted : { ...wanted, below: bound };
    }
    case 'exists':
      return wanted;
    default:
      return { ...wanted, allowed: new Set(wanted.allowed ? values.filter((value) => wanted.allowed!.has(value)) : values) };
  }
}

function isWanted(value: string, { allowed, above, below }: WantedValues): boolean {
  if (allowed && !allowed.has(value)) return false;
  if (above === undefined && below === undefined) return true;
  const number = parseInt64(value);
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below);
}

/** An immutable conjunction of requirements, sorted by key. */
export class LabelSelector {
  #compiled: CompiledRequirements | undefined;
  /** Number of requirements evaluated so far. */
  #evaluated = 0;

  /** `nothing` makes a selector without requirements that matches no object. */
  constructor(
    readonly requirements: readonly LabelRequirement[],
    readonly nothing = false,
  ) {}

  matches(labels: Labels | undefined): boolean {
    if (this.nothing) return false;
    if (this.#compiled) return this.#compiled.matches(labels ?? {});
    const { length } = this.requirements;
    if (length > fewRequirements && this.#evaluated > evaluationsBeforeCompilation * length) {
      this.#compiled = new CompiledRequirements(this.requirements);
      return this.#compiled.matches(labels ?? {});
    }
    const failing = this.requirements.findIndex((requirement) => !requirement.matches(labels));
    this.#evaluated += failing < 0 ? length : failing + 1;
    return failing < 0;
  }

  /** True if it matches everything. */
  isEmpty(): boolean {
    return !this.nothing && this.requirements.length === 0;
  }

  /** Returns the only value of a label that matches; undefined if there is no such restriction. */
  requiresExactMatch(key: string): string | undefined {
    const first = this.requirements.find((requirement) => requirement.key === key);
    if (first?.values.length !== 1) return undefined;
    return first.operator === '=' || first.operator === '==' || first.operator === 'in' ? first.values[0] : undefined;
  }

  add(...more: LabelRequirement[]): LabelSelector {
    return this.nothing ? this : new LabelSelector(sortByKey([...this.requirements, ...more]));
  }

  toString(): string {
    return this.requirements.join(',');
  }
}

export const everything = new LabelSelector([]);
export const nothing = new LabelSelector([], true);

function compareKeys(a: LabelRequirement, b: LabelRequirement): number {
  return compareUtf8(a.key, b.key);
}

function sortByKey(requirements: LabelRequirement[]): LabelRequirement[] {
  return requirements.sort(compareKeys);
}

/** strconv.ParseInt(text, 10, 64). */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text) || text.length > 400) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value === BigInt.asIntN(64, value) ? value : undefined;
}

function child(path: Path | undefined, name: string): Path {
  return path ? path.child(name) : fieldPath(name);
}

const none: readonly never[] = [];
/** Number of values, and of requirements, between two yields. */
const stepValues = 512;
const stepRequirements = 128;

/** Returns a validated requirement. Throws LabelSelectorError with the aggregated field errors. */
export function newRequirement(key: string, operator: string, values: readonly string[], path?: Path): LabelRequirement {
  const check = new RequirementCheck(key, operator, values, path);
  check.checkValues(0, values.length);
  return check.result();
}

function* newRequirementSteps(key: string, operator: string, values: readonly string[], path?: Path): Steps<LabelRequirement> {
  const check = new RequirementCheck(key, operator, values, path);
  for (let at = 0; at < values.length; at += stepValues) {
    check.checkValues(at, Math.min(values.length, at + stepValues));
    yield;
  }
  return check.result();
}

/** Validation of a requirement. It makes nothing for a valid one: there may be 100,000 in a selector. */
class RequirementCheck {
  readonly #key: string;
  readonly #operator: string;
  readonly #values: readonly string[];
  readonly #path: Path | undefined;
  #errors: FieldError[] | undefined;

  constructor(key: string, operator: string, values: readonly string[], path: Path | undefined) {
    this.#key = key;
    this.#operator = operator;
    this.#values = values;
    this.#path = path;
    const keyError = labelKeyError(key, () => child(path, 'key'));
    if (keyError) this.#fail(keyError);
    for (const error of countErrors(operator, values, path)) this.#fail(error);
  }

  checkValues(from: number, to: number): void {
    for (let i = from; i < to; i += 1) {
      const value = this.#values[i]!;
      const messages = isValidLabelValue(value);
      if (messages.length === 0) continue;
      this.#fail(invalid(child(this.#path, 'values').index(i).key(this.#key), value, messages.join('; ')));
    }
  }

  result(): LabelRequirement {
    if (this.#errors) throw new LabelSelectorError(aggregate(this.#errors));
    return new LabelRequirement(this.#key, this.#operator as LabelOperator, this.#values);
  }

  #fail(error: FieldError): void {
    (this.#errors ??= []).push(error);
  }
}

/** Checks the number of the values, and the numbers in them. */
function countErrors(operator: string, values: readonly string[], path: Path | undefined): readonly FieldError[] {
  const invalidCount = (message: string): FieldError[] => [invalid(child(path, 'values'), values, message)];
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0 ? none : invalidCount("for 'in', 'notin' operators, values set can't be empty");
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? none : invalidCount('exact-match compatibility requires one single value');
    case 'exists':
    case '!':
      return values.length === 0 ? none : invalidCount('values set must be empty for exists and does not exist');
    case 'gt':
    case 'lt':
      return [
        ...(values.length === 1 ? none : invalidCount("for 'Gt', 'Lt' operators, exactly one value is required")),
        ...values.flatMap((value, i): readonly FieldError[] =>
          parseInt64(value) === undefined
            ? [invalid(child(path, 'values').index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer")]
            : none,
        ),
      ];
    default:
      return [notSupported(child(path, 'operator'), operator, operators)];
  }
}

function labelKeyError(key: string, path: () => Path | undefined): FieldError | undefined {
  const messages = isQualifiedName(key);
  return messages.length > 0 ? invalid(path(), key, messages.join('; ')) : undefined;
}

type TokenKind = ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(' | 'identifier' | 'end' | 'error';

interface Token {
  readonly kind: TokenKind;
  readonly literal: string;
}

const end: Token = { kind: 'end', literal: '' };

function symbolsOf(...literals: TokenKind[]): ReadonlyMap<string, Token> {
  return new Map(literals.map((literal) => [literal, { kind: literal, literal }]));
}

const singles = symbolsOf(')', ',', '!', '=', '>', '<', '(');
const pairs = symbolsOf('==', '!=');

/** Lexer of selectors. */
class Lexer {
  readonly #source: string;
  readonly #tokens = /[=!(),><]|[^=!(),>< \t\r\n]+/g;

  constructor(text: string) {
    // Upstream's lexer ends at a NUL.
    this.#source = text.split('\0', 1)[0]!;
  }

  /**
   * Returns the next token; at the end, always `end`. As in upstream's lexer, the longest symbol in a run of special characters matches.
   */
  next(): Token {
    const from = this.#tokens.lastIndex;
    const literal = this.#tokens.exec(this.#source)?.[0];
    if (literal === undefined) {
      this.#tokens.lastIndex = from;
      return end;
    }
    if (literal === 'in' || literal === 'notin') return { kind: literal, literal };
    const symbol = singles.get(literal);
    if (!symbol) return { kind: 'identifier', literal };
    const pair = pairs.get(literal + this.#source.charAt(this.#tokens.lastIndex));
    if (pair) this.#tokens.lastIndex += 1;
    return pair ?? symbol;
  }
}

class Parser {
  readonly #lexer: Lexer;
  readonly #path: Path | undefined;
  #token: Token;

  constructor(text: string, path: Path | undefined) {
    this.#lexer = new Lexer(text);
    this.#path = path;
    this.#token = this.#lexer.next();
  }

  /** Reads a token without consuming it. Among values, `in` and `notin` are identifiers. */
  #look(): Token {
    const token = this.#token;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', literal: token.literal } : token;
  }

  #take(): Token {
    const token = this.#look();
    this.#token = this.#lexer.next();
    return token;
  }

  #takeOperator(): Token {
    const token = this.#token;
    this.#token = this.#lexer.next();
    return token;
  }

  *parse(): Steps<LabelRequirement[]> {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      if (requirements.length % stepRequirements === stepRequirements - 1) yield;
      const { kind, literal } = this.#look();
      if (kind === 'end') return requirements;
      if (kind !== 'identifier' && kind !== '!')
        throw new LabelSelectorError(`found '${literal}', expected: !, identifier, or 'end of string'`);
      requirements.push(yield* this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw new LabelSelectorError(`found '${next.literal}', expected: ',' or 'end of string'`);
      const after = this.#look();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new LabelSelectorError(`found '${after.literal}', expected: identifier after ','`);
      }
    }
  }

  *#requirement(): Steps<LabelRequirement> {
    try {
      return yield* this.#parseRequirement();
    } catch (error) {
      if (error instanceof LabelSelectorError) throw new LabelSelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  *#parseRequirement(): Steps<LabelRequirement> {
    let token = this.#take();
    const negated = token.kind === '!';
    if (negated) token = this.#take();
    if (token.kind !== 'identifier') throw new LabelSelectorError(`found '${token.literal}', expected: identifier`);
    const key = token.literal;
    const keyError = labelKeyError(key, () => this.#path);
    if (keyError) throw new LabelSelectorError(keyError.toString());
    const next = this.#look().kind;
    if (negated) return newRequirement(key, '!', [], this.#path);
    if (next === 'end' || next === ',') return newRequirement(key, 'exists', [], this.#path);
    const operator = this.#operator();
    if (operator !== 'in' && operator !== 'notin') return newRequirement(key, operator, [this.#exactValue()], this.#path);
    const values = yield* sortedSteps([...(yield* this.#values())], compareUtf8);
    return yield* newRequirementSteps(key, operator, values, this.#path);
  }

  #operator(): LabelOperator {
    const { kind, literal } = this.#takeOperator();
    switch (kind) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return kind;
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new LabelSelectorError(`found '${literal}', expected: ${binaryOperators.join(', ')}`);
    }
  }

  *#values(): Steps<Set<string>> {
    const open = this.#take();
    if (open.kind !== '(') throw new LabelSelectorError(`found '${open.literal}' expected: '('`);
    const first = this.#look();
    switch (first.kind) {
      case 'identifier':
      case ',': {
        const values = yield* this.#list();
        if (this.#take().kind !== ')') throw new LabelSelectorError(`found '${first.literal}', expected: ')'`);
        return values;
      }
      case ')':
        this.#take();
        return new Set(['']);
      default:
        throw new LabelSelectorError(`found '${first.literal}', expected: ',', ')' or identifier`);
    }
  }

  /** Parses comma-separated identifiers; a missing one is the empty value. */
  *#list(): Steps<Set<string>> {
    const values = new Set<string>();
    for (let taken = 1; ; taken++) {
      if (taken % stepValues === 0) yield;
      const { kind, literal } = this.#take();
      if (kind === 'identifier') {
        values.add(literal);
        const next = this.#look();
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw new LabelSelectorError(`found '${next.literal}', expected: ',' or ')'`);
      } else if (kind === ',') {
        if (values.size === 0) values.add('');
        const next = this.#look().kind;
        if (next === ')' || next === ',') values.add('');
        if (next === ')') return values;
      } else {
        throw new LabelSelectorError(`found '${literal}', expected: ',', or identifier`);
      }
    }
  }

  #exactValue(): string {
    const next = this.#look().kind;
    if (next === 'end' || next === ',') return '';
    const { kind, literal } = this.#take();
    if (kind === 'identifier') return literal;
    throw new LabelSelectorError(`found '${literal}', expected: identifier`);
  }
}

/** Parses a selector; '' matches everything. `path` is the prefix of field errors. Throws LabelSelectorError. */
export function parseSelector(text: string, path?: Path): LabelSelector {
  return atOnce(parseSelectorSteps(text, path));
}

/** Like `parseSelector`, but yields to the event loop. */
export function* parseSelectorSteps(text: string, path?: Path): Steps<LabelSelector> {
  if (text === '') return everything;
  const requirements = yield* new Parser(text, path).parse();
  return new LabelSelector(yield* sortedSteps(requirements, compareKeys));
}

/** Returns a selector for exactly these labels, without validation; without labels it matches everything. */
export function selectorFromSet(labels: Labels | undefined): LabelSelector {
  const requirements = Object.keys(labels ?? {}).map((key) => new LabelRequirement(key, '=', [labels![key]!]));
  return requirements.length === 0 ? everything : new LabelSelector(sortByKey(requirements));
}

const expressionOperators: Readonly<Record<string, LabelOperator>> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** Converts one of the `matchExpressions` of an API object. Throws LabelSelectorError. */
export function requirementOf({ key, operator, values }: LabelSelectorRequirementSource): LabelRequirement {
  const known = Object.hasOwn(expressionOperators, operator) ? expressionOperators[operator] : undefined;
  if (!known) throw new LabelSelectorError(`${quote(operator)} is not a valid label selector operator`);
  return newRequirement(key, known, values ?? []);
}

/** Converts the selector of an API object: an absent one matches nothing, an empty one everything. Throws LabelSelectorError. */
export function labelSelectorAsSelector(source: LabelSelectorSource | undefined | null): LabelSelector {
  if (!source) return nothing;
  const requirements: LabelRequirement[] = [];
  const { matchLabels = {} } = source;
  // `Object.entries` takes three times as long for 100,000 keys.
  for (const key of Object.keys(matchLabels)) requirements.push(newRequirement(key, '=', [matchLabels[key]!]));
  for (const expression of source.matchExpressions ?? []) requirements.push(requirementOf(expression));
  return requirements.length === 0 ? everything : new LabelSelector(sortByKey(requirements));
}
