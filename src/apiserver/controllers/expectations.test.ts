import { FakeClock } from '#apiserver/base/fake-clock';
import { expect, it } from 'vitest';
import { Expectations } from './expectations.ts';

it('is satisfied when all expected writes were observed', () => {
  const expectations = new Expectations(new FakeClock());
  expect(expectations.satisfied('ns/a')).toBe(true);
  expectations.expectCreations('ns/a', 2);
  expectations.expectDeletions('ns/a', ['p', 'q']);
  for (const observe of [
    () => expectations.created('ns/a'),
    () => expectations.deleted('ns/a', 'p'),
    () => expectations.deleted('ns/a', 'p'),
    () => expectations.created('ns/b'),
    () => expectations.created('ns/a'),
  ]) {
    observe();
    expect(expectations.satisfied('ns/a')).toBe(false);
  }
  expectations.deleted('ns/a', 'q');
  expect(expectations.satisfied('ns/a')).toBe(true);
});

it('gives up after five minutes, and when the object is gone', async () => {
  const clock = new FakeClock();
  const expectations = new Expectations(clock);
  expectations.expectCreations('ns/a', 1);
  expectations.expectCreations('ns/b', 1);
  expectations.forget('ns/b');
  expect(expectations.satisfied('ns/b')).toBe(true);
  await clock.advance(299_999);
  expect(expectations.satisfied('ns/a')).toBe(false);
  await clock.advance(1);
  expect(expectations.satisfied('ns/a')).toBe(true);
});
