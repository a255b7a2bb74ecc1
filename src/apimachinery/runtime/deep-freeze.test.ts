import { expect, it } from 'vitest';
import { deepFreeze } from './deep-freeze.ts';
import { Float64 } from './numbers.ts';

it('freezes objects and lists of any depth', () => {
  const value = { a: [{ b: { c: 'd' } }], e: null, f: new Float64(1, '1.0'), g: 1n };
  expect(deepFreeze(value)).toBe(value);
  const deep = value.a[0] as { b: { c: string } };
  expect(() => {
    deep.b.c = 'x';
  }).toThrow(TypeError);
  expect(() => value.a.push(deep)).toThrow(TypeError);
});

it('returns undefined unchanged', () => {
  expect(deepFreeze(undefined)).toBeUndefined();
});
