import { expect, test } from 'vitest';
import { canonicalMicroTime, canonicalTime, formatMicroTime, formatTime, now, nowMicro, parseTime, TimeParseError } from './time.ts';

test.each([
  ['2020-02-29T03:04:05Z', '2020-02-29T03:04:05Z'],
  ['2020-01-01T01:00:00+01:00', '2020-01-01T00:00:00Z'],
  ['2020-01-01T00:00:00.999Z', '2020-01-01T00:00:00Z'],
  ['2020-01-01T3:04:05Z', '2020-01-01T03:04:05Z'],
  ['9999-12-31T23:59:59-01:00', '10000-01-01T00:59:59Z'],
  ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00Z'],
])('%s becomes the time %s', (text, canonical) => {
  expect(canonicalTime(text)).toBe(canonical);
});

const layout = '"2006-01-02T15:04:05Z07:00"';
test.each([
  ['x', `parsing time "x" as ${layout}: cannot parse "x" as "2006"`],
  ['2020', `parsing time "2020" as ${layout}: cannot parse "" as "-"`],
  ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
  ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
  ['2020-01-01 00:00:00Z', `parsing time "2020-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
  ['2020-01-01T00:00:00', `parsing time "2020-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
  ['2020-01-01T00:00:00Zé', 'parsing time "2020-01-01T00:00:00Z\\xc3\\xa9": extra text: "\\xc3\\xa9"'],
])('rejects %s', (text, message) => {
  expect(() => canonicalTime(text)).toThrow(new TimeParseError(message));
});

test('formats microtimes with six digits', () => {
  expect(canonicalMicroTime('2020-01-01T01:00:00.123456+01:00')).toBe('2020-01-01T00:00:00.123456Z');
  expect(() => canonicalMicroTime('2020-01-01T00:00:00Z')).toThrow('cannot parse "Z" as ".000000"');
});

test('formatting and parsing round-trip', () => {
  const millis = Date.UTC(2026, 10, 21, 10, 52, 13, 123);
  expect(formatTime(millis)).toBe('2026-11-21T10:52:13Z');
  expect(formatMicroTime(millis, 45)).toBe('2026-11-21T10:52:13.123045Z');
  expect(parseTime('2026-11-21T11:52:13.123+01:00')).toBe(millis);
});

test('formats the current time canonically', () => {
  const [time, micro] = [now(), nowMicro()];
  expect(canonicalTime(time)).toBe(time);
  expect(canonicalMicroTime(micro)).toBe(micro);
  expect(Math.abs(parseTime(time) - Date.now())).toBeLessThan(5000);
});
