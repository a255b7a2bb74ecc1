import { expect, it } from 'vitest';
import { frozenCopy } from './copy.ts';
import { deepFreeze, derivedOnce } from './deep-freeze.ts';
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

it('derives a value from a frozen copy once, and freezes it', () => {
  let calls = 0;
  const lengths = derivedOnce(({ items }: { readonly items: string[] }) => ({
    count: (calls += 1),
    lengths: items.map(({ length }) => length),
  }));
  const frozen = frozenCopy({ items: ['a', 'bc'] });
  const first = lengths(frozen);
  expect(lengths(frozen)).toBe(first);
  expect(Object.isFrozen(first.lengths)).toBe(true);
  expect(calls).toBe(1);
});

it('derives a value from an object that can change each time', () => {
  const lengths = derivedOnce(({ items }: { readonly items: string[] }) => items.map(({ length }) => length));
  const open = Object.freeze({ items: ['a'] });
  expect(lengths(open)).toEqual([1]);
  open.items.push('bc');
  expect(lengths(open)).toEqual([1, 2]);
});
