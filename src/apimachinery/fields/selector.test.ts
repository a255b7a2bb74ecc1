import { expect, test } from 'vitest';
import { FieldSelector, FieldSelectorError, parseFieldSelector } from './selector.ts';

test.each([
  ['', ''],
  ['a=b', 'a=b'],
  ['b==c,a!=d', 'a!=d,b=c'],
  ['a=', 'a='],
  ['a=b\\,c\\=d\\\\', 'a=b\\,c\\=d\\\\'],
  [',a=b,,', 'a=b'],
  ['=', ''],
  ['a!==b', undefined],
])('parses %j', (text, printed) => {
  if (printed === undefined) expect(() => parseFieldSelector(text)).toThrow(FieldSelectorError);
  else expect(parseFieldSelector(text).toString()).toBe(printed);
});

test.each([
  ['x', "invalid selector: 'x'; can't understand 'x'"],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
])('rejects %j', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(new FieldSelectorError(message));
});

test.each<[selector: string, fields: Record<string, string>, matches: boolean]>([
  ['a=1', { a: '1' }, true],
  ['a=1', {}, false],
  ['a=', {}, true],
  ['a!=1', {}, true],
  ['a!=1,b=2', { a: '1', b: '2' }, false],
  ['constructor=', {}, true],
])('%s of %j: %s', (selector, fields, matches) => {
  expect(parseFieldSelector(selector).matches(fields)).toBe(matches);
  expect(parseFieldSelector(selector).matches(new Map(Object.entries(fields)))).toBe(matches);
});

test('transform renames, drops and rejects', () => {
  const selector = parseFieldSelector('a=1,b!=2');
  expect(selector.transform((field, value) => (field === 'a' ? ['x', value] : ['', ''])).toString()).toBe('x=1');
  expect(() =>
    selector.transform(() => {
      throw new FieldSelectorError('no');
    }),
  ).toThrow('no');
});

test('requiresExactMatch', () => {
  const selector = parseFieldSelector('metadata.name=a,b!=c');
  expect([selector.requiresExactMatch('metadata.name'), selector.requiresExactMatch('b')]).toEqual(['a', undefined]);
});

test.each([
  ['a=1', { a: '1' }, true],
  ['a=1,a=2', { a: '1' }, false],
  ['a!=1,b=', { a: '2' }, true],
  ['a!=1,a!=2', { a: '2' }, false],
  ['a=1,a!=1', { a: '1' }, false],
])('many requirements like %s match %j: %s', (text, fields, matches) => {
  const { requirements } = parseFieldSelector(text);
  const many = new FieldSelector(Array.from({ length: 12 }, () => requirements).flat());
  expect(many.matches(fields)).toBe(matches);
  expect(new FieldSelector(requirements).matches(fields)).toBe(matches);
});
