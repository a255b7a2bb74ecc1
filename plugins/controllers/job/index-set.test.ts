import { describe, expect, it } from 'vitest';
import { IndexSet } from './index-set.ts';

describe('IndexSet', () => {
  it.each([
    { text: '', completions: 5, expected: '' },
    { text: '0,2,3', completions: 5, expected: '0,2,3' },
    { text: '0,1,2,3', completions: 5, expected: '0-3' },
    { text: '1-9', completions: 5, expected: '1-4' },
    { text: '1,7', completions: 5, expected: '1' },
    { text: 'x,2,3-y,4', completions: 5, expected: '2,4' },
  ])('reads "$text" with $completions completions as "$expected"', ({ text, completions, expected }) => {
    expect(IndexSet.parse(text, completions).toString()).toBe(expected);
  });

  it('joins and compares sets', () => {
    const set = IndexSet.parse('1-3,7', 10).union(IndexSet.of([4, 6]));
    expect(set.toString()).toBe('1-4,6,7');
    expect([set.size, set.has(4), set.has(5), set.overlap(IndexSet.parse('3-6', 10))]).toEqual([6, true, false, 3]);
  });

  it.each([
    { text: '0,2', count: 3, expected: [1, 3, 4] },
    { text: '', count: 2, expected: [0, 1] },
    { text: '0-4', count: 2, expected: [] },
  ])('finds the first missing indexes of "$text"', ({ text, count, expected }) => {
    expect(IndexSet.parse(text, 5).missing(count, 5)).toEqual(expected);
  });
});
