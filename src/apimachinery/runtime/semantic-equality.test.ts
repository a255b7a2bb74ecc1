import { expect, it } from 'vitest';
import type { Field, Type } from './schema.ts';
import { exactDeepEqual, semanticDeepEqual } from './semantic-equality.ts';

it.each([
  { a: undefined, b: null, want: true },
  { a: {}, b: undefined, want: true },
  { a: { x: [] }, b: {}, want: true },
  { a: { x: { y: {} } }, b: {}, want: true },
  { a: { x: { y: [0] } }, b: {}, want: false },
  { a: [], b: {}, want: false },
  { a: [], b: 'a', want: false },
  { a: [1, 2], b: [1, 2], want: true },
  { a: [1, 2], b: [2, 1], want: false },
  { a: [1], b: { 0: 1 }, want: false },
  { a: { x: 0 }, b: {}, want: false },
  { a: { x: 'a' }, b: { x: 'a', y: 'b' }, want: false },
  { a: 'a', b: ['a'], want: false },
  { a: JSON.parse('{"__proto__":"a"}'), b: { a: 1 }, want: false },
])('$a and $b: $want', ({ a, b, want }) => {
  expect(semanticDeepEqual(a, b)).toBe(want);
  expect(semanticDeepEqual(b, a)).toBe(want);
});

it('compares any depth', () => {
  const deep = () => {
    let value: unknown = 1;
    for (let i = 0; i < 200_000; i++) value = [value];
    return value;
  };
  expect(semanticDeepEqual(deep(), deep())).toBe(true);
});

const string: Type = { kind: 'scalar', scalar: 'string' };
const field = (name: string, type: Type, ptr = false): Field => ({
  name,
  type,
  ptr,
  required: false,
  always: false,
  omitzero: false,
  default: undefined,
  atomic: false,
});
const thing: Type = {
  kind: 'struct',
  name: 'test_v1.Thing',
  goName: 'v1.Thing',
  atomic: false,
  preserveUnknownFields: false,
  get fields(): ReadonlyMap<string, Field> {
    const fields = [
      field('text', string),
      field('maybe', string, true),
      field('inner', thing),
      field('pointer', thing, true),
      field('list', { kind: 'list', items: thing, listType: 'atomic', listMapKeys: [] }),
      field('map', { kind: 'map', values: string, mapType: 'granular' }),
      field('count', { kind: 'scalar', scalar: 'int64' }, false),
    ];
    return new Map(fields.map((one) => [one.name, one]));
  },
};

it.each([
  { a: {}, b: { text: '', inner: {}, list: [], map: {}, count: 0 }, want: true },
  { a: {}, b: { inner: { text: '' } }, want: true },
  { a: {}, b: { maybe: '' }, want: false },
  { a: {}, b: { maybe: null }, want: true },
  { a: {}, b: { pointer: {} }, want: false },
  { a: { pointer: {} }, b: { pointer: { text: '' } }, want: true },
  { a: { list: [{}] }, b: { list: [{ inner: {} }] }, want: true },
  { a: { list: [{}] }, b: {}, want: false },
  { a: { map: { a: '' } }, b: { map: {} }, want: false },
  { a: { map: { a: 'x' } }, b: { map: { a: 'y' } }, want: false },
  { a: { count: 2n }, b: { count: 2 }, want: true },
  { a: { other: 1 }, b: {}, want: false },
])('$a and $b with a type: $want', ({ a, b, want }) => {
  expect(semanticDeepEqual(a, b, thing)).toBe(want);
  expect(semanticDeepEqual(b, a, thing)).toBe(want);
});

it.each([
  { a: {}, b: { list: [] }, want: false },
  { a: {}, b: { list: null }, want: true },
  { a: {}, b: { map: {} }, want: false },
  { a: { list: [{ map: {} }] }, b: { list: [{}] }, want: false },
  { a: { list: [] }, b: { list: [] }, want: true },
  { a: {}, b: { text: '', inner: {}, count: 0 }, want: true },
])('$a and $b, exactly: $want', ({ a, b, want }) => {
  expect(exactDeepEqual(a, b, thing)).toBe(want);
  expect(exactDeepEqual(b, a, thing)).toBe(want);
});
