import { RE2JS } from 're2js';
import { describe, expect, it, vi } from 'vitest';
import { compileRegexp } from './regexp.ts';
import { settled } from './suspended.ts';

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

  it('answers large patterns and long texts as it answers others', async () => {
    const large = '\\pL'.repeat(1_100);
    const answers = await settled(() => [
      compileRegexp(large).test('ä'.repeat(1_100)),
      compileRegexp(large).test('ä'),
      compileRegexp('a.').findAll('ab '.repeat(40_000), 2),
      compileRegexp('^b*$').test('b'.repeat(100_000)),
      compileRegexp('^b*$').test('b'),
    ]);
    expect(answers).toEqual([true, false, ['ab', 'ab'], true, true]);
  });

  it("returns Go's error for a large pattern, in a computation that can restart or not", async () => {
    const malformed = `${'a'.repeat(10_000)}(`;
    await expect(settled(() => compileRegexp(malformed).test('a'))).rejects.toThrow('missing closing )');
    expect(() => compileRegexp(malformed).test('a')).toThrow('missing closing )');
  });
});
