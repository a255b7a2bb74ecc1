import { expect, it } from 'vitest';
import { semanticDeepEqual } from './semantic-equality.ts';

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

it('takes any depth', () => {
  const deep = () => {
    let value: unknown = 1;
    for (let i = 0; i < 200_000; i++) value = [value];
    return value;
  };
  expect(semanticDeepEqual(deep(), deep())).toBe(true);
});
