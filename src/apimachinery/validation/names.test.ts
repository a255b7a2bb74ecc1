import { describe, expect, test } from 'vitest';
import * as names from './names.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

type Check = (value: string) => readonly string[];

describe.each<[check: Check, valid: string[], invalid: string[]]>([
  [names.isDNS1123Label, ['a', '1-a', 'x'.repeat(63)], ['', 'A', '-a', 'a-', 'a_b', 'a\n']],
  [names.isDNS1123Subdomain, ['a', 'a.b', '1.2'], ['', '.', 'a..b', 'A.b', 'a.-b']],
  [names.isDNS1123SubdomainWithUnderscore, ['_a.b_c'], ['a._', 'A']],
  [names.isWildcardDNS1123Subdomain, ['*.a.b'], ['*', '*.*.a', 'a.b']],
  [names.isDNS1035Label, ['a1'], ['1a', 'a.b']],
  [names.isQualifiedName, ['a', 'A_b.c', 'x.io/A'], ['', 'a/', '/a', 'a/b/c', 'X.io/a', 'é']],
  [names.isValidLabelValue, ['', 'a_B.c'], ['-', 'a-', 'a b']],
  [names.isConfigMapKey, ['.a', 'A_b'], ['', '.', '..', '..a', 'a/b']],
  [names.isEnvVarName, ['A.b-c'], ['1a', '..']],
  [names.isRelaxedEnvVarName, ['1 a!'], ['', 'a=b', 'é']],
  [names.isHTTPHeaderName, ['X-A'], ['X_A', '']],
  [names.isValidPortName, ['a-1'], ['', '1', 'a--b', '-a', 'A', 'x'.repeat(16)]],
  [names.isValidPercent, ['10%'], ['10', '%']],
  [names.isDecimalInteger, ['0', '-1'], ['', '-', '01', '+1', '-0']],
  [names.isValidPathSegmentName, ['a', ''], ['.', '..', 'a/b', 'a%b']],
])('%o', (check, valid, invalid) => {
  if (valid.length > 0) test.each(valid)('accepts %j', (value) => expect(check(value)).toEqual([]));
  test.each(invalid)('rejects %j', (value) => expect(check(value).length).toBeGreaterThan(0));
});

test.each<[found: readonly string[], messages: string[]]>([
  [names.isDNS1123Label('a.b'), ['must not contain dots']],
  [
    names.isDNS1123Label('A'.repeat(64)),
    [
      'must be no more than 63 characters',
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    names.isQualifiedName('/'),
    [
      'prefix part must be non-empty',
      'name part must be non-empty',
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [names.isQualifiedName('x'.repeat(64)), ['name part must be no more than 63 bytes']],
  [names.isValidLabelValue('x'.repeat(64)), ['must be no more than 63 bytes']],
  [names.isConfigMapKey('..'), ["must not be '..'"]],
  [names.isValidPortNum(0), ['must be between 1 and 65535, inclusive']],
  [names.isValidPathSegmentName('/%'), ["may not contain '/'", "may not contain '%'"]],
  [names.nameIsDNSLabel('a-', true), []],
  [names.longName('x'.repeat(254), false), ['must be no more than 253 bytes']],
  [names.longName('Bad_', true), []],
  [
    names.isHTTPHeaderName('_'),
    [
      "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ],
  ],
])('%j', (found, messages) => {
  expect(found).toEqual(messages);
});

test('validates long hostile names in linear time', () => {
  const name = `${'a-'.repeat(100_000)}!`;
  const start = threadMilliseconds();
  for (const check of [names.isDNS1123Label, names.isDNS1123Subdomain, names.isQualifiedName, names.isValidLabelValue]) check(name);
  expect(threadMilliseconds() - start).toBeLessThan(1000);
});
