import { fakeClient, fakeInformers } from 'kubenest/sdk/testing';
import type { KubeObject } from 'kubenest/sdk';
import { describe, expect, it } from 'vitest';
import { CaughtUp } from './caught-up.ts';

const target = { group: '', version: 'v1', resource: 'limitranges' };
const range = (namespace: string): KubeObject => ({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l', namespace } });

/** A store that answers after `answer` was called, an informer that then has the same, and a clock. */
function fixture(present: KubeObject[] = []) {
  const objects = [...present];
  const asked: string[] = [];
  let time = 0;
  let waiting = Promise.withResolvers<void>();
  const client = fakeClient({
    list: async (_, namespace) => {
      asked.push(namespace);
      await waiting.promise;
      return objects;
    },
  });
  const clock = { now: () => time, wallTime: () => time, after: () => () => {}, every: () => () => {} };
  const caughtUp = new CaughtUp(fakeInformers({ limitranges: objects }).for(target), target, client, clock);
  return {
    caughtUp,
    asked,
    answer: () => waiting.resolve(),
    fail: () => waiting.reject(new Error('store gone')),
    again: () => (waiting = Promise.withResolvers()),
    sleep: (ms: number) => (time += ms),
  };
}

describe('an informer', () => {
  it('that has objects of the namespace is not waited for', () => {
    const { caughtUp, asked } = fixture([range('a')]);
    expect(caughtUp.in('a')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('without objects waits for the store, once for requests at a time, and again after 30 seconds', async () => {
    const { caughtUp, asked, answer, sleep } = fixture([range('a')]);
    const reading = caughtUp.in('b');
    expect(caughtUp.in('b')).toBeDefined();
    answer();
    await Promise.all([reading, caughtUp.in('b')]);
    expect(asked).toEqual(['b']);
    sleep(29_999);
    expect(caughtUp.in('b')).toBeUndefined();
    sleep(1);
    await caughtUp.in('b');
    expect(asked).toEqual(['b', 'b']);
  });

  it('is waited for again after a failure of the store', async () => {
    const { caughtUp, asked, answer, fail, again } = fixture();
    const reading = caughtUp.in('b');
    fail();
    await expect(reading).rejects.toThrow('store gone');
    again();
    answer();
    await caughtUp.in('b');
    expect(asked).toEqual(['b', 'b']);
  });

  it('remembers no more than 10,000 namespaces', async () => {
    const { caughtUp, asked, answer } = fixture();
    answer();
    for (let i = 0; i <= 10_000; i += 1) await caughtUp.in(`n${i}`);
    expect(caughtUp.in('n10000')).toBeUndefined();
    await caughtUp.in('n0');
    expect(asked).toHaveLength(10_002);
  });
});
