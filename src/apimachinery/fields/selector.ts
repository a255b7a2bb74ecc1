/** Field selectors: `metadata.name=a,status.phase!=Running`. Upstream: apimachinery/pkg/fields/selector.go. */
import { compareUtf8 } from '../runtime/json/json.ts';
import { sortedSteps } from '../runtime/sorting.ts';
import { atOnce, type Steps } from '../runtime/steps.ts';

/** No field selector. `message` is upstream's. */
export class FieldSelectorError extends Error {
  override readonly name = 'FieldSelectorError';
}

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** The selectable fields of an object. A field that is not there counts as ''. */
export type Fields = Readonly<Record<string, string>> | ReadonlyMap<string, string>;

function textOf(fields: Fields, field: string): string {
  if (fields instanceof Map) return (fields as ReadonlyMap<string, string>).get(field) ?? '';
  const record = fields as Readonly<Record<string, string>>;
  return (Object.hasOwn(record, field) ? record[field] : undefined) ?? '';
}

/** Selectors of more requirements are compiled before they match. */
const fewRequirements = 8;

/** Requirements by field, so that a match takes as long as there are fields, however many requirements there are. */
class CompiledRequirements {
  readonly #wanted = new Map<string, string>();
  readonly #refused = new Map<string, Set<string>>();
  /** True if a field must have two values. */
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

/** A conjunction of requirements. Immutable. */
export class FieldSelector {
  #compiled: CompiledRequirements | undefined;

  /** `nothing`: it matches no object. */
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

  /** Whether it matches everything. */
  isEmpty(): boolean {
    return !this.nothing && this.requirements.length === 0;
  }

  /** The one value that a field must have; undefined if the selector does not say. */
  requiresExactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  /**
   * The selector with each field and value replaced by what `fn` returns; a requirement of which both become '' is dropped. What `fn` throws goes to the
   * caller.
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
export const nothing = new FieldSelector([], true);

export function oneTermEqualSelector(field: string, value: string): FieldSelector {
  return new FieldSelector([{ field, operator: '=', value }]);
}

/** A value as it stands in the text of a selector: `\`, `,` and `=` with a backslash before. */
export function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

/** The reverse of `escapeValue`. Throws FieldSelectorError. */
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
    // Upstream prints the number of the character.
    else if (char === ',' || char === '=')
      throw new FieldSelectorError(`invalid field selector: unescaped character in value: ${char.codePointAt(0)}`);
    else value += char;
  }
  if (escaped) throw new FieldSelectorError('invalid field selector: invalid escape sequence: \\');
  return value;
}

/** Characters that are split, and terms that are read, in a step. */
const stepCharacters = 16_384;
const stepTerms = 512;

/** The terms between commas; an escaped comma belongs to its term. */
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

/** Parses the text form; '' is everything. Requirements are in the order of their texts, as upstream sorts them. Throws FieldSelectorError. */
export function parseFieldSelector(text: string): FieldSelector {
  return atOnce(parseFieldSelectorSteps(text));
}

/** `parseFieldSelector` in steps. */
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
    // A term of nothing but an operator says nothing.
    if (field !== '' || wanted !== '') requirements.push({ field, operator: operator === '!=' ? '!=' : '=', value: wanted });
  }
  return new FieldSelector(requirements);
}
