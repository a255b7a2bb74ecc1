import { expect, it } from 'vitest';
import { orderPlugins, type Placed } from './order-plugins.ts';

const known = new Set(['A', 'B', 'C', 'Off']);
const order = (added: readonly Placed[], builtin: readonly string[] = ['A', 'B', 'C'], anchor = 'C') =>
  orderPlugins(builtin, added, anchor, known).join(' ');

it.each<{ name: string; added: readonly Placed[]; builtin?: string[]; want: string }>([
  { name: 'the built-in ones alone', added: [], want: 'A B C' },
  { name: 'one that says nothing, before the anchor', added: [{ name: 'X' }], want: 'A B X C' },
  { name: 'some that say nothing, in their order', added: [{ name: 'Y' }, { name: 'X' }], want: 'A B Y X C' },
  { name: 'one that says nothing, without the anchor', added: [{ name: 'X' }], builtin: ['A', 'B'], want: 'A B X' },
  { name: 'one that says nothing, with the anchor alone', added: [{ name: 'X' }], builtin: ['C'], want: 'X C' },
  { name: 'one without any other', added: [{ name: 'X' }], builtin: [], want: 'X' },
  { name: 'first', added: [{ name: 'X', before: ['A'] }], want: 'X A B C' },
  { name: 'last', added: [{ name: 'X', after: ['C'] }], want: 'A B C X' },
  { name: 'between', added: [{ name: 'X', after: ['A'], before: ['B'] }], want: 'A X B C' },
  {
    name: 'beside each other',
    added: [
      { name: 'X', after: ['Y'] },
      { name: 'Y', before: ['A'] },
    ],
    want: 'Y X A B C',
  },
  { name: 'beside one that is off', added: [{ name: 'X', after: ['Off'], before: ['B'] }], want: 'X A B C' },
])('orders $name', ({ added, builtin, want }) => {
  expect(order(added, builtin)).toBe(want);
});

it.each<{ name: string; added: readonly Placed[]; message: string }>([
  { name: 'two of one name', added: [{ name: 'X' }, { name: 'X' }], message: 'there are two plugins named X' },
  { name: 'the name of a built-in one that is off', added: [{ name: 'Off' }], message: 'there are two plugins named Off' },
  {
    name: 'an unknown neighbour',
    added: [{ name: 'X', after: ['Nobody'] }],
    message: 'plugin X is to stand beside Nobody, and no plugin is named so',
  },
  {
    name: 'a circle',
    added: [{ name: 'X', after: ['B'], before: ['A'] }],
    message: 'the order of the plugins A, B, C, X contradicts itself',
  },
])('refuses $name', ({ added, message }) => {
  expect(() => order(added)).toThrow(message);
});
