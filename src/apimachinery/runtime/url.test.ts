import { describe, expect, it } from 'vitest';
import { isRequestUri, parseUrl } from './url.ts';

describe('parseUrl', () => {
  it.each([
    ['HTTPS://u:p@a.b:99999/c%20d?e=f#g', { scheme: 'https', user: 'u:p', host: 'a.b:99999', path: '/c%20d', query: 'e=f', fragment: 'g' }],
    ['//x', { scheme: '', user: undefined, host: 'x', path: '', query: '', fragment: '' }],
    ['mailto:a@b', { scheme: 'mailto', user: undefined, host: '', path: '', query: '', fragment: '' }],
    ['https://[fe80::1%25en0]:80', { scheme: 'https', user: undefined, host: '[fe80::1%25en0]:80', path: '', query: '', fragment: '' }],
  ])('parses %s', (text, parts) => {
    expect(parseUrl(text)).toEqual(parts);
  });

  it.each([
    [':', 'parse ":": missing protocol scheme'],
    ['https://a b', 'parse "https://a b": invalid character " " in host name'],
    ['https://a.b/%zz', 'parse "https://a.b/%zz": invalid URL escape "%zz"'],
    ['https://[::1', 'parse "https://[::1": missing \']\' in host'],
    ['https://a:b', 'parse "https://a:b": invalid port ":b" after host'],
    ['https://%41.com', 'parse "https://%41.com": invalid URL escape "%41"'],
    ['a:b/\n', 'parse "a:b/\\n": net/url: invalid control character in URL'],
    ['1a:b', 'parse "1a:b": first path segment in URL cannot contain colon'],
  ])("returns Go's error for %j", (text, message) => {
    expect(() => parseUrl(text)).toThrow(message);
  });
});

it.each([
  ['/a b', true],
  ['fe80::1%eth0', true],
  ['a/b', false],
  ['', false],
])('isRequestUri(%j)', (text, expected) => {
  expect(isRequestUri(text)).toBe(expected);
});
