import { RE2JS } from 're2js';
import { describe, expect, it, vi } from 'vitest';
import { compileRegexp } from './regexp.ts';

describe('compileRegexp', () => {
  it.each([
    ['(?P<n>a)(?P<n>b)', 'ab'],
    ['[(?P<n>]\\(?P<n>(?<n>a)(?P<n>b)', '(P<n>ab'],
    ['\\Q(?P<n>\\E(?P<n>a)(?P<n>b)', '(?P<n>ab'],
  ])('accepts a repeated group name: %s', (pattern, text) => {
    expect(compileRegexp(pattern).test(text)).toBe(true);
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

  it('caches compiled patterns until others evict them', () => {
    const pattern = '(x{100}){10}';
    const compile = vi.spyOn(RE2JS, 'compile');
    compileRegexp(pattern);
    compileRegexp(pattern);
    expect(compile).toHaveBeenCalledOnce();
    for (let i = 0; i < 250; i++) compileRegexp(`${pattern}${i}`);
    compile.mockClear();
    compileRegexp(pattern);
    expect(compile).toHaveBeenCalledOnce();
  });
});
