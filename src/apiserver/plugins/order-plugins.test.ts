import { expect, it } from 'vitest';
import { orderPlugins, type Placed } from './order-plugins.ts';

const known = new Set(['A', 'B', 'C', 'Off']);
const order = (added: readonly Placed[], builtin: readonly string[] = ['A', 'B', 'C'], anchor = 'C') =>
  orderPlugins(builtin, added, anchor, known).join(' ');

it.each<{ name: string; added: readonly Placed[]; builtin?: string[]; want: string }>([
  { name: 'only built-in plugins', added: [], want: 'A B C' },
  { name: 'a plugin without constraints before the anchor', added: [{ name: 'X' }], want: 'A B X C' },
  { name: 'plugins without constraints in their own order', added: [{ name: 'Y' }, { name: 'X' }], want: 'A B Y X C' },
  { name: 'a plugin without constraints and no anchor', added: [{ name: 'X' }], builtin: ['A', 'B'], want: 'A B X' },
  { name: 'a plugin without constraints and only the anchor', added: [{ name: 'X' }], builtin: ['C'], want: 'X C' },
  { name: 'a plugin as the only one', added: [{ name: 'X' }], builtin: [], want: 'X' },
  { name: 'first', added: [{ name: 'X', before: ['A'] }], want: 'X A B C' },
  { name: 'last', added: [{ name: 'X', after: ['C'] }], want: 'A B C X' },
  { name: 'between', added: [{ name: 'X', after: ['A'], before: ['B'] }], want: 'A X B C' },
  {
    name: 'plugins relative to each other',
    added: [
      { name: 'X', after: ['Y'] },
      { name: 'Y', before: ['A'] },
    ],
    want: 'Y X A B C',
  },
  { name: 'a plugin relative to a disabled one', added: [{ name: 'X', after: ['Off'], before: ['B'] }], want: 'X A B C' },
])('orders $name', ({ added, builtin, want }) => {
  expect(order(added, builtin)).toBe(want);
});

it.each<{ name: string; added: readonly Placed[]; message: string }>([
  { name: 'duplicate names', added: [{ name: 'X' }, { name: 'X' }], message: 'duplicate plugin name X' },
  { name: 'the name of a disabled built-in plugin', added: [{ name: 'Off' }], message: 'duplicate plugin name Off' },
  {
    name: 'an unknown plugin in a constraint',
    added: [{ name: 'X', after: ['Nobody'] }],
    message: 'plugin X: `before`/`after` names unknown plugin Nobody',
  },
  {
    name: 'a circle',
    added: [{ name: 'X', after: ['B'], before: ['A'] }],
    message: '`before` and `after` contradict each other: X runs after B, B runs after A, A runs after X',
  },
])('rejects $name', ({ added, message }) => {
  expect(() => order(added)).toThrow(message);
});
