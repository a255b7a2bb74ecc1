import type { UserInfo } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { TokenCache } from './token-cache.ts';

type Answer = UserInfo | undefined | Promise<UserInfo | undefined>;
const jane: UserInfo = { name: 'jane', groups: [] };

/** A cache over an authenticator that answers with `answer`, with a clock that the test advances. */
function fixture(answer: (token: string, calls: number) => Answer, lifetimes = { successMs: 100, failureMs: 10 }) {
  let time = 0;
  const calls: string[] = [];
  const tokens = {
    name: 'Fake',
    authenticateToken(
      token: string,
      { warn, annotate }: { warn?(text: string): void; annotate?(key: string, value: string): void },
    ): Answer {
      calls.push(token);
      warn?.('w');
      annotate?.('a', 'b');
      return answer(token, calls.length);
    },
  };
  return { cache: new TokenCache(tokens, { ...lifetimes, now: () => time }), calls, wait: (ms: number) => (time += ms) };
}

it('keeps users and unknown tokens for their own times', () => {
  const { cache, calls, wait } = fixture((token) => (token === 'good' ? jane : undefined));
  // At 0, 9, 10, 99 and 100 milliseconds.
  for (const ms of [0, 9, 1, 89, 1]) {
    wait(ms);
    expect(cache.authenticateToken('good', {})).toEqual(jane);
    expect(cache.authenticateToken('bad', {})).toBeUndefined();
  }
  expect(calls).toEqual(['good', 'bad', 'bad', 'bad', 'good']);
});

it('keeps the results of different audiences apart', async () => {
  const { cache, calls } = fixture(() => jane);
  await cache.authenticateToken('t', {});
  await cache.authenticateToken('t', { audiences: ['a'] });
  await cache.authenticateToken('t', { audiences: ['a'] });
  await cache.authenticateToken('t', { audiences: ['b'] });
  expect(calls).toHaveLength(3);
});

it('repeats warnings and annotations', async () => {
  const { cache } = fixture(() => jane);
  const seen: string[] = [];
  const request = { warn: (text: string) => void seen.push(text), annotate: (key: string, value: string) => void seen.push(key + value) };
  await cache.authenticateToken('t', request);
  await cache.authenticateToken('t', request);
  expect(seen).toEqual(['w', 'ab', 'w', 'ab']);
});

it('shares one call among concurrent requests', async () => {
  const waiting = Promise.withResolvers<UserInfo>();
  const { cache, calls } = fixture(() => waiting.promise);
  const answers = [cache.authenticateToken('t', {}), cache.authenticateToken('t', {})];
  waiting.resolve(jane);
  expect(await Promise.all(answers.map(async (answer) => answer))).toEqual([jane, jane]);
  expect(calls).toHaveLength(1);
});

it('does not keep errors', async () => {
  const { cache, calls } = fixture((_, call) => (call === 1 ? Promise.reject(new Error('gone')) : jane));
  await expect(cache.authenticateToken('t', {})).rejects.toThrow('gone');
  expect(cache.authenticateToken('t', {})).toEqual(jane);
  expect(calls).toHaveLength(2);
});

it('evicts the oldest of more than 4,096 tokens', async () => {
  const { cache, calls } = fixture(() => jane);
  for (let at = 0; at <= 4_096; at += 1) await cache.authenticateToken(`t${at}`, {});
  calls.length = 0;
  await cache.authenticateToken('t1', {});
  await cache.authenticateToken('t0', {});
  expect(calls).toEqual(['t0']);
});
