/** Field selectors: `metadata.name=a,status.phase!=Running`. Upstream: apimachinery/pkg/fields/selector.go. */
import { compareUtf8 } from '../runtime/json/json.ts';
import { sortedSteps } from '../runtime/sorting.ts';
import { atOnce, type Steps } from '../runtime/steps.ts';

/** Error for a malformed field selector. `message` is upstream's. */
export class FieldSelectorError extends Error {
  override readonly name = 'FieldSelectorError';
}

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Selectable fields of an object. An absent field counts as ''. */
export type Fields = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

function textOf(fields: Fields, field: string): string {
  if (fields instanceof Map) return (fields as ReadonlyMap<string, string>).get(field) ?? '';
  const record = fields as Readonly<Record<string, string>>;
  return (Object.hasOwn(record, field) ? record[field] : undefined) ?? '';
}

/** Selectors with more requirements are compiled before the first match. */
const fewRequirements = 8;

/** Requirements by field, so that a match takes time linear in the number of fields, not of requirements. */
class CompiledRequirements {
  readonly #wanted = new Map<string, string>();
  readonly #refused = new Map<string, Set<string>>();
  /** True if a field must have two different values. */
  #isContradiction = false;

  constructor(requirements: readonly FieldRequirement[]) {
    for (const requirement of requirements) this.#add(requirement);
  }

  matches(fields: Fields): boolean {
    if (this.#isContradiction) return false;
    for (const [field, value] of this.#wanted) if (textOf(fields, field) !== value) return false;
    for (const [field, values] of this.#refused) if (values.has(textOf(fields, field))) return false;
    return true;
  }

  #add({ field, operator, value }: FieldRequirement): void {
    if (operator === '=') {
      this.#isContradiction ||= this.#wanted.has(field) && this.#wanted.get(field) !== value;
      this.#wanted.set(field, value);
      return;
    }
    const refused = this.#refused.get(field);
    if (refused) refused.add(value);
    else this.#refused.set(field, new Set([value]));
  }
}

/** An immutable conjunction of requirements. */
export class FieldSelector {
  #compiled: CompiledRequirements | undefined;

  /** `nothing` makes a selector that matches no object. */
  constructor(
    readonly requirements: readonly FieldRequirement[],
    readonly nothing = false,
  ) {}

  matches(fields: Fields): boolean {
    if (this.nothing) return false;
    if (this.requirements.length > fewRequirements) return (this.#compiled ??= new CompiledRequirements(this.requirements)).matches(fields);
    for (const { field, operator, value } of this.requirements) if ((textOf(fields, field) === value) !== (operator === '=')) return false;
    return true;
  }

  /** True if it matches everything. */
  isEmpty(): boolean {
    return !this.nothing && this.requirements.length === 0;
  }

  /** Returns the only value of a field that matches; undefined if there is no such restriction. */
  requiresExactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  /**
   * Returns the selector with each field and value replaced by the result of `fn`; a requirement whose field and value are both '' is
   * dropped. Exceptions of `fn` are passed on.
   */
  transform(fn: (field: string, value: string) => readonly [field: string, value: string]): FieldSelector {
    if (this.nothing) return this;
    const requirements: FieldRequirement[] = [];
    for (const { field, operator, value } of this.requirements) {
      const [newField, newValue] = fn(field, value);
      if (newField !== '' || newValue !== '') requirements.push({ field: newField, operator, value: newValue });
    }
    return new FieldSelector(requirements);
  }

  and(other: FieldSelector): FieldSelector {
    return new FieldSelector([...this.requirements, ...other.requirements], this.nothing || other.nothing);
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(',');
  }
}

export const everything = new FieldSelector([]);

/** Escapes `\`, `,` and `=` with a backslash. */
export function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** Reverses `escapeValue`. Throws FieldSelectorError. */
export function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  let escaped = false;
  for (const char of text) {
    if (escaped) {
      if (char !== '\\' && char !== ',' && char !== '=')
        throw new FieldSelectorError(`invalid field selector: invalid escape sequence: \\${char}`);
      value += char;
      escaped = false;
    } else if (char === '\\') escaped = true;
    // Upstream prints the character code.
    else if (char === ',' || char === '=')
      throw new FieldSelectorError(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`);
    else value += char;
  }
  if (escaped) throw new FieldSelectorError('invalid field selector: invalid escape sequence: \\');
  return value;
}

/** Number of characters to split, and of terms to parse, between two yields. */
const stepCharacters = 16_384;
const stepTerms = 512;

/** Splits terms at unescaped commas. */
function* splitTerms(text: string): Steps<string[]> {
  const terms: string[] = [];
  let start = 0;
  let pauseAt = stepCharacters;
  for (let i = 0; i < text.length; i++) {
    if (i > pauseAt) {
      yield;
      pauseAt = i + stepCharacters;
    }
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

/** Parses a selector; '' matches everything. Requirements are sorted by their texts, as upstream. Throws FieldSelectorError. */
export function parseFieldSelector(text: string): FieldSelector {
  return atOnce(parseFieldSelectorSteps(text));
}

/** Like `parseFieldSelector`, but yields to the event loop. */
export function* parseFieldSelectorSteps(text: string): Steps<FieldSelector> {
  if (text === '') return everything;
  const requirements: FieldRequirement[] = [];
  const terms = yield* sortedSteps(yield* splitTerms(text), compareUtf8);
  for (const [i, term] of terms.entries()) {
    if (i % stepTerms === stepTerms - 1) yield;
    if (term === '') continue;
    const match = /^([\s\S]*?)(!=|==|=)([\s\S]*)$/.exec(term);
    if (!match) throw new FieldSelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field, operator, value] = match as unknown as [string, string, string, string];
    const wanted = unescapeValue(value);
    // A term that consists of an operator is ignored.
    if (field !== '' || wanted !== '') requirements.push({ field, operator: operator === '!=' ? '!=' : '=', value: wanted });
  }
  return new FieldSelector(requirements);
}
