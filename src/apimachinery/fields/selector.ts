/** Field selectors: `metadata.name=a,status.phase!=Running`. Upstream: apimachinery/pkg/fields/selector.go. */
import { compareUtf8 } from '../runtime/json.ts';

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

/** A conjunction of requirements. Immutable. */
export class FieldSelector {
  /** `nothing`: it matches no object. */
  constructor(
    readonly requirements: readonly FieldRequirement[],
    readonly nothing = false,
  ) {}

  matches(fields: Fields): boolean {
    if (this.nothing) return false;
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

/** The terms between commas; an escaped comma belongs to its term. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
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
  if (text === '') return everything;
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort(compareUtf8)) {
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
