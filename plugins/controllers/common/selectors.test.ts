import { expect, it } from 'vitest';
import { selectorOf } from './selectors.ts';

it('converts each selector once', () => {
  const source = { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] };
  expect(selectorOf(source)).toBe(selectorOf(source));
  expect(selectorOf({ ...source })).not.toBe(selectorOf(source));
  expect(['b', 'c'].map((a) => selectorOf(source).matches({ a }))).toEqual([false, true]);
  expect(selectorOf(undefined).matches({})).toBe(false);
});
