import { describe, expect, it } from 'vitest';
import { compileRegexp, type RegexpResult, type RegexpTask } from '#apimachinery/runtime/regexp';
import { settled } from '#apimachinery/runtime/suspended';
import { QueuedThread } from './queued-thread.ts';
import { RegexpThreads, useRegexpThread } from './regexp-thread.ts';

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

  it('fails a task that takes too long, and runs those that wait behind it', { timeout: 60_000 }, async () => {
    const thread = new QueuedThread<RegexpTask, RegexpResult>({
      name: 'test',
      module: new URL('./regexp-worker', import.meta.url),
      resourceLimits: {},
      timeoutMs: 5_000,
    });
    const slow = `(?i)[${'\\pL\\PN'.repeat(40_000)}]`;
    const answers = await Promise.allSettled([
      thread.run(() => ({ message: { operation: 'test', pattern: slow, text: 'a', limit: 0 } })),
      thread.run(() => ({ message: { operation: 'test', pattern: 'a', text: 'a', limit: 0 } })),
    ]);
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { message: 'the test thread did not answer within 5 s' } },
      { status: 'fulfilled', value: { matches: true } },
    ]);
  });

  it('runs other tasks while one takes half a minute', { timeout: 60_000 }, async () => {
    using threads = new RegexpThreads();
    const slow = { operation: 'test', pattern: `${'a'.repeat(50_000)}|b`, text: 'a'.repeat(60_000), limit: 0 } as const;
    let hasEnded = false;
    const ended = threads.run(slow).finally(() => (hasEnded = true));
    ended.catch(() => {});
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((letter) => threads.run({ operation: 'test', pattern: letter, text: letter, limit: 0 })),
    );
    expect(answers).toEqual([{ matches: true }, { matches: true }, { matches: true }]);
    expect(hasEnded).toBe(false);
  });

  it('fails a task that takes the second thread too long as a request whose time is over', async () => {
    using threads = new RegexpThreads({ firstMs: 10, secondMs: 10 });
    const slow = { operation: 'test', pattern: `${'a'.repeat(50_000)}|b`, text: 'a'.repeat(60_000), limit: 0 } as const;
    const message = 'Timeout: request did not complete within requested timeout - context deadline exceeded';
    await expect(threads.run(slow)).rejects.toMatchObject({ status: { code: 504, reason: 'Timeout', message } });
  });

  it('fails a task that waits too long', { timeout: 60_000 }, async () => {
    using thread = new QueuedThread<RegexpTask, RegexpResult>({
      name: 'test',
      module: new URL('./regexp-worker', import.meta.url),
      resourceLimits: {},
      waitMs: 0,
    });
    const task = { operation: 'test', pattern: 'a', text: 'a', limit: 0 } as const;
    const answers = await Promise.allSettled([thread.run(() => ({ message: task })), thread.run(() => ({ message: task }))]);
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: { matches: true } },
      { status: 'rejected', reason: { message: 'the test thread did not answer within 0 s', hasStarted: false } },
    ]);
  });

  it("returns Go's error for a large pattern, in a computation that can restart or not", async () => {
    const malformed = `${'a'.repeat(10_000)}(`;
    await expect(settled(() => compileRegexp(malformed).test('a'))).rejects.toThrow('missing closing )');
    expect(() => compileRegexp(malformed).test('a')).toThrow('missing closing )');
  });
});
