import { describe, expect, it } from 'vitest';
import { compileRegexp, type RegexpAnswer, type RegexpQuestion } from '#apimachinery/runtime/regexp';
import { settled } from '#apimachinery/runtime/suspended';
import { QueuedThread } from './queued-thread.ts';
import { useRegexpThread } from './regexp-thread.ts';

useRegexpThread();

describe('the thread for regular expressions', () => {
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

  it('fails a question that takes too long, and answers those that wait behind it', { timeout: 60_000 }, async () => {
    const thread = new QueuedThread<RegexpQuestion, RegexpAnswer>({
      name: 'test',
      module: new URL('./regexp-worker', import.meta.url),
      resourceLimits: {},
      timeoutMs: 5_000,
    });
    const slow = `(?i)[${'\\pL\\PN'.repeat(40_000)}]`;
    const answers = await Promise.allSettled([
      thread.ask({ ask: 'test', pattern: slow, text: 'a', limit: 0 }),
      thread.ask({ ask: 'test', pattern: 'a', text: 'a', limit: 0 }),
    ]);
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { message: 'the test thread did not answer within 5 s' } },
      { status: 'fulfilled', value: { matches: true } },
    ]);
  });

  it("returns Go's error for a large pattern, in a computation that can restart or not", async () => {
    const malformed = `${'a'.repeat(10_000)}(`;
    await expect(settled(() => compileRegexp(malformed).test('a'))).rejects.toThrow('missing closing )');
    expect(() => compileRegexp(malformed).test('a')).toThrow('missing closing )');
  });
});
