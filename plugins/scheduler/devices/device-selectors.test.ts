import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { selectorsMatch } from './device-selectors.ts';
import { MoreTimeNeeded, pausing } from './evaluation-time.ts';

const numbers = JSON.stringify(Array.from({ length: 100 }, (_, i) => i));
const costly = [{ cel: { expression: `${numbers}.all(x, ${numbers}.all(y, x + y >= 0)) && device.driver == 'a.example.com'` } }];
const devices = Array.from({ length: 1_000 }, (_, i) => ({ name: `device-${i}` }));
const matches = (): unknown[] => devices.map((device) => selectorsMatch(costly, 'a.example.com', device));

it('a costly selector takes several turns, and results are kept', async () => {
  let pauses = 0;
  let found: unknown[] | undefined;
  while (!found) {
    try {
      found = pausing(matches);
    } catch (error) {
      if (!(error instanceof MoreTimeNeeded)) throw error;
      pauses += 1;
      await setImmediate();
    }
  }
  expect(pauses).toBeGreaterThan(2);
  expect(new Set(found)).toEqual(new Set([true]));
});

it('does not pause outside of pausing', () => {
  const others = devices.map((device) => ({ ...device }));
  expect(others.every((device) => selectorsMatch(costly, 'b.example.com', device) === false)).toBe(true);
});
