import { describe, expect, it } from 'vitest';
import { isTimeZone, scheduleError } from './cron-schedule.ts';

describe('scheduleError', () => {
  it.each([
    '* * * * *',
    '0 4 8-14 * *',
    '*/5 0 1,15 jan-mar SUN',
    '? * * * ?',
    '5/10 * * * *',
    '@daily',
    '@every 1h30m',
    'TZ=UTC 0 0 * * *',
    ' 0\t0 * * * ',
  ])('accepts %s as a schedule', (schedule) => {
    expect(scheduleError(schedule)).toBeUndefined();
  });

  it.each([
    ['', 'empty spec string'],
    ['bogus', 'expected exactly 5 fields, found 1: [bogus]'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['@bogus', 'unrecognized descriptor: @bogus'],
    ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
    ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=Mars/X * * * * *', 'provided bad location Mars/X: unknown time zone Mars/X'],
  ])('rejects %j', (schedule, error) => {
    expect(scheduleError(schedule)).toBe(error);
  });
});

it.each([
  ['UTC', true],
  ['Europe/Berlin', true],
  ['Etc/GMT+1', true],
  ['EST5EDT', true],
  ['Mars/X', false],
  ['Europe/Kiev', true],
  ['US/Pacific', true],
  ['europe/berlin', false],
  ['EUROPE/BERLIN', false],
  ['ETC/GMT', false],
  ['+01:00', false],
])('isTimeZone(%s) is %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
