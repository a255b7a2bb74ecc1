/** String functions of the extension library. Positions count code points. Upstream: cel-go ext/strings.go, version 2. */
import { goEscapes } from '#apimachinery/runtime/quote';
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import { dynType, intType, listType, stringType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { display } from '../runtime/format.ts';
import { CelError, type CelList, type Int, textSize, type Value, ValueList } from '../runtime/values.ts';
import { formatText } from './text-format.ts';

function outOfRange(index: Int): CelError {
  return new CelError(`index out of range: ${index}`);
}

function charAt(text: string, index: Int): Value {
  if (index < 0 || index > textSize(text)) return outOfRange(index);
  const unit = unitOffset(text, index);
  return unit < text.length ? String.fromCodePoint(text.codePointAt(unit)!) : '';
}

/** Returns the UTF-16 offset of a code point index; the length of the text if it has fewer code points. */
function unitOffset(text: string, index: Int): number {
  let unit = 0;
  for (let i = 0; i < index && unit < text.length; i++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
  return unit;
}

function indexOf(text: string, part: string, offset: Int): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  const found = text.indexOf(part, unitOffset(text, offset));
  return found < 0 ? -1 : textSize(text.slice(0, found));
}

function lastIndexOf(text: string, part: string): Value {
  const size = textSize(text);
  if (part === '') return size;
  return size === 0 ? -1 : lastIndexOfBefore(text, part, size - 1);
}

function lastIndexOfBefore(text: string, part: string, offset: Int): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= textSize(text)) return -1;
  const found = text.lastIndexOf(part, unitOffset(text, offset));
  return found < 0 ? -1 : textSize(text.slice(0, found));
}

function replace(text: string, old: string, by: string, limit: Int): Value {
  if (limit < 0) return old === '' ? by + [...text].map((char) => char + by).join('') : text.replaceAll(old, () => by);
  return splitN(text, old, Number(limit) + 1, true).join(by);
}

/**
 * Splits into at most `count` parts, the last of which holds the rest; into all parts if negative. An empty separator splits
 * between all code points, with `edges` also at both ends.
 */
function splitN(text: string, separator: string, count: number, edges = false): string[] {
  if (count === 0) return [];
  let parts: string[];
  if (separator === '') {
    const chars = [...text];
    parts = edges ? ['', ...chars, ''] : chars;
  } else {
    parts = text.split(separator);
  }
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(separator)];
}

function substring(text: string, start: Int): Value {
  return start < 0 || start > textSize(text) ? outOfRange(start) : text.slice(unitOffset(text, start));
}

function substringRange(text: string, start: Int, end: Int): Value {
  if (start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  const size = textSize(text);
  if (start < 0 || start > size) return outOfRange(start);
  return end > size ? outOfRange(end) : text.slice(unitOffset(text, start), unitOffset(text, end));
}

function join(list: CelList, separator: string): Value {
  const parts: string[] = [];
  for (const item of list) {
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${display(item)}`);
    parts.push(item);
  }
  return parts.join(separator);
}

function quoteText(text: string): Value {
  return `"${text.replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => goEscapes[char]!)}"`;
}

/** White space as in Go's unicode.IsSpace. */
const space = '[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const leadingSpace = new RegExp(`^${space}+`);

function trim(text: string): Value {
  const rest = text.replace(leadingSpace, '');
  let end = rest.length;
  while (end > 0 && leadingSpace.test(rest[end - 1]!)) end--;
  return rest.slice(0, end);
}

const functions: readonly FunctionDeclaration[] = [
  func('charAt', member('string_char_at_int', [stringType, intType], stringType, charAt)),
  func(
    'indexOf',
    member('string_index_of_string', [stringType, stringType], intType, (text: string, part: string) => indexOf(text, part, 0)),
    member('string_index_of_string_int', [stringType, stringType, intType], intType, indexOf),
  ),
  func(
    'lastIndexOf',
    member('string_last_index_of_string', [stringType, stringType], intType, lastIndexOf),
    member('string_last_index_of_string_int', [stringType, stringType, intType], intType, lastIndexOfBefore),
  ),
  func(
    'lowerAscii',
    member('string_lower_ascii', [stringType], stringType, (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  ),
  func(
    'upperAscii',
    member('string_upper_ascii', [stringType], stringType, (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  ),
  func(
    'replace',
    member('string_replace_string_string', [stringType, stringType, stringType], stringType, (text: string, old: string, by: string) =>
      replace(text, old, by, -1),
    ),
    member('string_replace_string_string_int', [stringType, stringType, stringType, intType], stringType, replace),
  ),
  func(
    'split',
    member(
      'string_split_string',
      [stringType, stringType],
      listType(stringType),
      (text: string, separator: string) => new ValueList(splitN(text, separator, -1)),
    ),
    member(
      'string_split_string_int',
      [stringType, stringType, intType],
      listType(stringType),
      (text: string, separator: string, count: Int) => new ValueList(splitN(text, separator, Number(count))),
    ),
  ),
  func(
    'substring',
    member('string_substring_int', [stringType, intType], stringType, substring),
    member('string_substring_int_int', [stringType, intType, intType], stringType, substringRange),
  ),
  func('trim', member('string_trim', [stringType], stringType, trim)),
  func('format', member('string_format', [stringType, listType(dynType)], stringType, formatText)),
  func('strings.quote', global('strings_quote', [stringType], stringType, quoteText)),
  func(
    'join',
    member('list_join', [listType(stringType)], stringType, (list: CelList) => join(list, '')),
    member('list_join_string', [listType(stringType), stringType], stringType, join),
  ),
];

export const stringsLibrary: Library = { functions };
