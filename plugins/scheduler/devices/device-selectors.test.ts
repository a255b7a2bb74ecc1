import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SelectorResults } from './device-selectors.ts';
import { useRegexpThread } from '#apiserver/base/regexp-thread';
import { AllocationTimeout } from './allocation-error.ts';
import { MoreTimeNeeded, pausing } from './evaluation-time.ts';

const numbers = JSON.stringify(Array.from({ length: 100 }, (_, i) => i));
const costly = [{ cel: { expression: `${numbers}.all(x, ${numbers}.all(y, x + y >= 0)) && device.driver == 'a.example.com'` } }];
const devices = Array.from({ length: 1_000 }, (_, i) => ({ name: `device-${i}` }));
const results = new SelectorResults();
const matches = (): unknown[] => devices.slice(0, 300).map((device) => results.match(costly, 'a.example.com', device));

/** Continues in other turns until the work is done, like the scheduler. */
async function done<T>(work: () => T): Promise<{ readonly result: T; readonly pauses: number }> {
  for (let pauses = 0; ; pauses += 1) {
    try {
      return { result: pausing(work), pauses };
    } catch (error) {
      if (!(error instanceof MoreTimeNeeded)) throw error;
      await (error.until ?? setImmediate());
    }
  }
}

it('a costly selector takes several turns, and results are kept', async () => {
  const { result, pauses } = await done(matches);
  expect(pauses).toBeGreaterThan(2);
  expect(new Set(result)).toEqual(new Set([true]));
});

it('more costly selectors than are kept compiled end, too', async () => {
  const many = Array.from({ length: 300 }, (_, i) => ({ cel: { expression: `${numbers}.all(x, x >= 0) && ${i} >= 0` } }));
  const own = new SelectorResults();
  const { result, pauses } = await done(() => devices.slice(0, 10).map((device) => own.match(many, 'a.example.com', device)));
  expect(pauses).toBeGreaterThan(0);
  expect(new Set(result)).toEqual(new Set([true]));
});

it('another thread compiles and matches large patterns', async () => {
  useRegexpThread();
  const own = new SelectorResults();
  const slow = (pattern: string): object => ({ cel: { expression: `device.driver.matches(${JSON.stringify(pattern)})` } });
  const match = (pattern: string) => (): unknown => own.match([slow(pattern)], 'a.example.com', devices[0]!);
  const began = process.threadCpuUsage();
  expect((await done(match(`^[${'\\pL'.repeat(400)}.]+$`))).result).toBe(true);
  expect((await done(match(`^[${'\\pN'.repeat(400)}]+$`))).result).toBe(false);
  expect((await done(match(`${'\\pL'.repeat(400)}(`))).result).toContain('invalid matches argument');
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(200);
});

it('an allocation does not cause any number of evaluations', () => {
  const own = new SelectorResults();
  const trivial = Array.from({ length: 101 }, (_, i) => ({ cel: { expression: `device.driver != '${i}'` } }));
  expect(() => devices.map((device) => own.match(trivial, 'c.example.com', device))).toThrow(AllocationTimeout);
});

it('does not pause outside of pausing', () => {
  const others = devices.slice(0, 300).map((device) => ({ ...device }));
  expect(others.every((device) => new SelectorResults().match(costly, 'b.example.com', device) === false)).toBe(true);
});
