import { expect, test } from 'vitest';
import { Float64 } from '../runtime/numbers.ts';
import * as field from './field.ts';

const path = field.fieldPath('spec', 'containers').index(0).child('env').key('A');

test('paths', () => {
  expect(path.toString()).toBe('spec.containers[0].env[A]');
  expect(field.fieldPath('a').child('b', 'c').toString()).toBe('a.b.c');
});

test.each<[error: field.FieldError, text: string]>([
  [field.required(path), 'Required value'],
  [field.required(path, 'why'), 'Required value: why'],
  [field.invalid(path, 'a"\n\u200b', 'no'), 'Invalid value: "a\\"\\n\\u200b": no'],
  [field.invalid(path, 5, ''), 'Invalid value: 5'],
  [field.invalid(path, 1234567.5, ''), 'Invalid value: 1.2345675e+06'],
  [field.invalid(path, true, ''), 'Invalid value: true'],
  [field.invalid(path, undefined, 'no'), 'Invalid value: null: no'],
  [field.invalid(path, { b: '<', a: 1 }, ''), 'Invalid value: {"a":1,"b":"\\u003c"}'],
  [field.invalid(path, new field.JsonText('{"b":1,"a":2}'), ''), 'Invalid value: {"b":1,"a":2}'],
  [field.invalid(path, field.omitValue, 'no'), 'Invalid value: no'],
  [field.typeInvalid(path, 'x', 'no'), 'Invalid value: "x": no'],
  [field.notSupported(path, 'x', ['a', 'b']), 'Unsupported value: "x": supported values: "a", "b"'],
  // Go prints enum values as JSON, plain strings quoted.
  [field.notSupported(path, '<\x00', []), 'Unsupported value: "\\u003c\\u0000"'],
  [field.invalid(path, '<\x00', 'x'), 'Invalid value: "<\\x00": x'],
  [field.invalid(path, field.named('<\x00'), 'x'), 'Invalid value: "\\u003c\\u0000": x'],
  [field.duplicate(path, field.named('plain')), 'Duplicate value: "plain"'],
  [field.notSupportedText(path, '<\x00', []), 'Unsupported value: "<\\x00"'],
  [field.invalid(path, new Float64(1e18, '1e18'), ''), 'Invalid value: 1e+18'],
  [field.forbidden(path, 'no'), 'Forbidden: no'],
  [field.duplicate(path, 'x'), 'Duplicate value: "x"'],
  [field.notFound(path, 'x'), 'Not found: "x"'],
  [field.tooLong(path, 'x', 1), 'Too long: may not be more than 1 byte'],
  [field.tooLongCharacters(path, 'x', 5), 'Too long: may not be more than 5 characters'],
  [field.tooShort(path, 'x', 2), 'Too short: must be at least 2 characters'],
  [field.tooMany(path, 3, 1), 'Too many: 3: must have at most 1 item'],
  [field.tooMany(path, -1, 2), 'Too many: must have at most 2 items'],
  [field.tooFew(path, 1, 2), 'Too few: 1: must have at least 2 items'],
  [field.internalError(path, new Error('oops')), 'Internal error: oops'],
])('%s', (error, text) => {
  expect(error.body()).toBe(text);
  expect(error.toString()).toBe(`spec.containers[0].env[A]: ${text}`);
});

test('aggregate lists each message once', () => {
  const [a, b] = [field.required(path), field.forbidden(undefined, 'x')];
  expect(field.aggregate([])).toBe('');
  expect(field.aggregate([a, a])).toBe('spec.containers[0].env[A]: Required value');
  expect(field.aggregate([a, b, a])).toBe('[spec.containers[0].env[A]: Required value, <nil>: Forbidden: x]');
});

test.each([
  { found: 0, more: 10_000, isTooMany: false },
  { found: 1, more: 10_000, isTooMany: true },
  { found: 0, more: 500_000, isTooMany: true },
])('$more errors after $found are too many: $isTooMany', ({ found, more, isTooMany }) => {
  const some = (count: number): field.FieldError[] => Array.from({ length: count }, () => field.required(path));
  const errors = some(found);
  const add = (): void => field.addErrors(errors, some(more));
  if (isTooMany) expect(add).toThrow(field.TooManyErrors);
  else add();
  expect(errors).toHaveLength(Math.min(found + more, field.maxErrors + 1));
});
