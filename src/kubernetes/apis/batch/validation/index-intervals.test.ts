import { expect, it } from 'vitest';
import { countIndexes, firstOverlap } from './index-intervals.ts';

it.each([
  ['', 0],
  ['1,3-5', 4],
  ['3-1', 'non-increasing order, previous: 3, current: 1'],
  ['3,1', 'non-increasing order, previous: 3, current: 1'],
  ['1-2-3', 'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\''],
  ['x', 'cannot convert string to integer for index: "x"'],
  ['9', 'too large index: "9"'],
])('countIndexes(%j) of 9', (text, expected) => {
  expect(countIndexes(text, 9)).toBe(expected);
});

it.each([
  ['1-3', '4,6', undefined],
  ['1-3', '3', 3],
  ['0,5-7', '2,6', 6],
  ['', '1', undefined],
  ['x,2', '2', 2],
])('firstOverlap(%j, %j)', (completed, failed, expected) => {
  expect(firstOverlap(completed, failed, 9)).toBe(expected);
});
