import { expect, it } from 'vitest';
import { selectorOf, selects } from './selectors.ts';

it('converts each selector once', () => {
  const source = { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] };
  expect(selectorOf(source)).toBe(selectorOf(source));
  expect(selectorOf({ ...source })).not.toBe(selectorOf(source));
  expect(['b', 'c'].map((a) => selectorOf(source).matches({ a }))).toEqual([false, true]);
  expect(selectorOf(undefined).matches({})).toBe(false);
});

it.each([
  ['a service without a selector', {}, { a: '1' }, false],
  ['all labels of the selector', { selector: { a: '1', b: '2' } }, { a: '1', b: '2', c: '3' }, true],
  ['one label of two', { selector: { a: '1', b: '2' } }, { a: '1' }, false],
  ['another value', { selector: { a: '1' } }, { a: '2' }, false],
  ['no labels', { selector: { a: '1' } }, undefined, false],
])('%s', (_, spec, labels, selected) => {
  expect(selects({ apiVersion: 'v1', kind: 'Service', metadata: {}, spec }, labels)).toBe(selected);
});
