import { describe, expect, it } from 'vitest';
import { humanDuration, parseDuration } from './duration.ts';

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;
const days = 24 * hours;

describe('humanDuration', () => {
  it.each([
    [-3 * seconds, '<invalid>'],
    [-1.5 * seconds, '0s'],
    [-0.5 * seconds, '0s'],
    [0, '0s'],
    [119 * seconds, '119s'],
    [2 * minutes, '2m'],
    [125 * seconds, '2m5s'],
    [10 * minutes + 5 * seconds, '10m'],
    [179 * minutes, '179m'],
    [3 * hours, '3h'],
    [3 * hours + 10 * minutes, '3h10m'],
    [8 * hours + 10 * minutes, '8h'],
    [47 * hours, '47h'],
    [2 * days, '2d'],
    [2 * days + 3 * hours, '2d3h'],
    [8 * days + 3 * hours, '8d'],
    [729 * days, '729d'],
    [730 * days, '2y'],
    [770 * days, '2y40d'],
    [3000 * days, '8y'],
  ])('%d ms becomes %s', (milliseconds, want) => {
    expect(humanDuration(milliseconds)).toBe(want);
  });
});

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['1h30m', 5_400_000],
    ['-1.5s', -1500],
    ['+300ms', 300],
    ['.5s', 500],
    ['1us', 0.001],
  ])('%s', (text, want) => {
    expect(parseDuration(text)).toBeCloseTo(want, 9);
  });

  it.each([
    ['', 'time: invalid duration ""'],
    ['3', 'time: missing unit in duration "3"'],
    ['1x', 'time: unknown unit "x" in duration "1x"'],
    ['s', 'time: invalid duration "s"'],
    ['-', 'time: invalid duration "-"'],
    ['1hs', 'time: unknown unit "hs" in duration "1hs"'],
    ['1constructor', 'time: unknown unit "constructor" in duration "1constructor"'],
  ])('rejects %j', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new Error(message));
  });
});
