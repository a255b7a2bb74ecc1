import { expect, it } from 'vitest';
import { withoutTrailing } from './trailing.ts';
import { leastThreadTime } from '#apimachinery/testing/least-thread-time';

it.each([
  ['', ''],
  ['a', 'a'],
  ['a/', 'a'],
  ['/a//', '/a'],
  ['///', ''],
  ['a/b', 'a/b'],
])('%j without trailing slashes is %j', (text, want) => {
  expect(withoutTrailing(text, '/')).toBe(want);
});

it('removes several characters', () => {
  expect(withoutTrailing('a b \t\r', ' \t\r')).toBe('a b');
});

it('takes linear time for a run that is not at the end', () => {
  const text = `${'/'.repeat(1_000_000)}x`;
  expect(leastThreadTime(() => expect(withoutTrailing(text, '/')).toBe(text), 200)).toBeLessThan(200);
});
