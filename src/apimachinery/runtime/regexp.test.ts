import { describe, expect, it } from 'vitest';
import { compileRegexp } from './regexp.ts';

describe('compileRegexp', () => {
  it.each([
    ['(?P<n>a)(?P<n>b)', 'ab'],
    ['[(?P<n>]\\(?P<n>(?<n>a)(?P<n>b)', '(P<n>ab'],
    ['\\Q(?P<n>\\E(?P<n>a)(?P<n>b)', '(?P<n>ab'],
  ])('accepts a repeated group name: %s', (pattern, text) => {
    expect(compileRegexp(pattern).matches(text)).toBe(true);
  });

  it.each([
    ['(', 'error parsing regexp: missing closing ): `(`'],
    ['a\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
    ['[\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
    [
      `${'('.repeat(1001)}a${')'.repeat(1001)}`,
      `error parsing regexp: expression nests too deeply: \`${'('.repeat(1001)}a${')'.repeat(1001)}\``,
    ],
  ])("returns Go's error for %s", (pattern, message) => {
    expect(() => compileRegexp(pattern)).toThrow(message);
  });

  it('caches a compiled pattern until others evict it', () => {
    const kept = compileRegexp('(x{100}){10}');
    expect(compileRegexp('(x{100}){10}')).toBe(kept);
    for (let i = 0; i < 250; i++) compileRegexp(`(x{100}){10}${i}`);
    expect(compileRegexp('(x{100}){10}')).not.toBe(kept);
  });
});
