/** Label selectors: `app=web,tier in (a,b),!canary`. Upstream: apimachinery/pkg/labels/selector.go, metav1.LabelSelectorAsSelector. */
import { compareUtf8 } from '../runtime/json.ts';
import { quote } from '../runtime/quote.ts';
import { type FieldError, type Path, aggregate, fieldPath, invalid, notSupported } from '../validation/field.ts';
import { isQualifiedName, isValidLabelValue } from '../validation/names.ts';

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

/** No label selector. `message` is upstream's. */
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

/** One condition. Its values are as given, not sorted. */
export class LabelRequirement {
  readonly #values: ReadonlySet<string>;
  /** Of `gt` and `lt`. */
  readonly #bound: bigint | undefined;

  constructor(
    readonly key: string,
    readonly operator: LabelOperator,
    readonly values: readonly string[],
  ) {
    this.#values = new Set(values);
    this.#bound = operator === 'gt' || operator === 'lt' ? parseInt64(values[0] ?? '') : undefined;
  }

  matches(labels: Labels | undefined): boolean {
    const value = labels !== undefined && Object.hasOwn(labels, this.key) ? labels[this.key] : undefined;
    switch (this.operator) {
      case 'in':
      case '=':
      case '==':
        return value !== undefined && this.#values.has(value);
      case 'notin':
      case '!=':
        return value === undefined || !this.#values.has(value);
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

  toString(): string {
    const { key, operator } = this;
    const values = this.values.length > 1 ? [...this.values].sort(compareUtf8).join(',') : (this.values[0] ?? '');
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

/** A conjunction of requirements, sorted by key. Immutable. */
export class LabelSelector {
  /** `nothing`: it matches no object, whatever its requirements (which are none). */
  constructor(
    readonly requirements: readonly LabelRequirement[],
    readonly nothing = false,
  ) {}

  matches(labels: Labels | undefined): boolean {
    if (this.nothing) return false;
    for (const requirement of this.requirements) if (!requirement.matches(labels)) return false;
    return true;
  }

  /** Whether it matches everything. */
  isEmpty(): boolean {
    return !this.nothing && this.requirements.length === 0;
  }

  /** The one value that a label must have; undefined if the selector does not say. */
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

function sortByKey(requirements: LabelRequirement[]): LabelRequirement[] {
  return requirements.sort((a, b) => compareUtf8(a.key, b.key));
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

/** A requirement that is checked; throws LabelSelectorError with the aggregated field errors. */
export function newRequirement(key: string, operator: string, values: readonly string[], path?: Path): LabelRequirement {
  const errors: FieldError[] = [];
  const keyError = validateLabelKey(key, child(path, 'key'));
  if (keyError) errors.push(keyError);
  const valuesPath = child(path, 'values');
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length === 0) errors.push(invalid(valuesPath, values, "for 'in', 'notin' operators, values set can't be empty"));
      break;
    case '=':
    case '==':
    case '!=':
      if (values.length !== 1) errors.push(invalid(valuesPath, values, 'exact-match compatibility requires one single value'));
      break;
    case 'exists':
    case '!':
      if (values.length !== 0) errors.push(invalid(valuesPath, values, 'values set must be empty for exists and does not exist'));
      break;
    case 'gt':
    case 'lt':
      if (values.length !== 1) errors.push(invalid(valuesPath, values, "for 'Gt', 'Lt' operators, exactly one value is required"));
      for (const [i, value] of values.entries()) {
        if (parseInt64(value) === undefined)
          errors.push(invalid(valuesPath.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
    default:
      errors.push(notSupported(child(path, 'operator'), operator, operators));
  }
  for (const [i, value] of values.entries()) {
    const messages = isValidLabelValue(value);
    if (messages.length > 0) errors.push(invalid(valuesPath.index(i).key(key), value, messages.join('; ')));
  }
  if (errors.length > 0) throw new LabelSelectorError(aggregate(errors));
  return new LabelRequirement(key, operator as LabelOperator, values);
}

function validateLabelKey(key: string, path: Path | undefined): FieldError | undefined {
  const messages = isQualifiedName(key);
  return messages.length > 0 ? invalid(path, key, messages.join('; ')) : undefined;
}

type TokenKind = ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(' | 'identifier' | 'end' | 'error';

interface Token {
  readonly kind: TokenKind;
  readonly literal: string;
}

const symbols: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);

/** The longest symbol at the start of a run of special characters; upstream's lexer gives the same. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  // Upstream's lexer takes a NUL for the end.
  const source = text.split('\0', 1)[0]!;
  for (const [literal] of source.matchAll(/[=!(),><]+|[^=!(),>< \t\r\n]+/g)) {
    if (!/^[=!(),><]/.test(literal)) {
      tokens.push({ kind: literal === 'in' || literal === 'notin' ? literal : 'identifier', literal });
      continue;
    }
    for (let at = 0; at < literal.length; ) {
      const pair = literal.slice(at, at + 2);
      const symbol = symbols.has(pair) ? pair : literal[at]!;
      tokens.push({ kind: symbol as TokenKind, literal: symbol });
      at += symbol.length;
    }
  }
  tokens.push({ kind: 'end', literal: '' });
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #path: Path | undefined;
  #position = 0;

  constructor(text: string, path: Path | undefined) {
    this.#tokens = tokenize(text);
    this.#path = path;
  }

  /** Where values stand, `in` and `notin` are plain words. */
  #look(): Token {
    const token = this.#tokens[this.#position]!;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', literal: token.literal } : token;
  }

  #take(): Token {
    const token = this.#look();
    if (this.#position < this.#tokens.length - 1) this.#position++;
    return token;
  }

  #takeOperator(): Token {
    const token = this.#tokens[this.#position]!;
    if (this.#position < this.#tokens.length - 1) this.#position++;
    return token;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const { kind, literal } = this.#look();
      if (kind === 'end') return requirements;
      if (kind !== 'identifier' && kind !== '!')
        throw new LabelSelectorError(`found '${literal}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return requirements;
      if (next.kind !== ',') throw new LabelSelectorError(`found '${next.literal}', expected: ',' or 'end of string'`);
      const after = this.#look();
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new LabelSelectorError(`found '${after.literal}', expected: identifier after ','`);
      }
    }
  }

  #requirement(): LabelRequirement {
    try {
      return this.#parseRequirement();
    } catch (error) {
      if (error instanceof LabelSelectorError) throw new LabelSelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #parseRequirement(): LabelRequirement {
    let token = this.#take();
    const negated = token.kind === '!';
    if (negated) token = this.#take();
    if (token.kind !== 'identifier') throw new LabelSelectorError(`found '${token.literal}', expected: identifier`);
    const key = token.literal;
    const keyError = validateLabelKey(key, this.#path);
    if (keyError) throw new LabelSelectorError(keyError.toString());
    const next = this.#look().kind;
    if (negated) return newRequirement(key, '!', [], this.#path);
    if (next === 'end' || next === ',') return newRequirement(key, 'exists', [], this.#path);
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue();
    return newRequirement(key, operator, [...values].sort(compareUtf8), this.#path);
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

  #values(): Set<string> {
    const open = this.#take();
    if (open.kind !== '(') throw new LabelSelectorError(`found '${open.literal}' expected: '('`);
    const first = this.#look();
    switch (first.kind) {
      case 'identifier':
      case ',': {
        const values = this.#list();
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

  /** Identifiers between commas; an empty place is the empty value. */
  #list(): Set<string> {
    const values = new Set<string>();
    for (;;) {
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

  #exactValue(): Set<string> {
    const next = this.#look().kind;
    if (next === 'end' || next === ',') return new Set(['']);
    const { kind, literal } = this.#take();
    if (kind === 'identifier') return new Set([literal]);
    throw new LabelSelectorError(`found '${literal}', expected: identifier`);
  }
}

/** Parses the text form; '' is everything. Throws LabelSelectorError. `path` stands in front of field errors. */
export function parseSelector(text: string, path?: Path): LabelSelector {
  if (text === '') return everything;
  return new LabelSelector(sortByKey(new Parser(text, path).parse()));
}

/** A selector that asks for exactly these labels, unchecked; none of them is everything. */
export function selectorFromSet(labels: Labels | undefined): LabelSelector {
  const requirements = Object.keys(labels ?? {}).map((key) => new LabelRequirement(key, '=', [labels![key]!]));
  return requirements.length === 0 ? everything : new LabelSelector(sortByKey(requirements));
}

const expressionOperators: Readonly<Record<string, LabelOperator>> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** The selector of an API object: none at all matches nothing, an empty one everything. Throws LabelSelectorError. */
export function labelSelectorAsSelector(source: LabelSelectorSource | undefined | null): LabelSelector {
  if (!source) return nothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(source.matchLabels ?? {})) requirements.push(newRequirement(key, '=', [value]));
  for (const { key, operator, values } of source.matchExpressions ?? []) {
    const known = Object.hasOwn(expressionOperators, operator) ? expressionOperators[operator] : undefined;
    if (!known) throw new LabelSelectorError(`${quote(operator)} is not a valid label selector operator`);
    requirements.push(newRequirement(key, known, values ?? []));
  }
  return requirements.length === 0 ? everything : new LabelSelector(sortByKey(requirements));
}
