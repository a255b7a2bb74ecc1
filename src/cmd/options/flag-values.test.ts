import { expect, test } from 'vitest';
import { parseFlagValue } from './flag-value.ts';
import { flagValues, formatFlagValue } from './flag-values.ts';
import { ServerOptions } from './server-options.ts';

test.each([
  { type: 'bool', text: 'T', want: 'true' },
  { type: 'int', text: '0x10', want: '16' },
  { type: 'duration', text: '90s', want: '1m30s' },
  { type: 'strings', text: 'a,b', want: '[a,b]' },
  { type: 'strings', text: '"a,b",c', want: '["a,b",c]' },
  { type: 'namedCertKey', text: 'a.crt,a.key:a', want: '[a.crt,a.key:a]' },
  { type: 'stringToString', text: 'a=1', want: '[a=1]' },
  { type: 'mapStringString', text: 'b=2,a=1', want: 'a=1,b=2' },
  { type: 'colonSeparatedMultimapStringString', text: 'A=true', want: ':A=true' },
])('$type $text is printed $want', ({ type, text, want }) => {
  expect(formatFlagValue(type, parseFlagValue(type, [text]))).toBe(want);
});

test('every flag has a value, and none contains a password', () => {
  const options = new ServerOptions();
  options.storage.redisUrl = 'redis://user:secret@localhost';
  const values = flagValues(options);
  expect(values.get('redis-url')).toBe('CLASSIFIED');
  expect(values.get('v')).toBe('0');
  expect(values.get('enable-priority-and-fairness')).toBe('true');
  expect(values.get('watch-cache-sizes')).toBe('[]');
  expect([...values.values()].join()).not.toContain('secret');
});
