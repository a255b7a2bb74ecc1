import { expect, it } from 'vitest';
import { obstacle, runControllers } from './run.ts';

/**
 * What controllers report in some runs, on whatever server: two workers give a node its pod CIDR; a controller comes back to an
 * object before its own write of it has come back by the watch; admission has counted a quota meanwhile.
 */
const races = [
  / range_allocator\.go:\d+\]/,
  /Operation cannot be fulfilled on .*the object has been modified/,
  /read version: \d+ is not as new as written version: \d+/,
];

it('kube-controller-manager, kube-scheduler, kwok, kubectl and helm work as on the real server', async ({ skip }) => {
  const reason = obstacle();
  if (reason !== undefined) skip(reason);
  const { kubenest, real } = await runControllers();
  expect(kubenest.times.map(({ step }) => step)).toEqual(real.times.map(({ step }) => step));
  const own = [...kubenest.errors].filter(([place, line]) => !real.errors.has(place) && !races.some((race) => race.test(line)));
  expect(own, 'errors that the controllers report on kubenest only').toEqual([]);
}, 600_000);
