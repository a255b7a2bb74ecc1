import { describe, expect, it } from 'vitest';
import { compileOrigin } from './cors.ts';

describe('compileOrigin', () => {
  it.each(['^https://example\\.com$', '//127.0.0.1(:[0-9]+)?$', '//localhost(:|$)'])('accepts %s', (pattern) => {
    expect(() => compileOrigin(pattern)).not.toThrow();
  });

  it.each(['example.com', '^example', 'example\\.com$'])('rejects %s, which another host could match (CVE-2022-1996)', (pattern) => {
    expect(() => compileOrigin(pattern)).toThrow(/does not pin/);
  });

  it('does not match a longer host name', () => {
    const pattern = compileOrigin('^https://example\\.com$');
    expect(pattern.matcher('https://example.com').find()).toBe(true);
    expect(pattern.matcher('https://example.com.evil').find()).toBe(false);
  });
});
