import { expect, it } from 'vitest';
import { matcherOf } from './patterns.ts';

it.each([
  { pattern: 'a', text: 'a', matches: true },
  { pattern: 'a', text: 'ab', matches: false },
  { pattern: '*', text: '', matches: true },
  { pattern: 'a*', text: 'abc', matches: true },
  { pattern: '*c', text: 'abc', matches: true },
  { pattern: 'a*c', text: 'ac', matches: true },
  { pattern: 'ab*ba', text: 'aba', matches: false },
  { pattern: 'a*b*c', text: 'a-b-c', matches: true },
  { pattern: 'a*b*c', text: 'a-c', matches: false },
  { pattern: 'a*bc*c', text: 'abc', matches: false },
  { pattern: 'a.c', text: 'abc', matches: false },
])('$pattern matches "$text": $matches', ({ pattern, text, matches }) => {
  expect(matcherOf(['none', pattern])(text)).toBe(matches);
});
