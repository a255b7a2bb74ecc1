import { expect, it } from 'vitest';
import { parseHttpDate, precondition } from './preconditions.ts';

const validators = { etag: 'ABC', modified: 'Sun, 06 Nov 1994 08:49:37 GMT' };
const before = 'Sun, 06 Nov 1994 08:49:36 GMT';

it.each([
  { headers: {}, want: 'send' },
  { headers: { 'if-none-match': '"ABC"' }, want: 'not modified' },
  { headers: { 'if-none-match': 'W/"ABC"' }, want: 'not modified' },
  { headers: { 'if-none-match': '"x", , "ABC"' }, want: 'not modified' },
  { headers: { 'if-none-match': '*' }, want: 'not modified' },
  { headers: { 'if-none-match': 'ABC' }, want: 'send' },
  { headers: { 'if-none-match': 'x "ABC"' }, want: 'send' },
  { headers: { 'if-none-match': '"x"', 'if-modified-since': validators.modified }, want: 'send' },
  { headers: { 'if-modified-since': validators.modified }, want: 'not modified' },
  { headers: { 'if-modified-since': before }, want: 'send' },
  { headers: { 'if-modified-since': 'yesterday' }, want: 'send' },
  { headers: { 'if-match': '"ABC"' }, want: 'send' },
  { headers: { 'if-match': '*' }, want: 'send' },
  { headers: { 'if-match': 'W/"ABC"' }, want: 'failed' },
  { headers: { 'if-match': '"ABC"', 'if-unmodified-since': before }, want: 'send' },
  { headers: { 'if-unmodified-since': before }, want: 'failed' },
  { headers: { 'if-unmodified-since': validators.modified }, want: 'send' },
  { headers: { 'if-match': '*', 'if-none-match': '"ABC"' }, want: 'not modified' },
])('$headers: $want', ({ headers, want }) => {
  expect(precondition((name) => (headers as Record<string, string>)[name], validators)).toBe(want);
});

it.each([{ text: 'Sun, 06 Nov 1994 08:49:37 GMT' }, { text: 'Sunday, 06-Nov-94 08:49:37 GMT' }, { text: 'Sun Nov  6 08:49:37 1994' }])(
  'parseHttpDate($text)',
  ({ text }) => {
    expect(parseHttpDate(text)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
  },
);

it.each([{ text: '1994-11-06' }, { text: 'Sun, 06 Nov 1994 08:49:37 +0100' }, { text: '' }])(
  'parseHttpDate($text) is undefined',
  ({ text }) => {
    expect(parseHttpDate(text)).toBeUndefined();
  },
);
