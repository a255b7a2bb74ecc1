/** `find` and `findAll`. Upstream: apiserver/pkg/cel/library/regex.go. */
import { func, type FunctionDeclaration, member } from '../check/declarations.ts';
import { intType, listType, stringType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { findAll } from '../runtime/regex.ts';
import { CelError, type Int, type Value, ValueList } from '../runtime/values.ts';

function found(text: string, pattern: string, limit: number, shape: (matches: readonly string[]) => Value): Value {
  const matches = findAll(text, pattern, limit);
  return matches instanceof CelError ? new CelError(`Illegal regex: ${matches.message}`) : shape(matches);
}

const functions: readonly FunctionDeclaration[] = [
  func(
    'find',
    member('string_find_string', [stringType, stringType], stringType, (text: string, pattern: string) =>
      found(text, pattern, 1, ([first]) => first ?? ''),
    ),
  ),
  func(
    'findAll',
    member('string_find_all_string', [stringType, stringType], listType(stringType), (text: string, pattern: string) =>
      found(text, pattern, -1, (matches) => new ValueList(matches)),
    ),
    member(
      'string_find_all_string_int',
      [stringType, stringType, intType],
      listType(stringType),
      (text: string, pattern: string, limit: Int) => found(text, pattern, Number(limit), (matches) => new ValueList(matches)),
    ),
  ),
];

export const regexLibrary: Library = { functions };
