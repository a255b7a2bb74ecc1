import { describe, expect, it } from 'vitest';
import { parseSchedule, Zone } from './schedule-times.ts';

const next = (schedule: string, after: string, zone = 'UTC'): string | undefined => {
  const at = parseSchedule(schedule, zone).next(Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString().replace('.000', '');
};

describe('next', () => {
  // Rows taken from TestNext of github.com/robfig/cron/v3/spec_test.go.
  it.each([
    ['0/15 * * * *', '2012-07-09T14:45:00Z', '2012-07-09T15:00:00Z'],
    ['0/15 * * * *', '2012-07-09T14:59:59Z', '2012-07-09T15:00:00Z'],
    ['20-35/15 * * * *', '2012-07-09T15:45:00Z', '2012-07-09T16:20:00Z'],
    ['*/15 * * * *', '2012-07-09T23:46:00Z', '2012-07-10T00:00:00Z'],
    ['20-35/15 1/2 * * *', '2012-07-09T23:46:00Z', '2012-07-10T01:20:00Z'],
    ['20-35/15 1/2 */2 * *', '2012-07-09T23:46:00Z', '2012-07-11T01:20:00Z'],
    ['20-35/15 * 9-20 Jul *', '2012-07-09T23:46:00Z', '2012-07-10T00:20:00Z'],
    ['0 0 9 Apr-Oct ?', '2012-07-09T23:35:00Z', '2012-08-09T00:00:00Z'],
    ['0 0 */5 Apr,Aug,Oct Mon', '2012-07-09T23:35:00Z', '2012-08-01T00:00:00Z'],
    ['0 0 */5 Oct Mon', '2012-07-09T23:35:00Z', '2012-10-01T00:00:00Z'],
    ['0 0 * Feb Mon', '2012-07-09T23:35:00Z', '2013-02-04T00:00:00Z'],
    ['0 0 * Feb Mon/2', '2012-07-09T23:35:00Z', '2013-02-01T00:00:00Z'],
    ['0 0 29 Feb ?', '2012-07-09T23:35:00Z', '2016-02-29T00:00:00Z'],
    ['0 0 30 Feb ?', '2012-07-09T23:35:00Z', undefined],
    ['@yearly', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
    ['@hourly', '2026-01-01T00:30:00Z', '2026-01-01T01:00:00Z'],
    ['@every 1h30m', '2026-01-01T00:00:00Z', '2026-01-01T01:30:00Z'],
    ['@every 10ms', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'],
  ])('schedule "%s" after %s is due at %s', (schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected);
  });

  it.each([
    {
      name: 'in a time zone',
      schedule: '0 9 * * *',
      zone: 'Europe/Berlin',
      after: '2026-07-01T08:00:00Z',
      expected: '2026-07-02T07:00:00Z',
    },
    { name: 'by a prefix', schedule: 'TZ=Asia/Kolkata 30 9 * * *', after: '2026-07-01T08:00:00Z', expected: '2026-07-02T04:00:00Z' },
    {
      name: 'skips an hour that does not exist',
      schedule: '30 2 * * *',
      zone: 'America/New_York',
      after: '2012-03-11T05:00:00Z',
      expected: '2012-03-12T06:30:00Z',
    },
    {
      name: 'runs each hour across the change',
      schedule: '0 * * * *',
      zone: 'America/New_York',
      after: '2012-03-11T06:00:00Z',
      expected: '2012-03-11T07:00:00Z',
    },
    {
      name: 'runs once in an hour that is twice, per pass',
      schedule: '0 1 * * *',
      zone: 'America/New_York',
      after: '2012-11-04T05:00:00Z',
      expected: '2012-11-04T06:00:00Z',
    },
    {
      name: 'starts a day without midnight at its first hour',
      schedule: '0 * * * *',
      zone: 'America/Sao_Paulo',
      after: '2018-11-04T02:59:00Z',
      expected: '2018-11-04T03:00:00Z',
    },
  ])('$name', ({ schedule, zone, after, expected }) => {
    expect(next(schedule, after, zone)).toBe(expected);
  });
});

it.each(['* * *', '61 * * * *', '* * 0 * *', '*/0 * * * *'])('rejects "%s"', (schedule) => {
  expect(() => parseSchedule(schedule)).toThrow();
});

it('formats times with the distance of the zone', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  expect(new Zone('UTC').format(at)).toBe('2026-01-01T00:00:00Z');
  expect(new Zone('America/St_Johns').format(at)).toBe('2025-12-31T20:30:00-03:30');
});

it('continues after a month whose first midnight does not exist', () => {
  expect(next('0 12 * 10 *', '2023-09-15T00:00:00Z', 'America/Asuncion')).toBe('2023-10-01T15:00:00Z');
});
